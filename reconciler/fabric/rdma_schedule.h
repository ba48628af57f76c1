#pragma once

#include <utility>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// Two nodes and the ports that join them, by rail; the first of each pair of ports is a's.
struct NodePair {
  NodeName a = {};
  NodeName b = {};
  std::vector<std::pair<RailPort, RailPort>> rails = {};
  // Gb/s of payload over the cables between the two nodes' switches; 0: they need none.
  double uplink_gbps = 0;
  bool shares_uplink = false;  // with other pairs at the same time, they would be too few
};

// Every two nodes that share a cable or a switch, in node order of the manifest.
std::vector<NodePair> ListPairs(const ClusterSpec& cluster, const Fabric& fabric);

// Rounds of pairs that may be measured at the same time: no node is in two pairs of one round, so
// neither a cage nor the PCIe link behind it is shared, and one pair at most needs cables between
// switches that are too few for more. All of n nodes with each other take n - 1 rounds (n where n
// is odd), a ring two or three.
std::vector<std::vector<NodePair>> Schedule(const std::vector<NodePair>& pairs);

}  // namespace reconciler
