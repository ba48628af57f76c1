#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Who else uses the ports of the fabric: a default route, a DHCP client, another address, a bond,
// another interface in the rail's subnet, a firmware that speaks InfiniBand; and whether an address
// stays after a restart. What is well, and what was not read, has no check.
std::vector<Check> CheckPortUse(const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts);

}  // namespace reconciler
