#include "reconciler/discovery/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/text.h"
#include "reconciler/discovery/addresses.h"
#include "reconciler/discovery/managed.h"
#include "reconciler/discovery/topology.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/yaml/yaml_scalar.h"

namespace reconciler {
namespace {

// Whether a manifest can have this name, and YAML reads it as text.
bool IsPlainName(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  const bool has_inner_dashes = !name.starts_with('-') && !name.ends_with('-');
  // A name of digits alone, or of one of these words, is none in YAML.
  const bool is_text =
      !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
      !std::set<std::string>{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}.contains(
          name);
  return is_plain && has_inner_dashes && is_text && name.size() <= 63;
}

// A name that a manifest can have; empty: the host has none.
std::string FindHostname(const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  if (host == nullptr) return {};
  std::string name = host->hostname.substr(0, host->hostname.find('.'));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return IsPlainName(name) ? name : "";
}

// The one cluster that ledgers of these nodes name; empty: there is none, or several.
std::string FindClusterName(const ClusterFacts& facts) {
  std::set<std::string> names;
  for (const auto& [name, node] : facts.nodes) {
    if (const Ledger* ledger = Known(node.ledger)) names.insert(ledger->cluster);
  }
  return names.size() == 1 && IsPlainName(*names.begin()) ? *names.begin() : "";
}

// The same nodes under the names that they have in the manifest.
struct NamedHosts {
  ClusterSpec spec = {};
  ClusterFacts facts = {};
  CablingViews views = {};
  bool by_order = false;  // their own names are not all different
};

// By the name while they were read. Empty: their own names are missing, or not all different.
std::map<NodeName, NodeName> FindHostnames(const ClusterSpec& hosts, const ClusterFacts& facts) {
  std::map<NodeName, NodeName> names;
  std::set<NodeName> seen;
  for (const NodeSpec& node : hosts.nodes) {
    const auto read = facts.nodes.find(node.name);
    std::string name = read == facts.nodes.end() ? "" : FindHostname(read->second);
    if (name.empty() || !seen.insert(name).second) return {};
    names[node.name] = std::move(name);
  }
  return names;
}

NamedHosts NameHosts(const ClusterSpec& hosts, const ClusterFacts& facts,
                     const CablingViews& views) {
  const std::map<NodeName, NodeName> names = FindHostnames(hosts, facts);
  if (names.empty()) return {.spec = hosts, .facts = facts, .views = views, .by_order = true};
  NamedHosts named{.spec = hosts};
  std::map<NodeName, Hardware> hardware;
  for (NodeSpec& node : named.spec.nodes) {
    const NodeName before = std::exchange(node.name, names.at(node.name));
    if (const auto own = hosts.own_hardware.find(before); own != hosts.own_hardware.end()) {
      hardware[node.name] = own->second;
    }
    if (const auto read = facts.nodes.find(before); read != facts.nodes.end()) {
      named.facts.nodes[node.name] = read->second;
    }
    if (const auto view = views.find(before); view != views.end()) {
      named.views[node.name] = view->second;
    }
  }
  named.spec.own_hardware = std::move(hardware);
  return named;
}

// Everything that the text is made of.
class Finder {
 public:
  Finder(const NamedHosts& named, const std::vector<Plugin>& plugins)
      : hosts_(named.spec),
        cluster_(FindClusterName(named.facts)),
        topology_(FindTopology(named.spec, BuildCageViews(named.spec, named.views))) {
    if (named.by_order) {
      gaps_.push_back(
          "the nodes have no names of their own that are all different: they are "
          "called by their order");
    }
    addresses_ = FindAddresses(hosts_, ListRails(), named.facts, GetCabling());
    is_ring_ = IsRing();
    if (is_ring_) {
      OrderAsRing();
      // With the numbers that make it one: another first rail might lead to others.
      addresses_ = FindAddresses(hosts_, ListRails(), named.facts, GetCabling(), addresses_.ids);
    }
    managed_ = FindManaged(hosts_, MakeFabric(ListRails()), named.facts, plugins);
  }

  Discovery Format(const std::string& user) const {
    Discovery discovery{.notes = addresses_.notes};
    for (const auto* gaps : {&topology_.gaps, &addresses_.gaps, &managed_.gaps, &gaps_}) {
      discovery.gaps.insert(discovery.gaps.end(), gaps->begin(), gaps->end());
    }
    for (const NodeSpec& node : hosts_.nodes) {
      discovery.nodes.push_back({.name = node.name, .address = node.address});
    }
    discovery.manifest = FormatHead(user) + FormatNodes(user) + FormatFabric() + FormatHosts();
    return discovery;
  }

 private:
  const Cage* FindCage(const NodeName& node, const std::string& cage) const {
    const NodeSpec* spec = hosts_.FindNode(node);
    const Hardware* hardware = spec == nullptr ? nullptr : hosts_.FindHardware(*spec);
    return hardware == nullptr ? nullptr : hardware->FindCage(cage);
  }

  void AddRails(const std::map<NodeName, std::string>& cages, std::vector<FoundRail>& rails) const {
    const std::size_t first = rails.size();
    for (const auto& [node, name] : cages) {
      const Cage* cage = FindCage(node, name);
      if (cage == nullptr) continue;
      rails.resize(std::max(rails.size(), first + cage->twins.size()));
      for (std::size_t i = 0; i < cage->twins.size(); ++i) {
        rails[first + i].netdevs[node] = cage->twins[i].netdev;
        rails[first + i].twin = i;
      }
    }
  }

  std::vector<FoundRail> ListRails() const {
    std::vector<FoundRail> rails;
    if (!topology_.on_switch.empty()) {
      AddRails(topology_.on_switch, rails);
      return rails;
    }
    for (const auto& [one, other] : topology_.cables) {
      AddRails({{one.node, one.cage}, {other.node, other.cage}}, rails);
    }
    AddRails(topology_.likely, rails);
    return rails;
  }

  bool IsLinkLocal(std::size_t rail) const {
    return addresses_.link_local && rail + 1 == addresses_.subnets.size();
  }

  // The ports alone, with their addresses.
  Fabric MakeFabric(const std::vector<FoundRail>& rails) const {
    Fabric fabric;
    for (std::size_t i = 0; i < rails.size(); ++i) {
      const int rail = static_cast<int>(i);
      Segment segment{.rail = rail, .subnet = addresses_.subnets[i]};
      for (const auto& [node, netdev] : rails[i].netdevs) {
        Ipv4Prefix address = segment.subnet;
        if (!IsLinkLocal(i)) {
          address.address.bits += static_cast<std::uint32_t>(addresses_.ids.at(node));
        }
        const RailPort port{.node = node, .rail = rail, .netdev = netdev, .address = address};
        segment.ports.push_back(port);
        fabric.ports[node].push_back(port);
      }
      fabric.segments.push_back(std::move(segment));
    }
    return fabric;
  }

  // Three nodes, each p0 to the next one's p1 in the order of their ids.
  bool IsRing() const {
    if (!topology_.on_switch.empty() || topology_.cables.size() != 3 || hosts_.nodes.size() != 3) {
      return false;
    }
    std::vector<NodeName> nodes = ListByIds();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (FindCable(nodes[i], nodes[(i + 1) % nodes.size()]) == topology_.cables.size())
        return false;
    }
    return true;
  }

  std::vector<NodeName> ListByIds() const {
    std::vector<NodeName> nodes;
    for (const NodeSpec& node : hosts_.nodes) nodes.push_back(node.name);
    std::sort(nodes.begin(), nodes.end(), [&](const NodeName& one, const NodeName& other) {
      return addresses_.ids.at(one) < addresses_.ids.at(other);
    });
    return nodes;
  }

  // The cable from one node's p0 to the other's p1; the number of cables: there is none.
  std::size_t FindCable(const NodeName& from, const NodeName& to) const {
    const auto is_it = [&](const std::array<CageId, 2>& ends) {
      const auto fits = [&](const CageId& one, const CageId& other) {
        return one.node == from && one.cage == "p0" && other.node == to && other.cage == "p1";
      };
      return fits(ends[0], ends[1]) || fits(ends[1], ends[0]);
    };
    const auto found = std::find_if(topology_.cables.begin(), topology_.cables.end(), is_it);
    return static_cast<std::size_t>(found - topology_.cables.begin());
  }

  void OrderAsRing() {
    const std::vector<NodeName> nodes = ListByIds();
    std::vector<std::array<CageId, 2>> cables;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      cables.push_back(topology_.cables[FindCable(nodes[i], nodes[(i + 1) % nodes.size()])]);
    }
    topology_.cables = std::move(cables);
  }

  std::string FormatHead(const std::string& user) const {
    std::vector<std::string> places;
    for (const NodeSpec& node : hosts_.nodes) places.push_back(node.address);
    return fmt::format(
        "# Read from {}; nothing was changed.\napi_version: spark-reconcile/v1\n"
        "{:<32} # {}\naccess: {{user: {}}}\n",
        Join(places, ", "), "cluster: " + FormatScalar(cluster_.empty() ? "homelab" : cluster_),
        cluster_.empty() ? "choose a name" : "as found", FormatScalar(user));
  }

  bool IsPair() const { return hosts_.nodes.size() == 2 && topology_.cables.size() == 1; }

  RailCabling GetCabling() const {
    if (!topology_.on_switch.empty() || topology_.cables.empty()) return RailCabling::kSwitch;
    return IsPair() ? RailCabling::kPair : RailCabling::kCables;
  }

  std::string GetCage(const NodeName& node) const {
    if (const auto found = topology_.on_switch.find(node); found != topology_.on_switch.end()) {
      return found->second;
    }
    if (const auto found = topology_.likely.find(node); found != topology_.likely.end()) {
      return found->second;
    }
    if (!IsPair()) return {};
    const auto& [one, other] = topology_.cables.front();
    return one.node == node ? one.cage : other.cage;
  }

  // Of a switch or a pair, also one of which no cable was found: the cage of all nodes, where it is
  // the same.
  std::string GetCommonCage() const {
    std::set<std::string> cages;
    for (const NodeSpec& node : hosts_.nodes) cages.insert(GetCage(node.name));
    return cages.size() == 1 ? *cages.begin() : "";
  }

  std::string FormatNodes(const std::string& user) const {
    std::string text =
        "nodes:                           # id: the host number that the ports have\n";
    for (const NodeSpec& node : hosts_.nodes) {
      const int id = addresses_.ids.at(node.name);
      const std::string cage = GetCommonCage().empty() ? GetCage(node.name) : "";
      const std::string& own = node.access.user;
      const bool has_own = !own.empty() && own != user;
      text += fmt::format("  - {{name: {}, address: {}{}{}{}}}\n", FormatScalar(node.name),
                          FormatScalar(node.address),
                          ReadTrailingNumber(node.name) == id ? "" : fmt::format(", id: {}", id),
                          cage.empty() ? "" : ", cage: " + cage,
                          has_own ? fmt::format(", access: {{user: {}}}", FormatScalar(own)) : "");
    }
    return text;
  }

  std::string FormatTopology() const {
    const std::string cage = GetCommonCage();
    const std::string common = cage.empty() ? "" : fmt::format("  cage: {}\n", cage);
    if (!topology_.on_switch.empty()) {
      return "  topology: switch               # as found\n" + common;
    }
    if (IsPair()) return "  topology: direct               # as found\n" + common;
    if (is_ring_) return "  topology: ring                 # as found\n";
    if (topology_.cables.empty()) {
      return fmt::format("  topology: {:<20} # no cable was found\n",
                         hosts_.nodes.size() == 2 ? "direct" : "switch") +
             common;
    }
    std::string text = "  links:                         # as found\n";
    for (const auto& [one, other] : topology_.cables) {
      text += fmt::format("    - [{}, {}]\n", FormatScalar(one.node + '.' + one.cage),
                          FormatScalar(other.node + '.' + other.cage));
    }
    return text;
  }

  std::string FormatFabric() const {
    constexpr int kAdvisedMtu = 9000;
    std::string text = "fabric:\n" + FormatTopology();
    text += addresses_.mtu == kAdvisedMtu ? "  mtu: 9000\n"
                                          : fmt::format("  mtu: {:<25} # as found; {} is advised\n",
                                                        addresses_.mtu, kAdvisedMtu);
    if (addresses_.link_local) {
      text += fmt::format(
          "  link_local: {:<18} # as found, of the last rail; a subnet is advised\n", "true");
    }
    text += "  subnets:\n";
    for (std::size_t i = 0; i < addresses_.subnets.size(); ++i) {
      if (!IsLinkLocal(i)) text += fmt::format("    - {}\n", ToString(addresses_.subnets[i]));
    }
    if (!managed_.arp) {
      text += fmt::format("  arp: {:<25} # as found; manage is advised\n", "ignore");
    }
    return text;
  }

  std::string FormatHosts() const {
    if (managed_.names) return {};
    return fmt::format("{:<32} # as found: {}\n", "hosts: {manage: false}",
                       managed_.others_names ? "names of rails by another owner" : "no rail names");
  }

  const ClusterSpec& hosts_;
  std::string cluster_;  // empty: not known
  FoundTopology topology_;
  FoundAddresses addresses_ = {};
  FoundManaged managed_ = {};
  std::vector<std::string> gaps_ = {};
  bool is_ring_ = false;
};

}  // namespace

std::string FormatDiscovery(const Discovery& discovery) {
  std::string text = discovery.manifest;
  for (const std::string& gap : discovery.gaps) text += fmt::format("# Not as found: {}\n", gap);
  for (const std::string& note : discovery.notes) text += fmt::format("# Note: {}\n", note);
  return text;
}

nlohmann::ordered_json ToJson(const Discovery& discovery, bool is_valid) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const FoundNode& node : discovery.nodes) {
    nodes.push_back({{"name", EncodeText(node.name)}, {"address", EncodeText(node.address)}});
  }
  const auto list = [](const std::vector<std::string>& texts) {
    nlohmann::ordered_json encoded = nlohmann::ordered_json::array();
    for (const std::string& text : texts) encoded.push_back(EncodeText(text));
    return encoded;
  };
  return {{"format", "spark-reconcile/discovery/1"},
          {"valid", is_valid},
          {"nodes", std::move(nodes)},
          {"manifest", EncodeText(FormatDiscovery(discovery))},
          {"gaps", list(discovery.gaps)},
          {"notes", list(discovery.notes)}};
}

Discovery Discover(const ClusterSpec& hosts, const ClusterFacts& facts, const CablingViews& views,
                   const std::string& user, const std::vector<Plugin>& plugins) {
  const NamedHosts named = NameHosts(hosts, facts, views);
  return Finder(named, plugins).Format(user);
}

}  // namespace reconciler
