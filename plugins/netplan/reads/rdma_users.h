#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// Who holds RDMA connections on this node. A link that flaps ends them, and NCCL jobs with them.
std::vector<Read> ListRdmaReads();

// Sorted; from the queue pairs that `rdma resource` lists, without those that the kernel keeps on
// every port for itself (GSI, SMI). Unknown where there are RDMA devices and nothing can determine
// them.
Observed<std::vector<RdmaUser>> ParseRdmaUsers(const ProbeReply& reply);

// "the RDMA connections of ib_write_bw (pid 812) on rocep1s0f1"; empty: no one is cut off.
std::string ListCutOff(const NodeFacts& facts, const std::vector<RailPort>& ports);

}  // namespace reconciler::plugins::netplan
