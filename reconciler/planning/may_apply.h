#pragma once

#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// What the nodes say that forbids every apply: a ledger that cannot be read, or that is another
// cluster's; one machine under two names, whose lock would be held against itself.
std::vector<Diagnostic> DiagnoseForbidden(const ClusterSpec& cluster, const ClusterFacts& facts);

// Why nothing may be applied at all: the same as errors, and a node that the manifest lost (unless
// `allow_node_removal`).
Errors CheckMayApply(const ClusterSpec& cluster, const ClusterFacts& facts,
                     bool allow_node_removal);

// What an apply of `plan` says when it refuses the plan as a whole with exit code 1, unless it is
// given an option; empty: it does not refuse it so.
std::string ExplainRefusal(const ClusterSpec& cluster, const ClusterFacts& facts, const Plan& plan);

}  // namespace reconciler
