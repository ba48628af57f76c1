#pragma once

#include <string_view>
#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler {

// The variable of NCCL that makes it pair the HCAs of one cable; a libnccl that can holds its name.
inline constexpr std::string_view kSubnetAware = "NCCL_IB_SUBNET_AWARE_ROUTING";

// The ports over which one collective of all nodes can go: those of the segments that reach every
// node or, where there is no such segment (a ring, cables), all of the node's.
std::vector<RailPort> ListCollectivePorts(const Fabric& fabric, const NodeName& node);

// Whether such a collective must find the HCAs of one cable by their subnet: it goes over
// cables that lead each cage of some node to another neighbour, or to the other cage of the same.
bool CagesDiffer(const Fabric& fabric);

// Whether it goes over ports of two cages of some node.
bool UsesTwoCages(const Fabric& fabric);

}  // namespace reconciler
