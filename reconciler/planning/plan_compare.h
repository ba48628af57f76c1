#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/plan.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {

// Two plans of the same manifest, made at different times.

template <class Function>  // void(const Change&), for every change that is not blocked
void ForEachChange(const Plan& plan, Function function) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) function(change);
    }
  }
}

// Whether the plan has a change on `node` that is not blocked.
bool HasChanges(const Plan& plan, const NodeName& node);

// Those that become known only while the plan is carried out.
std::set<std::string> ListDeferredIds(const Plan& plan);

// Whether nothing is left to change but what was announced so.
bool HasOnlyAnnounced(const Plan& plan, const std::set<std::string>& announced);

Plan RemoveChanges(Plan plan, const std::set<std::string>& ids);
// Without what is blocked and dropped from the ledger: once that is written, it is not ours.
Plan RemoveDropped(Plan plan);
Plan LimitToNode(Plan plan, const NodeName& node);

const Change* FindChange(const Plan& plan, const std::string& id);  // blocked ones too; may be null

// A change that runs commands only and declares no revert stays when a plan is reverted: what it
// made cannot be deleted without the risk of deleting what is not ours.
bool IsKept(const Change& change);

// The work that carrying the plan out would end, one line per node and piece of work:
// "spark-1: the RDMA connections of ib_write_bw (pid 812) on rocep1s0f1".
std::vector<std::string> ListInterruptions(const Plan& plan);

// Whether some change is blocked that was not, or a problem is said that was not. A link that is
// being configured can look unknown for a moment: what was no problem before the apply is given
// time to become readable again.
bool HasNewProblem(const Plan& before, const Plan& after);

// What a fresh plan would change that a saved one does not: drift that stood beside it from the
// start.
std::set<std::string> FindIdsBeside(const Plan& saved, const Plan& fresh);

// Blocked because its state could not be read.
bool IsUnreadable(const Change& change);
// Why, for a person.
std::string ExplainUnreadable(const Change& change);

// Changes that `before` carried out or announced and that are blocked in `after`: what became of
// them cannot be read, or is another program's by now.
std::vector<const Change*> ListBlockedSince(const Plan& before, const Plan& after);

// The plan that `plan --out` wrote into `file`; nullopt: the text is a manifest. Errors name the
// file: it is no plan, or one that was edited since.
Result<std::optional<Plan>> ParseSavedPlan(const std::string& text, const std::string& file);

struct Permitted {
  bool half_cables = false;
  bool overwrite_edited = false;
};

// What must be permitted again to apply the saved plan in `file`: a reviewed plan shows what is
// done and not what that risks. The plan of an uninstall is refused in any case: `plan --out` makes
// none, and an apply of it would leave out what proves that the nodes still reach each other.
Result<void> CheckPermitted(const Plan& saved, const std::string& file, const Permitted& given);

// The scope that a saved plan was made with, so that the fresh one is made with the same.
// Precondition: CheckPermitted finds nothing.
PlanScope MakeScope(const Plan& saved);

// What is carried out of a saved plan: the fresh plan's changes, and none of the saved one's. It
// selects them by id, and keeps its own id. Precondition: FindStale finds nothing.
Plan SelectChanges(Plan fresh, const Plan& saved);

// What is not as it was after an apply was reverted: `fresh` must plan the same changes from the
// same states as `before` did, and no others. Changes that declare no revert are not counted.
Errors FindNotReverted(const Plan& before, const Plan& fresh);

// Whether `cluster` is what `saved` was made of, as a kStale error where it is not: what is in
// `saved`, such as its nodes, need not exist in `cluster` then.
Result<void> CheckSameManifest(const Plan& saved, const ClusterSpec& cluster);

// What moved since `saved` was made, as one kStale error per change; empty: the plan still fits.
// A change fits when the fresh plan has the same one, in every field but `interrupts`: what runs
// now is looked at for itself. Other drift does not matter.
// A node that could not be read then and is read now makes it stale: nothing of it was reviewed.
Errors FindStale(const Plan& saved, const Plan& fresh);

// The same for a plan that was approved a moment ago. What is blocked by now is not counted.
Errors FindMoved(Plan approved, const Plan& now);

}  // namespace reconciler
