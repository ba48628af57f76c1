#include "reconciler/cabling/neighbours.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// How a cage of the cluster is known from outside.
struct Names {
  std::map<std::string, CageId> by_address = {};
  std::map<std::string, CageId> by_mac = {};
  std::set<std::string> bridges = {};  // MACs
  std::map<std::string, NodeName> by_host = {};
  std::map<std::pair<NodeName, std::string>, CageId> by_netdev = {};
};

Names CollectNames(const ClusterSpec& cluster, const CablingViews& views) {
  Names names;
  for (const NodeSpec& node : cluster.nodes) {
    names.by_host.try_emplace(FirstLabel(node.name), node.name);
    const auto view = views.find(node.name);
    for (const CagePort& port : ListCagePorts(cluster, node)) {
      const CageId cage = MakeCageId(node, port.cage);
      names.by_netdev[{node.name, port.netdev}] = cage;
      if (view == views.end()) continue;
      const auto shown = view->second.ports.find(port.netdev);
      if (shown == view->second.ports.end()) continue;
      if (!shown->second.mac.empty()) names.by_mac[ToLower(shown->second.mac)] = cage;
      for (const std::string& address : shown->second.addresses) names.by_address[address] = cage;
    }
    if (view == views.end()) continue;
    names.bridges.insert(view->second.bridges.begin(), view->second.bridges.end());
    if (!view->second.hostname.empty()) {
      names.by_host[FirstLabel(view->second.hostname)] = node.name;
    }
  }
  return names;
}

template <class Key>
const CageId* Find(const std::map<Key, CageId>& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

void AddDiscovered(const PortView& port, const Names& names, Neighbours& neighbours) {
  for (const auto& [address, mac] : port.heard) {
    // Addresses made by hand may be there twice (fe80::1); MACs are not.
    const CageId* cage = mac.empty() ? nullptr : Find(names.by_mac, ToLower(mac));
    if (cage == nullptr) cage = Find(names.by_address, address);
    // A bridge of a node, and which cages it has ports of is not known.
    if (cage == nullptr && names.bridges.contains(ToLower(mac))) continue;
    if (cage != nullptr) {
      neighbours.cages.insert(*cage);
    } else {
      neighbours.strangers.insert(
          fmt::format("an unknown machine ({})",
                      mac.empty() ? MakePrintable(address) : "MAC " + MakePrintable(mac)));
    }
  }
}

void AddLldp(const LldpNeighbour& neighbour, const Names& names, Neighbours& neighbours) {
  const CageId* cage = Find(names.by_mac, ToLower(neighbour.port));
  const auto node = names.by_host.find(FirstLabel(neighbour.system));
  if (cage == nullptr && node != names.by_host.end()) {
    for (const std::string& port : {neighbour.port, neighbour.port_description}) {
      if (cage == nullptr) cage = Find(names.by_netdev, {node->second, port});
    }
  }
  if (cage != nullptr) {
    neighbours.cages.insert(*cage);
    return;
  }
  // One of ours, through a port that no one knows; or an HCA's firmware, which reports no name.
  const bool ours =
      node != names.by_host.end() || names.by_mac.contains(ToLower(neighbour.chassis));
  if (ours || neighbour.system.empty()) return;
  neighbours.strangers.insert(fmt::format("{} (its port {})", MakePrintable(neighbour.system),
                                          MakePrintable(neighbour.port)));
  neighbours.switches.insert(neighbour.chassis);
  neighbours.plugs.insert({neighbour.system, neighbour.port});
  if (!neighbour.port_description.empty()) {
    neighbours.plugs.insert({neighbour.system, neighbour.port_description});
  }
}

}  // namespace

CageViews BuildCageViews(const ClusterSpec& cluster, const CablingViews& views) {
  const Names names = CollectNames(cluster, views);
  CageViews cages;
  for (const NodeSpec& node : cluster.nodes) {
    const auto view = views.find(node.name);
    if (view == views.end()) continue;
    std::map<CageId, Neighbours> introduced;
    for (const CagePort& place : ListCagePorts(cluster, node)) {
      const CageId id = MakeCageId(node, place.cage);
      CageView& cage = cages[id];
      for (const LldpNeighbour& neighbour : view->second.lldp) {
        if (neighbour.netdev == place.netdev) AddLldp(neighbour, names, introduced[id]);
      }
      const auto port = view->second.ports.find(place.netdev);
      if (port == view->second.ports.end()) continue;
      cage.state = std::max(cage.state, port->second.state);
      cage.can_be_heard |= !port->second.addresses.empty();
      AddDiscovered(port->second, names, cage.neighbours);
    }
    for (auto& [id, neighbours] : introduced) {
      CageView& cage = cages[id];
      cage.neighbours.cages.erase(id);
      neighbours.cages.erase(id);
      cage.neighbours.switches = neighbours.switches;
      cage.neighbours.plugs = neighbours.plugs;
      if (!cage.neighbours.Empty() || cage.state != PortState::kLink) continue;
      cage.neighbours = std::move(neighbours);
      cage.neighbours.by_lldp = true;
    }
  }
  for (auto& [id, cage] : cages) cage.neighbours.cages.erase(id);
  return cages;
}

}  // namespace reconciler
