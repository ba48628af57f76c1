#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/section.h"

namespace reconciler {

struct NcclRunOptions {
  std::string programs = {};  // folder with spark-verify
  bool keep_program = false;  // leave it on the nodes
  // Files of libnccl that the manifest names; on other nodes it is what the loader finds.
  std::map<NodeName, std::string> libraries = {};
  int phase_s = 0;                    // limit of each phase, in seconds; 0: 20, 15 and 30
  bool allow_busy = false;            // although other programs use the GPUs
  bool hca_is_degraded = false;       // see NcclEvidence
  std::set<NodeName> uncounted = {};  // likewise
  bool brief = false;                 // float only, and a shorter time for each test
  // What programs on the node find in their environment. Null: nothing.
  std::function<Result<std::map<std::string, std::string>>(const NodeSpec&)> environment = {};
};

// Brings spark-verify to all nodes, runs NCCL over them as often as it takes to judge it, and takes
// the program away again.
NcclJudgement MeasureNccl(const ClusterSpec& cluster, const Fabric& fabric,
                          const ClusterFacts& facts, NodePool& pool, const VerifySection& section,
                          const NcclRunOptions& choice);

// What all ranks get, for sizes up to that one (bytes).
spark_verify::NcclOptions MakeNcclOptions(const std::vector<spark_verify::Collective>& collectives,
                                          std::uint64_t size, const NcclRunOptions& choice);

}  // namespace reconciler
