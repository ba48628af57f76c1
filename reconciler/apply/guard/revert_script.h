#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// One stage's changes on one node, in order, and the number of its first step in the journal.
struct GuardedStage {
  std::vector<Change> changes = {};
  std::size_t first_step = 0;
};

// A script that is left on a node: one verb of guard.sh, with its values before it, and `more`.
std::string BuildVerbScript(std::string_view verb, std::string_view purpose,
                            std::string_view journal, std::string_view more = {});
// What carries logins, by the names that it has on Debian, Ubuntu and others. A revert starts again
// what was active when the guard was armed.
inline constexpr std::string_view kSshUnits = "ssh.service sshd.service ssh.socket sshd.socket";

// "spark-reconcile-guard-1f0c2ab9-5e31a7d0": the timer and the boot-time units of an apply.
std::string NameGuardUnit(std::string_view apply_id);

// The script that reverts an apply on its node: decides, ends what is on trial, restores every
// journalled file (content, mode, owner, times; newest step first), removes the directories that
// the apply made, and runs the triggers and the revert commands of what had begun, so that live
// values follow the files. With the argument "boot" only the files are restored: live values are
// fresh then. Root may run it by hand at any time before the decision, and again after it. Exit
// code 0: `state` is "reverted"; otherwise "revert-failed", and it says which files are left.
std::string BuildRevertScript(const std::vector<GuardedStage>& stages, std::string_view journal);

}  // namespace reconciler
