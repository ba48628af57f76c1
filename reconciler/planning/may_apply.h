#pragma once

#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// What the nodes say that forbids every apply: a ledger that cannot be read, or that is another
// cluster's; one machine under two names, whose lock would be held against itself.
std::vector<Diagnostic> DiagnoseForbidden(const ClusterSpec& cluster, const ClusterFacts& facts);

// Why nothing may be applied at all: the same as errors, and a node that the manifest lost (unless
// `allow_node_removal`).
Errors CheckMayApply(const ClusterSpec& cluster, const ClusterFacts& facts,
                     bool allow_node_removal);

}  // namespace reconciler
