#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {

// Whether the manifest's verification follows an apply.
struct VerificationNeed {
  bool wanted = false;                      // by what the apply was about
  std::vector<const Change*> blocked = {};  // ports of the fabric for which it is left out
};

// Half a cluster proves nothing: an apply to some nodes or plugins leaves it to `verify`.
// `remaining` is what still differs, planned from `facts`; it outlives the result.
VerificationNeed FindVerificationNeed(const ClusterSpec& cluster, const Fabric& fabric,
                                      const ClusterFacts& facts, const PlanScope& scope,
                                      const Plan& remaining);

}  // namespace reconciler
