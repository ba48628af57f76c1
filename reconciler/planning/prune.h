#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/planning/plan_maker.h"

namespace reconciler {

struct Prunes {
  std::vector<Change> changes = {};       // the last touched first
  std::vector<std::string> dropped = {};  // see PlanNode::dropped
  std::vector<std::string> kept = {};     // of `dropped`: what stays, because it cannot be reverted
  // Files of others that we removed and their owners made again: they are left to them.
  std::vector<std::string> made_again = {};
};

// What the node's ledger holds and nothing requires any more (`required`: "kind/name" of every
// resource of the node), as changes that prune it. A file is touched only where it is as we left
// it, or for the blocks of ours in it; more than the manifest's `max_prune` of them are blocked,
// all. One that touches an interface is blocked while it is not clear whether that is a port of the
// fabric.
Prunes PruneNode(const ClusterSpec& cluster, const NodeFacts& facts,
                 const std::set<std::string>& required, const PlanScope& scope);

// A file of another owner that we removed does not come back while a file of ours, of the same
// plugin, stays: both would configure the same.
void BlockBesideOurs(const Ledger& ledger, std::vector<Change>& prunes);

// Names of what was made on the node for the cluster and stays when all is pruned: what its ledger
// holds without an original, and, whether there is a ledger or not, key pairs whose comment names
// the cluster.
std::vector<std::string> FindKeptNames(const ClusterSpec& cluster, const NodeFacts& facts);

// Why a whole file of ours must not be written over: it was edited since. Empty: no one did,
// or we do not know what we wrote.
std::string ExplainEdited(const Resource& resource, const NodeFacts& facts);

}  // namespace reconciler
