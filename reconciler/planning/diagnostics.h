#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/adopt/offers.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {

// What the plugins in `scope` say about the nodes in it besides their resources, once for all nodes
// of which it holds; nothing for an uninstall, which requires nothing.
std::vector<Diagnostic> CollectDiagnostics(const ClusterSpec& cluster, const Fabric& fabric,
                                           const ClusterFacts& facts,
                                           const std::vector<Plugin>& plugins,
                                           const PlanScope& scope, const AdoptOffers& offers = {});

// See Resource::settles; by the id of what settles them.
using Settles = std::map<std::string, std::vector<std::string>>;

// Without the warnings about the nodes on which a change of `plan` settles them.
std::vector<Diagnostic> RemoveSettled(std::vector<Diagnostic> diagnostics, const Settles& settles,
                                      const Plan& plan);

// Why the blocked changes of `plan` are blocked, in the plan's order.
std::vector<Diagnostic> DiagnoseBlocked(const Plan& plan);

// Each of those that differ in nothing but their nodes once, with all of these.
void MergeEqual(std::vector<Diagnostic>& diagnostics);

// Whether this manifest, as it is, was applied to all nodes in `scope` already.
bool WasApplied(const ClusterSpec& cluster, const ClusterFacts& facts, const PlanScope& scope);

// Puts what blocks first and what informs last; the order is otherwise kept.
void SortBySeverity(std::vector<Diagnostic>& diagnostics);

// The nodes that spark-verify is to be sent to, because files left open what a plugin must know; in
// the manifest's order.
std::vector<const NodeSpec*> SelectNodesForSparkVerify(const ClusterSpec& cluster,
                                                       const ClusterFacts& facts,
                                                       const std::vector<Plugin>& plugins,
                                                       const PlanScope& scope);

}  // namespace reconciler
