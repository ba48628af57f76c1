#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Warnings about the libnccl that processes in running containers have loaded: one for each
// container where it is too old, and one where two nodes have no version in common. What is well
// has no check.
std::vector<Check> CheckLoadedNccl(const ClusterSpec& cluster, const Fabric& fabric,
                                   const ClusterFacts& facts);

}  // namespace reconciler
