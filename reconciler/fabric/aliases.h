#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// The host names of their own that the manifest gives to nodes (`aliases`), in its order. Nodes
// without any are left out.
//
// An alias stands for the address of the node's first rail that the reader shares with it; where
// they share none, for its management address.
std::map<NodeName, std::vector<std::string>> ReadAliases(const ClusterSpec& cluster);

}  // namespace reconciler
