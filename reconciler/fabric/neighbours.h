#pragma once

#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler {

// The ports over which one collective of all nodes can go: those of the segments that reach every
// node or, where there is no such segment (a ring, cables), all of the node's.
std::vector<RailPort> ListCollectivePorts(const Fabric& fabric, const NodeName& node);

// Whether such a collective must find the HCAs of one cable by their subnet: it goes over
// cables that lead each cage of some node to another neighbour, or to the other cage of the same.
bool CagesDiffer(const Fabric& fabric);

}  // namespace reconciler
