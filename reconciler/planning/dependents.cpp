#include "reconciler/planning/dependents.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using RequiredChanges = std::map<std::string, Change*>;

RequiredChanges IndexRequired(Plan& plan) {
  RequiredChanges changes;
  for (Stage& stage : plan.stages) {
    for (Change& change : stage.changes) {
      if (!change.prune) changes.emplace(change.Id(), &change);
    }
  }
  return changes;
}

bool IsBlocked(const Change& change) { return change.change == ChangeKind::kBlocked; }

// nullptr: nothing that it needs is blocked.
const Change* FindBlockedNeed(const std::vector<std::string>& needs,
                              const RequiredChanges& changes) {
  for (const std::string& id : needs) {
    const auto found = changes.find(id);
    if (found != changes.end() && IsBlocked(*found->second)) return found->second;
  }
  return nullptr;
}

// Whether any change was blocked.
bool BlockOnce(const Needs& needs, const RequiredChanges& changes) {
  bool blocked = false;
  for (const auto& [id, needed] : needs) {
    const auto found = changes.find(id);
    if (found == changes.end() || IsBlocked(*found->second)) continue;
    const Change* cause = FindBlockedNeed(needed, changes);
    if (cause == nullptr) continue;
    Change& change = *found->second;
    Block(change, "plan-need-blocked",
          fmt::format("needs {} of {}, which is blocked", MakePrintable(cause->name),
                      MakePrintable(cause->node)));
    blocked = true;
  }
  return blocked;
}

}  // namespace

void BlockDependents(const Needs& needs, Plan& plan) {
  const RequiredChanges changes = IndexRequired(plan);
  while (BlockOnce(needs, changes)) {
  }
}

}  // namespace reconciler
