#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// The lanes of the cable in a node's cage: those of most ports at its ends, and of two numbers that
// are equally frequent the larger. What is right cannot be said of one port alone, and one cable
// may have other lanes than the next: HCAs show 200 Gb/s as four lanes (HDR) and as two (NDR, which
// is what a CRS804 makes of it). That all ports of one cable show the same can.
using CableLanes = std::map<std::pair<NodeName, std::string>, int>;
CableLanes FindCableLanes(const Fabric& fabric, const ClusterFacts& facts);

// What only a card with ethtool reports: checks of their own ("fec", "lanes"), added where there
// are answers. Counters count since the driver was loaded: one that is not zero says nothing of
// today, so that here they are only reported, beside the speed. Precondition: the six checks of
// every port.
void JudgeEthtool(const ClusterSpec& cluster, const CableLanes& cables, const RailPort& port,
                  const NodeFacts& facts, std::vector<Check>& checks);

}  // namespace reconciler
