#pragma once

#include "reconciler/cli/context.h"
#include "reconciler/verify/levels.h"

namespace reconciler::cli {

struct LevelOptions {
  bool skip_rdma = false;  // as the manifest may say too
  int nccl_limit_s = 0;    // of each phase; 0: its own
  bool allow_busy = false;
  bool keep_program = false;
};

// Puts a level into the manifest's place, before the nodes are read: it decides what is read too.
// Empty: what the manifest says stays.
void SetLevel(Cluster& cluster, const std::string& level);

// The folder of this program, which holds spark-verify too.
std::string FindOwnFolder();

// The levels over the selected nodes' facts, with a line of progress.
Report RunLevels(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 const LevelOptions& choice = {});

// What an apply ends with: the manifest's `verify` section, when it has one. Prints the report and
// returns its exit code; 0 when the manifest requires nothing.
int VerifyAfterApply(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool);

}  // namespace reconciler::cli
