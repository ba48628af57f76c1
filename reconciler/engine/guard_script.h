#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// The guard is what a node needs to take a plan back by itself: a plain shell script beside the
// journal, a transient systemd timer that runs it when the apply makes no progress any more, and a
// boot-time unit for the case that the node restarts half way. It needs neither us nor sshd.
//
// Whoever comes first decides a plan's fate on a node, once: `decision` is a directory, which mkdir
// makes atomically, holding `commit` or `revert`.

// One stage's changes on one node, in order, and the number of its first step in the journal.
struct GuardedStage {
  std::vector<Change> changes = {};
  std::size_t first_step = 0;
};

// Seconds without progress after which the node takes the plan back: at least 90, and longer than
// any single step may take.
int GuardLimit(const std::vector<GuardedStage>& stages);

// Restores every journalled file (content, mode, owner, times; newest step first), removes the
// directories that the apply made, and runs the triggers and the undo commands of what had begun,
// so that live values follow the files. With the argument "boot" only the files are restored: live
// values are fresh then. Root may run it by hand at any time before the decision.
std::string RevertScript(const std::vector<GuardedStage>& stages, std::string_view journal);

// Shell text, to stand behind ScriptPreamble, that arms the guard and reads it back; its exit code
// is 0 only when the timer is active. Arming again replaces the script and counts as progress.
std::string ArmScript(std::string_view apply_id, std::string_view journal, std::string_view revert,
                      int limit_s);

// What a node keeps of a committed apply: the generation's document under its number, the ledger,
// and the list of the ledger's files.
struct CommitTexts {
  int number = 0;
  std::string generation = {};
  std::string ledger = {};
  std::string owned = {};
};

// Ends the guard and writes `texts`. Exit code 3: this node has already taken the plan back.
std::string CommitScript(std::string_view apply_id, std::string_view journal,
                         const CommitTexts& texts);

// Takes back every earlier apply that nobody decided about: its controller is gone, since we hold
// the node's lock, and its guard would take it back later, over whatever was applied since. Prints
// one line per apply. Exit code 0: all of them are back.
std::string LeftoversScript();

// Takes the plan back now. Exit code 0: every file is as it was.
std::string RevertNowScript(std::string_view journal);

}  // namespace reconciler
