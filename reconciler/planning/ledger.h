#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// It lies on each node that we ever locked.
inline constexpr std::string_view kLockFile = "/var/lib/spark-reconcile/lock";

// Whether anything of ours may lie below /var/lib/spark-reconcile: journals stay after applies that
// were reverted, too.
bool HasState(const NodeFacts& facts);

// What a ledger says about the cluster as a whole.
struct LedgerHead {
  std::string cluster = {};
  int generation = 0;
  std::string manifest_digest = {};
  std::vector<LedgerNode> nodes = {};
  std::string former_cluster = {};  // its name before; empty: it always had this one
};

// The ledger of `node` after `applied` (the passes of one apply, in order) was committed there: an
// entry for each thing that was touched for the first time, with what it was before; the others
// keep that and learn what was written now; what was pruned is gone. The manifest's digest stays
// the old one where something is left out, by --only or since it is blocked: it would read as
// drifted, or as changed by other nodes, and not by the manifest.
Ledger UpdateLedger(const Ledger& old, const std::vector<Plan>& applied, const NodeName& node,
                    const LedgerHead& head);

// The number that the cluster's next apply gets: one more than any that was read of a node, from
// its ledger or from the generations that it keeps.
int ComputeNextGeneration(const ClusterFacts& facts);

enum class WayBackKind {
  kNone,       // no command returns to what was before, or one would change more than that
  kRollback,   // to the generation before
  kUninstall,  // nothing was applied before
};

// The command that returns to what was before an apply.
struct WayBack {
  WayBackKind kind = WayBackKind::kNone;
  std::vector<NodeName> nodes = {};  // of an uninstall: these alone; empty: all
};

// From an apply to nodes that were as `before`, the whole of them or those of --node.
// `all_plugins`: without --only. A rollback must find the generation before on every node of the
// manifest, under the names of now; and it applies a whole manifest, to all of them.
WayBack FindWayBack(const ClusterSpec& cluster, const ClusterFacts& before, bool all_plugins);

// Nodes that a ledger names and that the manifest no longer has, under whatever name.
std::vector<LedgerNode> FindRemovedNodes(const ClusterSpec& cluster, const ClusterFacts& facts);

}  // namespace reconciler
