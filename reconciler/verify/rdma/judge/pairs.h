#pragma once

#include <vector>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// Replaces the findings about pairs of which one node has most, while pairs without it are good, by
// one finding about that node: its HCA, its port of the switch or its load is what they share.
void NameNodesAtFault(const std::vector<Check>& checks, std::vector<Finding>& findings);

}  // namespace reconciler
