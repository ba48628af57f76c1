#pragma once

#include <vector>

#include "plugins/nccl/section.h"
#include "reconciler/model/probe.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// What a pinned GID index stands for on each HCA. Nothing is read when none is pinned.
std::vector<Read> ListGidReads(const Section& section, const std::vector<RailPort>& ports);
void StoreGids(const ProbeReply& reply, NodeFacts& facts);

// Why the pinned index is not the RoCE v2 address of a port; empty: it is, or the node has no
// such HCA.
std::string ExplainWrongGid(const Section& section, const RailPort& port, const NodeFacts& facts);

}  // namespace reconciler::plugins::nccl
