#pragma once

#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Warnings from the kernel's log of one node: connections of other nodes that ufw drops with the
// rules that it has now, and what hardware and drivers reported in the last day.
std::vector<Check> CheckKernelLog(const Fabric& fabric, const ClusterFacts& all,
                                  const NodeFacts& facts);

}  // namespace reconciler
