#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Warnings about what may spoil a run on nodes whose ports are as they should be: packets that a
// firewall dropped, messages of the kernel, heat, memory, clocks, and what the programs of the user
// and in containers may use. What is well, and what was not read, has no check. `up_to`: the level
// that the facts are wanted for.
std::vector<Check> CheckNodeHealth(const ClusterSpec& cluster, const Fabric& fabric,
                                   const ClusterFacts& facts, VerifyLevel up_to);

}  // namespace reconciler
