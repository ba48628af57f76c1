#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// One stage's changes on one node, in order, and the number of its first step in the journal.
struct GuardedStage {
  std::vector<Change> changes = {};
  std::size_t first_step = 0;
};

// What guard.sh calls in a revert: the triggers and the revert commands of what had begun, so that
// live values follow the restored files. At boot only those commands whose effect outlives it: live
// values are fresh then, and what generators make of the files on trial. And in a commit after such
// a boot: the values of the kernel that the stages no longer set.
std::string BuildRevertFunctions(const std::vector<GuardedStage>& stages);

// What the stages' commands generate (see RunCommand::makes).
std::set<std::string> ListGenerated(const std::vector<GuardedStage>& stages);

}  // namespace reconciler
