#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/plugin.h"

namespace reconciler {

struct PlanScope {
  std::vector<NodeName> nodes = {};    // --node and --exclude, see IsNameSelected
  std::vector<std::string> only = {};  // --only PLUGIN; empty: all
  bool overwrite_edited = false;       // write over what was edited since we wrote it
  bool allow_half_cables = false;      // change a link although the other end is blocked
  bool allow_node_removal = false;     // a node that the manifest lost is no reason to warn
  bool uninstall = false;              // nothing is required: all that is in the ledgers is pruned
  // Ids of prunes that the running apply has carried out: until it is committed the ledgers still
  // hold them, and what nothing requires is not read.
  std::set<std::string> pruned = {};
};

// Whether PlanScope::only has the plugin; an empty list means all.
bool IsSelected(const std::vector<std::string>& names, std::string_view name);

// A name in `scope` that does not exist is a kUsage error with a suggestion: found before any
// node is contacted.
Result<void> CheckScope(const ClusterSpec& cluster, const std::vector<Plugin>& plugins,
                        const PlanScope& scope);

// Everything that must happen so that the nodes match the manifest. It gets no transport, so it
// cannot do I/O; the same input gives the same bytes. Nodes without facts appear as unreachable.
// Errors: OrderPlugins', or a name in `scope` that does not exist (kUsage, did you mean).
Result<Plan> MakePlan(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                      const std::vector<Plugin>& plugins, const PlanScope& scope = {});

// "an apply of … is running"; empty: no apply runs on the node, and nothing waits to
// be reverted.
std::string FormatApplyState(const NodeFacts& facts);

// Digest over everything in the plan but its id.
std::string ComputePlanDigest(const Plan& plan);

}  // namespace reconciler
