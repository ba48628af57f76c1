#include "reconciler/fabric/planes.h"

#include <algorithm>
#include <map>

namespace reconciler {
namespace {

std::vector<Plane> ListRingCables(const ClusterSpec& cluster) {
  std::vector<const NodeSpec*> by_id;
  for (const NodeSpec& node : cluster.nodes) by_id.push_back(&node);
  std::sort(by_id.begin(), by_id.end(), [](auto* a, auto* b) { return a->id < b->id; });
  std::vector<Plane> planes;
  for (std::size_t c = 0; c < by_id.size(); ++c) {
    planes.push_back({.ends = {{by_id[c], "p0"}, {by_id[(c + 1) % by_id.size()], "p1"}}});
  }
  return planes;
}

int FindCageRate(const ClusterSpec& cluster, const NodeSpec* node) {
  const Hardware* hardware = node != nullptr ? cluster.FindHardware(*node) : nullptr;
  return hardware != nullptr ? hardware->cage_gbps : 0;
}

// Which switch and port each node is in; nothing for a node that no switch names.
std::map<NodeName, std::pair<PlugEnd, int>> ListPlugs(const ClusterSpec& cluster) {
  std::map<NodeName, std::pair<PlugEnd, int>> plugs;
  for (const SwitchSpec& one : cluster.switches) {
    for (const SwitchPort& port : one.ports) {
      plugs[port.peer.node] = {PlugEnd{one.name, port.port, true}, port.gbps};
    }
  }
  return plugs;
}

void AddUplinks(const ClusterSpec& cluster, int plane, std::vector<Wire>& wires) {
  for (const SwitchSpec& one : cluster.switches) {
    for (const SwitchPort& uplink : one.uplinks) {
      wires.push_back({{one.name, uplink.port, true},
                       {uplink.peer.node, uplink.peer.cage, true},
                       uplink.gbps,
                       plane});
    }
  }
}

}  // namespace

std::vector<Plane> ListPlanes(const ClusterSpec& cluster) {
  std::vector<Plane> planes;
  switch (cluster.fabric.topology) {
    case Topology::kDirect:
    case Topology::kSwitch:
    case Topology::kLeafSpine: {
      Plane plane{.switched = cluster.fabric.topology != Topology::kDirect};
      for (const NodeSpec& node : cluster.nodes) plane.ends.push_back({&node, node.cage});
      planes.push_back(std::move(plane));
      break;
    }
    case Topology::kRing:
      return ListRingCables(cluster);
    case Topology::kLinks:
      break;
  }
  for (const Cable& link : cluster.fabric.links) {
    planes.push_back({.ends = {{cluster.FindNode(link.a.node), link.a.cage},
                               {cluster.FindNode(link.b.node), link.b.cage}}});
  }
  return planes;
}

std::size_t CountPlaneRails(const ClusterSpec& cluster, const Plane& plane) {
  std::size_t most = 0;
  std::size_t least = SIZE_MAX;
  for (const PlaneEnd& end : plane.ends) {
    const Cage* cage = end.node != nullptr ? FindCage(cluster, *end.node, end.cage) : nullptr;
    if (cage == nullptr) continue;
    const std::size_t twins = cluster.fabric.twins == Twins::kBoth ? cage->twins.size() : 1;
    most = std::max(most, twins);
    least = std::min(least, twins);
  }
  return plane.switched ? most : std::min(most, least);
}

std::vector<Wire> ListWires(const ClusterSpec& cluster, const std::vector<Plane>& planes) {
  const auto plugs = ListPlugs(cluster);
  std::vector<Wire> wires;
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const auto& ends = planes[p].ends;
    const int number = static_cast<int>(p);
    if (!planes[p].switched) {
      if (ends.size() != 2 || ends[0].node == nullptr || ends[1].node == nullptr) continue;
      const int gbps =
          std::min(FindCageRate(cluster, ends[0].node), FindCageRate(cluster, ends[1].node));
      wires.push_back(
          {{ends[0].node->name, ends[0].cage}, {ends[1].node->name, ends[1].cage}, gbps, number});
      continue;
    }
    PlugEnd somewhere{.on_switch = true};
    if (cluster.switches.size() == 1) somewhere.device = cluster.switches.front().name;
    for (const auto& [node, cage] : ends) {
      const int own = FindCageRate(cluster, node);
      const auto plug = plugs.find(node->name);
      const bool known = plug != plugs.end();
      wires.push_back({{node->name, cage},
                       known ? plug->second.first : somewhere,
                       known ? std::min(own, plug->second.second) : own,
                       number});
    }
    AddUplinks(cluster, number, wires);
  }
  return wires;
}

const Cage* FindCage(const ClusterSpec& cluster, const NodeSpec& node, std::string_view cage) {
  const Hardware* hardware = cluster.FindHardware(node);
  return hardware != nullptr ? hardware->FindCage(cage) : nullptr;
}

}  // namespace reconciler
