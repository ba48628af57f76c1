#pragma once

#include <vector>

#include "reconciler/cli/context.h"

namespace reconciler::cli {

// Each says on stderr why `plan` must not be carried out and how to go on, and returns the exit
// code of that; kFine when nothing speaks against it.

// Work that runs on the nodes and would end. `now` is the plan of the newest facts: jobs come and
// go, so what counts is who is at work now, on what `plan` changes.
int RefuseToInterrupt(const Plan& plan, Plan now);

// The manifest requires what the hardware of a node rules out.
int RefuseRuledOut(const Cluster& cluster, const ClusterFacts& facts, const PlanScope& scope);

// One end of a cable would change alone.
int RefuseHalfCables(const Plan& plan, const Fabric& fabric, const ClusterFacts& facts);

// A ledger that cannot be read or is another cluster's, or a node that the manifest lost.
int RefuseForeignNodes(const ClusterSpec& cluster, const ClusterFacts& facts,
                       bool allow_node_removal);

// A saved plan that no longer fits `fresh`.
int RefuseStale(const Plan& plan, const Plan& fresh);

}  // namespace reconciler::cli
