#pragma once

#include <compare>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// One plug: what a person can pull.
struct CageId {
  NodeName node = {};
  std::string cage = {};  // "p0"
  auto operator<=>(const CageId&) const = default;
};

// What the manifest says hangs together: the two ends of a cable, or all cages on one switch.
struct DeclaredCable {
  std::vector<CageId> ends = {};  // in node order of the manifest
  bool is_switch = false;
  bool operator==(const DeclaredCable&) const = default;
};

std::vector<DeclaredCable> DeclaredCables(const ClusterSpec& cluster, const Fabric& fabric);

// A netdev behind a cage, whether the manifest uses that cage or not: a cable in the wrong cage is
// found in one that should be empty.
struct CagePort {
  std::string cage = {};
  std::string netdev = {};
};

std::vector<CagePort> CagePorts(const NodeSpec& node);

// As on the back of the machine: "spark-1's left cage", "spark-1 left".
std::string CageWords(const CageId& cage);
std::string CageShort(const CageId& cage);
std::string SideOf(const std::string& cage);  // "left"

}  // namespace reconciler
