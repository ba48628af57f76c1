#pragma once

#include <utility>
#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler {

// Two nodes and the ports that join them, by rail; the first of each pair of ports is a's.
struct NodePair {
  NodeName a = {};
  NodeName b = {};
  std::vector<std::pair<RailPort, RailPort>> rails = {};
};

// Every two nodes that share a cable or a switch, in node order of the manifest.
std::vector<NodePair> PairsOf(const Fabric& fabric);

// Rounds of pairs that may be measured at the same time: no node is in two pairs of one round, so
// neither a cage nor the PCIe link behind it is shared. All of n nodes with each other take n - 1
// rounds (n where n is odd), a ring two or three.
std::vector<std::vector<NodePair>> Schedule(const std::vector<NodePair>& pairs);

}  // namespace reconciler
