#pragma once

#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::rdma {

std::vector<Read> ListDeviceReads();

// Fills `hcas`, and RdmaFacts::hcas with how many they are.
void StoreDevices(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::rdma
