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
