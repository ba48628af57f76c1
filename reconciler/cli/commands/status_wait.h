#pragma once

#include <string>

#include "reconciler/cli/context.h"

namespace reconciler::cli {

struct AwaitedFacts {
  ClusterFacts facts = {};
  int exit_code = 0;
};

// Gathers until nothing keeps it waiting or `seconds` have passed. Prints to stderr what it waits
// for. Error: a plan could not be made.
Result<AwaitedFacts> AwaitNodes(const Cluster& cluster, const Selection& selection, int seconds,
                                NodePool& pool);

}  // namespace reconciler::cli
