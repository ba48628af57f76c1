#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/planning/plan_maker.h"

namespace reconciler {

struct Prunes {
  std::vector<Change> changes = {};       // the last touched first
  std::vector<std::string> dropped = {};  // see PlanNode::dropped
  std::vector<std::string> kept = {};  // of `dropped`: what stays, because nobody can take it back
};

// What the node's ledger holds and nobody asks for any more (`asked`: "kind/name" of every resource
// of the node), as changes that hand it back. A file is touched only where it is as we left it, or
// for the blocks of ours in it; more than the manifest's `max_prune` of them are blocked, all.
Prunes PruneNode(const ClusterSpec& cluster, const NodeFacts& facts,
                 const std::set<std::string>& asked, const PlanScope& scope);

// Why a whole file of ours must not be written over: somebody edited it since. Empty: nobody did,
// or we do not know what we wrote.
std::string ExplainEdited(const Resource& resource, const NodeFacts& facts);

}  // namespace reconciler
