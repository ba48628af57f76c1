// A saved plan, up to the scripts that would carry it out.
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/plan_compare.h"
#include "tests/fuzz/pair.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

void CheckStages(const Plan& plan) {
  for (const Stage& stage : plan.stages) {
    std::vector<const Change*> changes;
    for (const Change& change : stage.changes) changes.push_back(&change);
    ListSteps(changes);
  }
}

}  // namespace

void Run(std::string_view input) {
  const auto saved = ParseSavedPlan(std::string(input), "plan.json");
  if (!saved) CheckError(saved.error());
  // Also the plans whose digest does not fit, which is nearly all of them.
  const auto plan = ParsePlan(input);
  if (!plan) return CheckError(plan.error());
  CheckPlan(*plan);
  CheckStages(*plan);
  ListInterruptions(*plan);
  MakeScope(*plan);
  const auto permitted = CheckPermitted(*plan, "plan.json", {});
  if (!permitted) CheckError(permitted.error());
  Must(FindStale(*plan, *plan).empty(), "a plan is not stale beside itself");
  SelectChanges(*plan, *plan);
}

}  // namespace reconciler::fuzz
