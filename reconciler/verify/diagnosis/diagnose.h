#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// One finding per cause. A check that an earlier level explains is counted there and makes no
// finding of its own; every check that failed or could not be measured is explained by exactly one
// finding.
std::vector<Finding> Diagnose(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts, const std::vector<Check>& checks,
                              const std::map<NodeName, std::string>& unreachable);

}  // namespace reconciler
