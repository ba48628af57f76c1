#pragma once

#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/plugin.h"

namespace reconciler {

struct PlanScope {
  std::vector<NodeName> nodes = {};    // --node; empty: all
  std::vector<std::string> only = {};  // --only PLUGIN; empty: all
};

// A name in `scope` that does not exist is a kUsage error with a suggestion: found before any node
// is asked for anything.
Result<void> CheckScope(const ClusterSpec& cluster, const std::vector<Plugin>& plugins,
                        const PlanScope& scope);

// Everything that must happen so that the nodes match the manifest. It gets no transport, so it
// cannot do I/O; the same input gives the same bytes. Nodes without facts appear as unreachable.
// Errors: PluginStages', or a name in `scope` that does not exist (kUsage, did you mean).
Result<Plan> MakePlan(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                      const std::vector<Plugin>& plugins, const PlanScope& scope = {});

// Digest over everything in the plan but its id.
std::string PlanDigest(const Plan& plan);

}  // namespace reconciler
