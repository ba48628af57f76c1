#include "reconciler/cli/apply/apply_refusals.h"

#include <iostream>
#include <string>

#include "plugins/registry.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/ledger.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/plugin_notes.h"

namespace reconciler::cli {
namespace {

void Refuse(const char* because, const std::vector<std::string>& lines, const char* hint) {
  std::cerr << "nothing was changed, because it would " << because << ":\n";
  for (const std::string& line : lines) std::cerr << "  " << line << '\n';
  std::cerr << "  hint: " << hint << '\n';
}

}  // namespace

int RefuseToInterrupt(const Plan& plan, Plan now) {
  for (Stage& stage : now.stages) {
    std::erase_if(stage.changes,
                  [&](const Change& change) { return FindChange(plan, change.Id()) == nullptr; });
  }
  const std::vector<std::string> ended = ListInterruptions(now);
  if (ended.empty()) return kFine;
  Refuse("end work that runs now", ended, "wait for it, or give --interrupt");
  return kPending;
}

int RefuseRuledOut(const Cluster& cluster, const ClusterFacts& facts, const PlanScope& scope) {
  const Errors errors = CheckRuledOut(cluster.spec, cluster.fabric, facts, plugins::All(), scope);
  if (errors.empty()) return kFine;
  std::cerr << FormatErrors(errors) << "nothing was changed\n";
  return kUsageOrManifest;
}

int RefuseHalfCables(const Plan& plan, const Fabric& fabric, const ClusterFacts& facts) {
  const std::vector<std::string> half = FindHalfCables(plan, fabric, facts);
  if (half.empty()) return kFine;
  Refuse("change one end of a cable only", half,
         "make that node ready, name it with --node too, take it out of the manifest, or give "
         "--allow-half-cables");
  return facts.unreachable.empty() ? kPending : kNodeUnreadable;
}

int RefuseForeignNodes(const ClusterSpec& cluster, const ClusterFacts& facts,
                       bool allow_node_removal) {
  const Errors errors = CheckMayApply(cluster, facts, allow_node_removal);
  if (errors.empty()) return kFine;
  std::cerr << FormatErrors(errors) << "nothing was changed\n";
  return kUsageOrManifest;
}

int RefuseStale(const Plan& plan, const Plan& fresh) {
  const Errors stale = FindStale(plan, fresh);
  std::cerr << FormatErrors(stale);
  return stale.empty() ? kFine : kStalePlan;
}

}  // namespace reconciler::cli
