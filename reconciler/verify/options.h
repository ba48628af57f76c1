#pragma once

#include <string>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/plugin.h"
#include "reconciler/verify/levels.h"

namespace reconciler {

// What is chosen for one run, beside what the manifest says.
struct VerifyChoice {
  std::string programs = {};  // the folder with spark-verify
  bool skip_rdma = false;     // as the manifest may say too
  int nccl_limit_s = 0;       // of each phase; 0: its own
  bool allow_busy = false;
  bool keep_program = false;
};

// All references must outlive the result: variables for NCCL and for containers are collected when
// they are needed.
VerifyOptions MakeVerifyOptions(const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                const VerifyChoice& choice);

}  // namespace reconciler
