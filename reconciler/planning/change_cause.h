#pragma once

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/resource.h"

namespace reconciler {

// Why a resource that does not hold needs a change: what is desired and what is observed, compared
// with what the node's ledger says was applied last.
ChangeCause FindChangeCause(const Resource& resource, const NodeFacts& facts,
                            const ClusterSpec& cluster);

}  // namespace reconciler
