#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report.h"

namespace reconciler {

// The first rung: what the facts alone say about each port that the fabric uses (it exists, is set
// up, has carrier, its address, its MTU and its speed) and about the session's memlock.
std::vector<Check> CheckFacts(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts);

}  // namespace reconciler
