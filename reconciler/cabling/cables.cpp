#include "reconciler/cabling/cables.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/fabric/planes.h"

namespace reconciler {

CageId MakeCageId(const NodeSpec& node, const std::string& cage) {
  const bool is_spark = node.hardware == kDefaultHardware;
  return {node.name, cage, !is_spark ? "" : cage == "p0" ? "left" : cage == "p1" ? "right" : ""};
}

std::vector<DeclaredCable> ListDeclaredCables(const ClusterSpec& cluster) {
  std::vector<DeclaredCable> cables;
  for (Plane& plane : ListPlanes(cluster)) {
    std::erase_if(plane.ends, [](const PlaneEnd& end) { return end.node == nullptr; });
    if (plane.ends.size() < 2) continue;
    // The nodes are one vector: their places are their order.
    std::stable_sort(plane.ends.begin(), plane.ends.end(),
                     [](const PlaneEnd& a, const PlaneEnd& b) { return a.node < b.node; });
    DeclaredCable cable{.is_switch = plane.switched};
    for (const SwitchSpec& one : cluster.switches) {
      if (!plane.switched) break;
      cable.switches.insert(one.name);
      for (const SwitchPort& port : one.ports) cable.plugs[port.peer.node] = {one.name, port.port};
    }
    for (const PlaneEnd& end : plane.ends) cable.ends.push_back(MakeCageId(*end.node, end.cage));
    cables.push_back(std::move(cable));
  }
  return cables;
}

std::vector<CagePort> ListCagePorts(const ClusterSpec& cluster, const NodeSpec& node) {
  std::vector<CagePort> ports;
  const Hardware* hardware = cluster.FindHardware(node);
  if (hardware == nullptr) return ports;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) ports.push_back({cage.name, twin.netdev});
  }
  return ports;
}

std::string FormatCageNoun(const CageId& cage) {
  return cage.side.empty() ? "cage " + cage.cage : cage.side + " cage";
}

std::string DescribeCage(const CageId& cage) {
  return fmt::format("{}'s {}", cage.node, FormatCageNoun(cage));
}

std::string FormatCageShort(const CageId& cage) {
  return fmt::format("{} {}", cage.node, cage.side.empty() ? cage.cage : cage.side);
}

}  // namespace reconciler
