#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

enum class NodeState {
  kInSync,
  kOverridden,  // it is, and something there wins over it, now or at the next boot or re-plug
  kPending,     // the manifest was not applied there, or was changed since
  kDrifted,     // what was applied was changed on the node since
  kBlocked,     // nothing that can be applied: what differs is blocked
  kUnfinished,  // an apply runs there, or was cut off
  kUnreachable,
};

// How `node` is to the manifest, by a plan that was made from `facts`. Precondition: the plan has
// the node.
NodeState FindNodeState(const Plan& plan, const ClusterFacts& facts, const NodeName& node);

// The newest apply that a node remembers, as its history has it.
struct LastApply {
  std::string time = {};          // "2026-01-31T12:00:00Z"
  std::string by = {};            // user and host
  std::string verification = {};  // "passed", "failed", "not measured"; empty: not run
  int generation = 0;  // of the cluster; the node's ledger has that of its own last change
};

// A line per node, what there is to know about some of them, and a summary. No line is wider than
// `columns` (at least 60; 0: no limit). Text for a terminal, ends with a newline.
std::string RenderStatus(const Plan& plan, const ClusterFacts& facts,
                         const std::map<NodeName, LastApply>& applies, std::size_t columns);

}  // namespace reconciler
