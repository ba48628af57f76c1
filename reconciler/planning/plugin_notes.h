#pragma once

#include <string>
#include <vector>

#include "reconciler/planning/plan_maker.h"

namespace reconciler {

// What the plugins in `scope` say about the nodes in it besides their resources; nothing for an
// uninstall, which asks for nothing.

// The plan's notes: "spark-1, spark-2: …", once for all nodes that say it in the same words.
std::vector<std::string> CollectPluginNotes(const ClusterSpec& cluster, const Fabric& fabric,
                                            const ClusterFacts& facts,
                                            const std::vector<Plugin>& plugins,
                                            const PlanScope& scope);

// Why nothing at all may be applied: what the manifest requires and the facts rule out.
Errors CheckRuledOut(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                     const std::vector<Plugin>& plugins, const PlanScope& scope);

// The nodes that spark-verify is to be sent to, because files left open what a plugin must know; in
// the manifest's order.
std::vector<const NodeSpec*> SelectNodesForSparkVerify(const ClusterSpec& cluster,
                                                       const ClusterFacts& facts,
                                                       const std::vector<Plugin>& plugins,
                                                       const PlanScope& scope);

}  // namespace reconciler
