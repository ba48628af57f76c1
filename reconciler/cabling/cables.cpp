#include "reconciler/cabling/cables.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/fabric/hardware.h"

namespace reconciler {
namespace {

bool IsLink(const ClusterSpec& cluster, const std::vector<CageId>& ends) {
  return std::any_of(cluster.fabric.links.begin(), cluster.fabric.links.end(),
                     [&](const Cable& link) {
                       const CageId a{link.a.node, link.a.cage};
                       const CageId b{link.b.node, link.b.cage};
                       return ends == std::vector{a, b} || ends == std::vector{b, a};
                     });
}

bool HasSwitch(Topology topology) {
  switch (topology) {
    case Topology::kSwitch:
    case Topology::kLeafSpine:
      return true;
    case Topology::kDirect:
    case Topology::kRing:
    case Topology::kLinks:
      return false;
  }
  return false;
}

}  // namespace

std::vector<DeclaredCable> DeclaredCables(const ClusterSpec& cluster, const Fabric& fabric) {
  std::vector<DeclaredCable> cables;
  for (const Segment& segment : fabric.segments) {
    DeclaredCable cable;
    for (const RailPort& port : segment.ports) {
      if (port.twin == 0) cable.ends.push_back({port.node, port.cage});
    }
    if (cable.ends.size() < 2) continue;  // the twins' segment tells of the same cables
    cable.is_switch = HasSwitch(cluster.fabric.topology) && !IsLink(cluster, cable.ends);
    cables.push_back(std::move(cable));
  }
  return cables;
}

std::vector<CagePort> CagePorts(const NodeSpec&) {
  std::vector<CagePort> ports;
  for (const Cage& cage : DgxSpark().cages) {
    for (const Twin& twin : cage.twins) {
      ports.push_back({std::string(cage.name), std::string(twin.netdev)});
    }
  }
  return ports;
}

std::string SideOf(const std::string& cage) {
  if (cage == "p0") return "left";
  if (cage == "p1") return "right";
  return cage;
}

std::string CageWords(const CageId& cage) {
  return fmt::format("{}'s {} cage", cage.node, SideOf(cage.cage));
}

std::string CageShort(const CageId& cage) {
  return fmt::format("{} {}", cage.node, SideOf(cage.cage));
}

}  // namespace reconciler
