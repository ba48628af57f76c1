#pragma once

#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::rdma {

// `deep`: what costs a program of its own, too (the firewall).
std::vector<Read> ListSystemReads(bool deep);

// Fills what RdmaFacts says of the system, and GpuFacts::driver.
void StoreSystem(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::rdma
