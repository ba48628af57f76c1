#include "reconciler/apply/verification.h"

#include "reconciler/planning/half_cable.h"

namespace reconciler {

VerificationNeed FindVerificationNeed(const ClusterSpec& cluster, const Fabric& fabric,
                                      const ClusterFacts& facts, const PlanScope& scope,
                                      const Plan& remaining) {
  const bool whole = scope.only.empty() && facts.nodes.size() == cluster.nodes.size();
  if (!whole || scope.uninstall || !facts.unreachable.empty()) return {};
  // What it measures is not configured where a port is blocked.
  return {.wanted = true, .blocked = ListBlockedPorts(remaining, fabric)};
}

}  // namespace reconciler
