#pragma once

#include <map>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What two reports of the same cluster can differ in besides what was measured: versions, and the
// rate and MTU of the fabric's ports. What was not read is left out.
std::map<NodeName, ReportedFacts> ListReportedFacts(const Fabric& fabric,
                                                    const ClusterFacts& facts);

}  // namespace reconciler
