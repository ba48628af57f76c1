#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// Points into the cluster's nodes; nullptr where a link names a node that is none.
struct PlaneEnd {
  const NodeSpec* node = nullptr;
  std::string cage = {};
};

// Cages that reach each other: the two ends of a cable, or all that hang on the switches. Its rails
// are one per twin.
struct Plane {
  std::vector<PlaneEnd> ends = {};  // in the manifest's order of nodes where it is switched
  bool switched = false;
};

// The switches' plane first, then the cables in the order of the ring or of the links. Cable c of a
// ring goes from p0 of the c-th node by id to p1 of the next one; the last closes the ring.
std::vector<Plane> ListPlanes(const ClusterSpec& cluster);

// On switches as many as the best node has twins, so that a node that comes or goes renumbers
// no node; on a cable as many as both ends have.
std::size_t CountPlaneRails(const ClusterSpec& cluster, const Plane& plane);

// Every cable of the planes, and those between the switches. Without a description of its ports the
// switch is one without a name.
std::vector<Wire> ListWires(const ClusterSpec& cluster, const std::vector<Plane>& planes);

// nullptr: the node's hardware has no such cage.
const Cage* FindCage(const ClusterSpec& cluster, const NodeSpec& node, std::string_view cage);

}  // namespace reconciler
