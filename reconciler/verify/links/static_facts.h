#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// The first level: what the facts alone say about each port that the fabric uses (it exists, is set
// up, has carrier, its address, its MTU and its speed), about its RDMA device, and about how much
// memory each kind of process may lock. `up_to`: the level that the facts are wanted for.
std::vector<Check> CheckFacts(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts, VerifyLevel up_to = VerifyLevel::kSsh);

}  // namespace reconciler
