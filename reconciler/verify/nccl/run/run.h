#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/node/node_pool.h"
#include "reconciler/verify/nccl/coordinator/coordinator.h"

namespace reconciler {

// A rank and the node that it runs on.
struct NcclPlace {
  const NodeSpec* node = nullptr;
  std::string program = {};  // spark-verify on that node
  std::string library = {};  // of NCCL, on that node; empty: what the loader finds
  std::map<std::string, std::string> env = {};
};

struct NcclPlan {
  std::vector<NcclPlace> ranks = {};
  spark_verify::NcclOptions options = {};  // the same for all, but for rank, ranks, library and env
  CheckRoot check_root = {};
};

// Starts a rank on every node through a channel of its own, leads them through the run and stops
// those that are left. Ends in bounded time whatever the nodes do. No two ranks may be on one node.
NcclRun RunNccl(const NcclPlan& plan, NodePool& pool);

// What the controller waits for a rank that has those deadlines.
NcclLimits MakeLimits(const spark_verify::NcclOptions& options);

}  // namespace reconciler
