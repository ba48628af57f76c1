#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// A warning for each version of a node that is known to spoil RDMA or NCCL on its kind of machine.
std::vector<Check> CheckKnownBad(const ClusterSpec& cluster, const ClusterFacts& facts);

// Whether the first of two versions such as "28.43.2026" is the older one, number by number; false
// where either has a part that is no number.
bool IsOlderVersion(std::string_view version, std::string_view other);

}  // namespace reconciler
