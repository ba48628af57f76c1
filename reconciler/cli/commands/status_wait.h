#pragma once

#include <string>

#include "reconciler/cli/context.h"
#include "reconciler/node/locks.h"

namespace reconciler::cli {

// What keeps `status --wait` waiting.
struct Waiting {
  std::vector<NodeName> in_apply = {};  // an apply holds the node, or is unfinished there
  std::vector<NodeName> differing = {};
  bool reached_none = false;

  bool IsOver() const { return in_apply.empty() && differing.empty() && !reached_none; }
};

// By a plan that was made from `facts`; nodes that were not reached count for nothing.
Waiting FindWaiting(const Plan& plan, const ClusterFacts& facts, const Locks& locks);

// "an apply is not over on spark-1; spark-2 differs from the manifest"; empty: it is over.
std::string FormatWaiting(const Waiting& waiting);

struct AwaitedFacts {
  ClusterFacts facts = {};
  int exit_code = 0;
};

// Gathers until nothing keeps it waiting or `seconds` have passed. Prints to stderr what it waits
// for. Error: a plan could not be made.
Result<AwaitedFacts> AwaitNodes(const Cluster& cluster, const Selection& selection, int seconds,
                                NodePool& pool);

}  // namespace reconciler::cli
