#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// A warning for each of kernel, NVIDIA driver, firmware of the HCAs, BIOS and mode of the IOMMU
// that is not the same on all nodes of one hardware profile (of the firmware: on all boards of one
// kind; of the last two: on all machines of one maker and model). The check is about the first of
// these nodes; what is the same has no check.
std::vector<Check> CheckDifferences(const ClusterSpec& cluster, const ClusterFacts& facts);

}  // namespace reconciler
