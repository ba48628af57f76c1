#pragma once

#include <vector>

#include "plugins/nccl/section.h"
#include "reconciler/model/probe.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// What a pinned GID index stands for on each HCA. Nothing is read when none is pinned.
// Of all HCAs of the node: what it calls those of the ports is not known yet. The index is a
// number, so that the patterns hold no text of the manifest.
std::vector<Read> ListGidReads(const Section& section);
void StoreGids(const ProbeReply& reply, NodeFacts& facts);

// Why the pinned index is not the RoCE v2 address of a port; empty: it is, or the node has no
// such HCA.
std::string ExplainWrongGid(const Section& section, const RailPort& port, const NodeFacts& facts);

}  // namespace reconciler::plugins::nccl
