#pragma once

#include <functional>
#include <map>
#include <string>

#include "reconciler/engine/node_pool.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/nccl_judge.h"
#include "reconciler/verify/section.h"

namespace reconciler {

struct NcclChoice {
  std::string programs = {};  // folder with spark-verify
  bool keep_program = false;  // leave it on the nodes
  std::string library = {};   // of NCCL, on the nodes; empty: what the loader finds
  int phase_s = 0;            // limit of each phase, in seconds; 0: 20, 15 and 30
  bool allow_busy = false;    // although other programs use the GPUs
  // What programs on the node find in their environment. Null: nothing.
  std::function<Result<std::map<std::string, std::string>>(const NodeSpec&)> environment = {};
};

// Runs NCCL over all nodes and judges it. A run that is not good is made once more; when that one
// is not good either, every pair of nodes runs alone, so that the one at fault can be named.
NcclJudgement MeasureNccl(const ClusterSpec& cluster, const Fabric& fabric,
                          const ClusterFacts& facts, NodePool& pool, const VerifySection& section,
                          const NcclChoice& choice);

// What all ranks are told, for the sizes up to the section's.
spark_verify::NcclOptions NcclOptionsFor(const VerifySection& section, const NcclChoice& choice);

// The largest power of two that every rank has the memory for; 0: not told, or not worth a run.
std::uint64_t SizeThatFits(const NcclRun& run);

}  // namespace reconciler
