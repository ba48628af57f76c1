#include "reconciler/cabling/sight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string FirstLabel(const std::string& host) { return Lower(host.substr(0, host.find('.'))); }

// How a cage of the cluster is known from outside.
struct Names {
  std::map<std::string, CageId> by_address = {};
  std::map<std::string, CageId> by_mac = {};
  std::map<std::string, NodeName> by_host = {};
  std::map<std::pair<NodeName, std::string>, CageId> by_netdev = {};
};

Names NamesOf(const ClusterSpec& cluster, const CablingViews& views) {
  Names names;
  for (const NodeSpec& node : cluster.nodes) {
    names.by_host.try_emplace(FirstLabel(node.name), node.name);
    const auto view = views.find(node.name);
    for (const CagePort& port : CagePorts(cluster, node)) {
      const CageId cage = CageIdOf(node, port.cage);
      names.by_netdev[{node.name, port.netdev}] = cage;
      if (view == views.end()) continue;
      const auto shown = view->second.ports.find(port.netdev);
      if (shown == view->second.ports.end()) continue;
      if (!shown->second.mac.empty()) names.by_mac[Lower(shown->second.mac)] = cage;
      for (const std::string& address : shown->second.addresses) names.by_address[address] = cage;
    }
    if (view != views.end() && !view->second.hostname.empty()) {
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

void AddHeard(const PortView& port, const Names& names, Sight& sight) {
  for (const auto& [address, mac] : port.heard) {
    // Addresses made by hand may be there twice (fe80::1); MACs are not.
    const CageId* cage = mac.empty() ? nullptr : Find(names.by_mac, Lower(mac));
    if (cage == nullptr) cage = Find(names.by_address, address);
    if (cage != nullptr) {
      sight.cages.insert(*cage);
    } else {
      sight.strangers.insert(fmt::format(
          "an unknown machine ({})", mac.empty() ? Printable(address) : "MAC " + Printable(mac)));
    }
  }
}

void AddIntroduced(const LldpNeighbour& neighbour, const Names& names, Sight& sight) {
  const CageId* cage = Find(names.by_mac, Lower(neighbour.port));
  const auto node = names.by_host.find(FirstLabel(neighbour.system));
  if (cage == nullptr && node != names.by_host.end()) {
    for (const std::string& port : {neighbour.port, neighbour.port_description}) {
      if (cage == nullptr) cage = Find(names.by_netdev, {node->second, port});
    }
  }
  if (cage != nullptr) {
    sight.cages.insert(*cage);
    return;
  }
  // One of ours, through a port that nobody knows; or an adapter's firmware, which tells no name.
  const bool ours = node != names.by_host.end() || names.by_mac.contains(Lower(neighbour.chassis));
  if (ours || neighbour.system.empty()) return;
  sight.strangers.insert(
      fmt::format("{} (its port {})", Printable(neighbour.system), Printable(neighbour.port)));
  sight.switches.insert(neighbour.chassis);
  sight.plugs.insert({neighbour.system, neighbour.port});
  if (!neighbour.port_description.empty()) {
    sight.plugs.insert({neighbour.system, neighbour.port_description});
  }
}

}  // namespace

CageViews SeeCages(const ClusterSpec& cluster, const CablingViews& views) {
  const Names names = NamesOf(cluster, views);
  CageViews cages;
  for (const NodeSpec& node : cluster.nodes) {
    const auto view = views.find(node.name);
    if (view == views.end()) continue;
    std::map<CageId, Sight> introduced;
    for (const CagePort& place : CagePorts(cluster, node)) {
      const CageId id = CageIdOf(node, place.cage);
      CageView& cage = cages[id];
      for (const LldpNeighbour& neighbour : view->second.lldp) {
        if (neighbour.netdev == place.netdev) AddIntroduced(neighbour, names, introduced[id]);
      }
      const auto port = view->second.ports.find(place.netdev);
      if (port == view->second.ports.end()) continue;
      cage.state = std::max(cage.state, port->second.state);
      cage.can_be_heard |= !port->second.addresses.empty();
      AddHeard(port->second, names, cage.sight);
    }
    for (auto& [id, sight] : introduced) {
      CageView& cage = cages[id];
      cage.sight.cages.erase(id);
      sight.cages.erase(id);
      cage.sight.switches = sight.switches;
      cage.sight.plugs = sight.plugs;
      if (!cage.sight.Empty() || cage.state != PortState::kLink) continue;
      cage.sight = std::move(sight);
      cage.sight.by_lldp = true;
    }
  }
  for (auto& [id, cage] : cages) cage.sight.cages.erase(id);
  return cages;
}

}  // namespace reconciler
