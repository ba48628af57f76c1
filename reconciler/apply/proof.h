#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/plan.h"
#include "reconciler/node/node_pool.h"

namespace reconciler {

// Which pairs of nodes reach each other over the fabric: one DF ping of the manifest's full MTU per
// pair and rail, at the manifest's addresses.
enum class PairState {
  kAnswers,      // at the full MTU
  kSmallOnly,    // answers a small packet: something between them has a smaller MTU
  kSilent,       // no answer
  kNoCarrier,    // one of the ends has no link: nothing can be proved there
  kNotMeasured,  // no answer from the node that should have pinged
};

struct PairOnRail {
  NodeName from = {};
  NodeName to = {};
  int rail = 0;
  auto operator<=>(const PairOnRail&) const = default;
};

using Pairs = std::map<PairOnRail, PairState>;

// How long a port may need until it has the manifest's address: nothing before a change, where it
// is silent at once; 2 s after one.
enum class Moment { kBeforeChange, kAfterChange };

// Every pair of `nodes` on every rail that both are on, tested from the first of the two, all nodes
// at the same time, through `pool`. Takes about 5 s where something is silent.
Pairs ProbePairs(const Fabric& fabric, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                 Moment moment);

// The pairs that must answer after an apply and do not: those that answered before it, and those
// whose link the plan itself sets, as long as neither end is blocked. What was broken before and is
// not touched is for verify to report.
Errors FindUnprovenPairs(const Pairs& before, const Pairs& after, const Plan& plan,
                         const Fabric& fabric);

}  // namespace reconciler
