#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reconciler/fabric/rdma_schedule.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/rdma/judge/judge.h"

namespace reconciler {

struct RdmaOptions {
  std::string programs = {};  // folder with spark-verify
  bool keep_program = false;  // leave it on the nodes
  int milliseconds = 1000;    // of sending, per transfer
  bool leave_out = false;     // as requested: nothing is written, and no RDMA device is missed
};

// Why a rail between two nodes is not to be measured; "": measure it.
using SkipRail =
    std::function<std::string(const NodeName& from, const NodeName& to, const RailPort& port)>;

// Writes between every two nodes that share a cable or switch: each rail alone in both directions,
// then all rails together in both, disjoint pairs at the same time. Changes nothing that stays on a
// node. Ends in bounded time whatever the nodes do.
std::vector<Transfer> RunRdma(const ClusterSpec& cluster, const Fabric& fabric, NodePool& pool,
                              const RdmaOptions& options, const SkipRail& skip);

}  // namespace reconciler
