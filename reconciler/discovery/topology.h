#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "reconciler/cabling/neighbours.h"

namespace reconciler {

// How nodes are cabled, as the two ends of each cable show it.
struct FoundTopology {
  std::map<NodeName, std::string> on_switch = {};  // each node's cage on the switch
  std::vector<std::array<CageId, 2>> cables = {};  // between two nodes, in node order
  // Where neither was found, the cage of each node that probably has its cable.
  std::map<NodeName, std::string> likely = {};
  std::vector<std::string> gaps = {};  // what was not found, for a person
};

// Cages that hear several nodes, or whose neighbour by LLDP is no node, are on a switch.
FoundTopology FindTopology(const ClusterSpec& cluster, const CageViews& cages);

}  // namespace reconciler
