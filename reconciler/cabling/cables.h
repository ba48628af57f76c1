#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// One plug: what a person can pull.
struct CageId {
  NodeName node = {};
  std::string cage = {};  // "p0"
  std::string side = {};  // "left", as seen from the back; empty: only the cage's name is known
  auto operator<=>(const CageId&) const = default;
};

CageId MakeCageId(const NodeSpec& node, const std::string& cage);

// A port of a switch, by the switch's name.
struct SwitchPlug {
  std::string name = {};
  std::string port = {};
  auto operator<=>(const SwitchPlug&) const = default;
};

// What the manifest says hangs together: the two ends of a cable, or all cages on one switch.
struct DeclaredCable {
  std::vector<CageId> ends = {};  // in node order of the manifest
  bool is_switch = false;
  std::map<NodeName, SwitchPlug> plugs = {};  // on a switch: the port that the manifest names
  std::set<std::string> switches = {};        // names of all switches of the manifest
  bool operator==(const DeclaredCable&) const = default;
};

std::vector<DeclaredCable> ListDeclaredCables(const ClusterSpec& cluster);

// A netdev behind a cage, whether the manifest uses that cage or not: a cable in the wrong cage is
// found in one that should be empty.
struct CagePort {
  std::string cage = {};
  std::string netdev = {};
};

std::vector<CagePort> ListCagePorts(const ClusterSpec& cluster, const NodeSpec& node);

// As on the back of the machine: "left cage"; "cage p0" of hardware that we never saw from behind.
std::string FormatCageNoun(const CageId& cage);
std::string DescribeCage(const CageId& cage);     // "spark-1's left cage"
std::string FormatCageShort(const CageId& cage);  // "spark-1 left"

}  // namespace reconciler
