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
};

// The changes' actions in order, then their triggers once each, in first-seen order.
std::vector<Step> StepsOf(const std::vector<const Change*>& changes);

// Where a node keeps what stood there before this plan's writes, per step: `path`, and `before`
// (the old file with mode, owner and times) or `absent`; for a command `command`.
// One journal per apply: its later passes go on in it.
std::string JournalDirectory(std::string_view apply_id);

// "1f0c2ab9-5e31a7d0": the plan's id, so that a person finds it, and a random word, because the
// same drift makes the same plan again.
std::string NewApplyId(const Plan& plan);

// A script that carries the steps out in order and stops at the first that fails. Every write
// journals first, then goes through a temporary file, fsync and rename in the target's directory.
// `first_step` numbers the journal entries, so that stages of one plan do not overwrite each other.
std::string ApplyScript(const std::vector<Step>& steps, std::size_t first_step,
                        std::string_view journal, std::string_view nonce);

struct StepReply {
  int exit_code = 0;
  std::string out = {};
  std::string err = {};
};

// The replies of the steps that ended, in order: shorter than the steps when one failed (it is the
// last) or when the connection was cut.
std::vector<StepReply> ParseApplyReply(const ScriptReply& reply, std::string_view nonce);

Milliseconds ApplyLimit(const std::vector<Step>& steps);

}  // namespace reconciler
