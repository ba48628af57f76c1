#pragma once

#include "reconciler/cli/context.h"
#include "reconciler/verify/levels.h"
#include "reconciler/verify/options.h"

namespace reconciler::cli {

// The folder of spark-verify: that of this program, or where it is installed.
std::string FindProgramFolder();

// The levels that the manifest's `verify` section names, over the selected nodes' facts, with a
// line of progress if `shows_progress`. spark-verify is taken from FindProgramFolder().
Report RunLevels(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 VerifyChoice choice = {}, bool shows_progress = true);

}  // namespace reconciler::cli
