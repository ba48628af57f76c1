#include "reconciler/model/plan.h"

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

void Block(Change& change, std::string why) {
  change.change = ChangeKind::kBlocked;
  change.detail = std::move(why);
  change.diff.clear();
  change.actions.clear();
  change.revert.clear();
  change.triggers.clear();
}

}  // namespace reconciler
