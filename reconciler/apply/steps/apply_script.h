#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/plan.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// One action of a stage on one node. `change` is an index into the node's changes, or kTrigger.
struct Step {
  static constexpr std::size_t kTrigger = static_cast<std::size_t>(-1);
  std::size_t change = kTrigger;
  Action action = {};
  bool prune = false;  // of what the manifest no longer contains
  // Of a file: SHA-256 of the content that the plan was made from, "absent" where there was none.
  // Empty: it is not compared with what is there when it is staged.
  std::string seen = {};
};

// The changes' actions in order, then their triggers in first-seen order, those with one id once.
std::vector<Step> ListSteps(const std::vector<const Change*>& changes);

// Whether the journal marks that this step has begun, which costs a write that lasts. A revert
// looks for the marks of a change's own steps and of a stage's first trigger (see
// BuildRevertFunctions).
bool IsMarked(const std::vector<Step>& steps, std::size_t index);

// Where a node journals an apply, its later passes included (see NodeHelper).
std::string GetJournalDirectory(std::string_view apply_id);

// "1f0c2ab9-202611222357015e31a7d0": the plan's id, so that a person finds it, the time (UTC,
// YYYYMMDDhhmmss; see NameApply), and a random word, because the same drift makes the same plan
// again.
std::string MakeApplyId(const Plan& plan);

// Requests for a session (see Session). `first_step` numbers the journal's entries, so that stages
// and passes of one apply do not overwrite each other.
//
// Staging brings every byte to the node and journals what stands there; nothing live changes.
std::string BuildStageRequest(const std::vector<Step>& steps, std::size_t first_step,
                              std::string_view journal);
// Carries staged steps out in order and stops at the first that fails. A file comes to its place,
// or to where it is tried, through a temporary file, fsync and rename.
std::string BuildActivateRequest(const std::vector<Step>& steps, std::size_t first_step,
                                 std::string_view journal);

struct StepReply {
  int exit_code = 0;
  std::string out = {};
  std::string err = {};
};

// The replies of the steps that ended, in order: shorter than the steps when one failed (it is the
// last) or when the connection was cut.
std::vector<StepReply> ParseApplyReply(const ScriptReply& reply, std::string_view nonce);

Milliseconds ComputeApplyLimit(const std::vector<Step>& steps);

}  // namespace reconciler
