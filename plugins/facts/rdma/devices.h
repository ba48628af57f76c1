#pragma once

#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::rdma {

std::vector<Read> ListDeviceReads();

// Fills `hcas`. The value "rdma.hcas" is how many, or Unknown with the reason.
void StoreDevices(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::rdma
