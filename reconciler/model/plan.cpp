#include "reconciler/model/plan.h"

#include <algorithm>

namespace reconciler {
namespace {

std::size_t CountBlocked(const Plan& plan, bool blocked) {
  std::size_t count = 0;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      count += (change.change == ChangeKind::kBlocked) == blocked;
    }
  }
  return count;
}

}  // namespace

std::size_t Plan::ChangeCount() const { return CountBlocked(*this, false); }

std::size_t Plan::BlockedCount() const { return CountBlocked(*this, true); }

std::size_t Plan::WarningCount() const {
  return static_cast<std::size_t>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [](const Diagnostic& one) { return one.severity == Severity::kWarns; }));
}

bool Plan::IsRefused() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& one) {
    return one.severity == Severity::kBlocks && one.change.empty();
  });
}

bool Plan::IsPending() const {
  return !Empty() || BlockedCount() > 0 || WarningCount() > 0 || IsRefused();
}

bool IsSetBy(const Stage& stage, const Change& held) {
  const auto is_trigger_of_held = [&](const RunCommand& trigger) {
    return !trigger.id.empty() &&
           std::any_of(held.triggers.begin(), held.triggers.end(),
                       [&](const RunCommand& one) { return one.id == trigger.id; });
  };
  return std::any_of(stage.changes.begin(), stage.changes.end(), [&](const Change& change) {
    return change.node == held.node && change.change != ChangeKind::kBlocked && !change.deferred &&
           std::any_of(change.triggers.begin(), change.triggers.end(), is_trigger_of_held);
  });
}

void Block(Change& change, std::string code, std::string why) {
  change.code = std::move(code);
  change.change = ChangeKind::kBlocked;
  change.detail = std::move(why);
  change.diff.clear();
  change.actions.clear();
  change.revert.clear();
  change.triggers.clear();
  change.impact = Impact::kNone;
  change.interrupts.clear();
  change.before.reset();  // of a file that may be another's
  change.prune_commands = {};
}

}  // namespace reconciler
