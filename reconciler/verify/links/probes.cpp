#include "reconciler/verify/links/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/aliases.h"
#include "reconciler/fabric/found/found_addresses.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/model/find.h"

namespace reconciler {
namespace {

bool HasMesh(const ClusterSpec& cluster) {
  const Value* mesh = cluster.settings.At({"ssh", "mesh"});
  const bool* wanted = mesh != nullptr ? mesh->AsBool() : nullptr;
  return wanted != nullptr && *wanted;
}

std::string FindMeshUser(const ClusterSpec& cluster, const NodeSpec& node) {
  const Value* user = cluster.settings.At({"ssh", "user"});
  const std::string* name = user != nullptr ? user->AsString() : nullptr;
  return name != nullptr && !name->empty() ? *name : node.access.user;
}

// The manifest's `checks` for that node.
std::vector<PathProbe> ListPaths(const ClusterSpec& cluster, const NodeSpec& node) {
  std::vector<PathProbe> paths;
  const Value* checks = cluster.settings.Find("checks");
  if (checks == nullptr) return paths;
  for (const Value& check : checks->List()) {
    const Value* mtu = check.Find("mtu");
    const Value* nodes = check.Find("nodes");
    const auto names_node = [&](const Value& name) { return name.ScalarText() == node.name; };
    if (mtu == nullptr || mtu->AsInteger() == nullptr) continue;
    if (nodes != nullptr && std::none_of(nodes->List().begin(), nodes->List().end(), names_node)) {
      continue;
    }
    paths.push_back({.address = check.GetText("path"), .mtu = static_cast<int>(*mtu->AsInteger())});
  }
  return paths;
}

// What other nodes can be expected to reach: a host name or alias may be known to us alone.
bool IsNetworkAddress(const std::string& address) {
  constexpr std::uint32_t kLoopback = 127;
  const auto ipv4 = ParseIpv4(address);
  return ipv4 && ipv4->bits >> 24 != kLoopback;
}

// On a link-local rail the neighbour is found by its IPv6 address; where that is not known, by
// a ping to all nodes of the rail, which are two.
std::string FindPingAddress(const RailPort& from, const RailPort& to, const ClusterFacts& facts) {
  if (!IsLinkLocal(to)) return ToString(to.address.address);
  const std::string ipv6 = FindIpv6LinkLocal(facts, to);
  return fmt::format("{}%{}", ipv6.empty() ? "ff02::1" : ipv6, from.netdev);
}

std::string FindMac(const RailPort& port, const ClusterFacts& facts) {
  const auto node = facts.nodes.find(port.node);
  if (node == facts.nodes.end()) return {};
  const auto link = node->second.links.find(port.netdev);
  return link == node->second.links.end() ? "" : ToLower(link->second.mac);
}

// The first port with a MAC stands for it: interfaces of one node may share it, as in a bond.
std::map<std::string, PortOfNode> ListPortsByMac(const ClusterFacts& facts) {
  std::map<std::string, PortOfNode> ports;
  for (const auto& [name, node] : facts.nodes) {
    for (const auto& [netdev, link] : node.links) {
      if (link.mac.empty()) continue;
      ports.try_emplace(ToLower(link.mac), PortOfNode{.node = name, .netdev = netdev});
    }
  }
  return ports;
}

bool ManagesHosts(const ClusterSpec& cluster) {
  const Value* manage = cluster.settings.At({"hosts", "manage"});
  const bool* flag = manage != nullptr ? manage->AsBool() : nullptr;
  return flag == nullptr || *flag;
}

// The peer's ports on rails that `node` has too and whose addresses are known beforehand, by rail.
std::vector<const RailPort*> ListNamedPorts(const Fabric& fabric, const NodeSpec& node,
                                            const NodeSpec& peer) {
  std::vector<const RailPort*> ports;
  for (const Segment& segment : fabric.segments) {
    const RailPort* to = FindPort(segment, peer.name);
    if (IsLinkLocal(segment) || to == nullptr || FindPort(segment, node.name) == nullptr) continue;
    ports.push_back(to);
  }
  return ports;
}

std::vector<NameProbe> ListNames(const std::vector<const RailPort*>& ports, const NodeSpec& peer,
                                 const std::vector<std::string>& aliases) {
  std::vector<NameProbe> names;
  for (const RailPort* port : ports) {
    names.push_back({.name = FormatRailHostName(peer.name, port->rail),
                     .address = ToString(port->address.address)});
  }
  if (ports.empty() && !ParseIpv4(peer.address)) return names;
  const std::string address = ports.empty() ? peer.address : names.front().address;
  for (const std::string& name : aliases) names.push_back({.name = name, .address = address});
  return names;
}

std::vector<SshProbe> ListLogins(const std::vector<const RailPort*>& ports, const NodeSpec& node,
                                 const NodeSpec& peer, const std::vector<std::string>& aliases) {
  std::vector<SshProbe> logins;
  bool by_name = node.id < peer.id;
  const auto add = [&](std::optional<int> rail, std::string name, std::string address) {
    logins.push_back(
        {.to = peer.name, .rail = rail, .host = by_name ? std::move(name) : std::move(address)});
    by_name = !by_name;
  };
  for (const RailPort* port : ports) {
    const bool has_alias = !aliases.empty() && port == ports.front();
    add(port->rail, has_alias ? aliases.front() : FormatRailHostName(peer.name, port->rail),
        ToString(port->address.address));
  }
  if (IsNetworkAddress(peer.address)) {
    const bool has_alias = !aliases.empty() && ports.empty();
    add(std::nullopt, has_alias ? aliases.front() : peer.name, peer.address);
  }
  return logins;
}

template <typename T>
void Append(std::vector<T>& all, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

NodeProbes ListProbes(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node,
                      VerifyLevel up_to, const ClusterFacts& facts) {
  NodeProbes probes{.from = node.name, .user = FindMeshUser(cluster, node)};
  if (up_to >= VerifyLevel::kPing) {
    probes.paths = ListPaths(cluster, node);
    probes.ports_by_mac = ListPortsByMac(facts);
  }
  const bool mesh = up_to >= VerifyLevel::kSsh && HasMesh(cluster);
  const bool names = up_to >= VerifyLevel::kPing && ManagesHosts(cluster);
  std::map<NodeName, std::vector<std::string>> aliases = ReadAliases(cluster);
  for (const NodeSpec& peer : cluster.nodes) {
    if (peer.name == node.name) {
      probes.first_ping = probes.pings.size();
      probes.first_login = probes.logins.size();
      continue;
    }
    for (const Segment& segment : fabric.segments) {
      const RailPort* from = FindPort(segment, node.name);
      const RailPort* to = FindPort(segment, peer.name);
      if (from == nullptr || to == nullptr) continue;
      if (up_to >= VerifyLevel::kPing) {
        probes.pings.push_back({.to = peer.name,
                                .rail = segment.rail,
                                .netdev = from->netdev,
                                .address = FindPingAddress(*from, *to, facts),
                                .mac = FindMac(*to, facts),
                                .mtu = from->mtu});
      }
    }
    if (!mesh && !names) continue;
    const std::vector<const RailPort*> ports = ListNamedPorts(fabric, node, peer);
    if (names) Append(probes.names, ListNames(ports, peer, aliases[peer.name]));
    if (mesh) Append(probes.logins, ListLogins(ports, node, peer, aliases[peer.name]));
  }
  return probes;
}

const RailPort* FindOtherEnd(const Fabric& fabric, const NodeName& node, int rail) {
  for (const Segment& segment : fabric.segments) {
    if (segment.rail != rail || segment.ports.size() != 2) continue;
    for (const RailPort& port : segment.ports) {
      if (port.node != node) return &port;
    }
  }
  return nullptr;
}

}  // namespace reconciler
