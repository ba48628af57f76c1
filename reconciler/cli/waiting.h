#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/node/locks.h"

namespace reconciler::cli {

// What keeps `status --wait` waiting.
struct Waiting {
  std::vector<NodeName> in_apply = {};  // an apply holds the node, or is unfinished there
  std::vector<NodeName> unread = {};    // their locks are not known: an apply may hold them
  std::vector<NodeName> differing = {};
  bool reached_none = false;

  bool IsOver() const {
    return in_apply.empty() && unread.empty() && differing.empty() && !reached_none;
  }
};

// By a plan that was made from `facts`; nodes that were not reached count for nothing.
Waiting FindWaiting(const Plan& plan, const ClusterFacts& facts, const Locks& locks);

// "an apply is not over on spark-1; spark-2 differs from the manifest"; empty: it is over.
std::string FormatWaiting(const Waiting& waiting);

// The exit code when nothing is waited for any more.
int FindWaitingCode(const Waiting& waiting, const ClusterFacts& facts);

}  // namespace reconciler::cli
