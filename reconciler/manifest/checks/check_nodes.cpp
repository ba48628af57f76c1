#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/address_view.h"
#include "reconciler/manifest/read/host_port.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

// Proposes ids that no node has, another one each time.
class FreeIds {
 public:
  explicit FreeIds(const std::vector<NodeView>& nodes) {
    for (const NodeView& node : nodes) {
      if (node.id) used_.insert(*node.id);
    }
  }
  std::int64_t Next() {
    do {
      ++last_;
    } while (used_.contains(last_));
    return last_;
  }

 private:
  std::set<std::int64_t> used_;
  std::int64_t last_ = 0;
};

// "spark-1-rail0" would be the host name of a rail of node spark-1.
bool IsLikeRailName(const std::string& name) {
  const std::size_t rail = name.rfind("-rail");
  return rail != std::string::npos && rail + 5 < name.size() &&
         name.find_first_not_of("0123456789", rail + 5) == std::string::npos;
}

// What /etc/hosts has for every machine: a host block or a line of ours would change its meaning.
const std::map<std::string, std::string>& ListReservedNames() {
  static const std::map<std::string, std::string> kNames = {
      {"localhost", "is the name of the machine itself"},
      {"localhost.localdomain", "is the name of the machine itself"},
      {"ip6-localhost", "is the name of the machine itself"},
      {"ip6-loopback", "is the name of the machine itself"},
      {"ip6-localnet", "is a name that every machine has for IPv6"},
      {"ip6-mcastprefix", "is a name that every machine has for IPv6"},
      {"ip6-allnodes", "is a name that every machine has for IPv6"},
      {"ip6-allrouters", "is a name that every machine has for IPv6"},
      {"ip6-allhosts", "is a name that every machine has for IPv6"}};
  return kNames;
}

void CheckNames(const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  std::map<std::string, Position> seen;
  for (const NodeView& node : nodes) {
    const auto [first, fresh] = seen.emplace(node.name, node.name_position);
    if (!fresh) {
      errors.Add("manifest-name-taken", node.name_position,
                 fmt::format("node name {} stands twice, first at {}", Quoted(node.name),
                             errors.Mark(first->second)),
                 "give every node a name of its own");
    } else if (IsLikeRailName(node.name)) {
      errors.Add("manifest-name-taken", node.name_position,
                 fmt::format("node name {} has the form of a rail's host name", Quoted(node.name)),
                 "names that end in -rail and a number are made for the rails of nodes");
    } else if (const auto reserved = ListReservedNames().find(node.name);
               reserved != ListReservedNames().end()) {
      errors.Add(
          "manifest-name-taken", node.name_position,
          fmt::format("node name {} is reserved: it {}", Quoted(node.name), reserved->second),
          "give the node a name of its own, such as spark-1");
    }
  }
}

// Each alias is one name of one node, and no name that is made or known otherwise.
void CheckAliases(const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  std::map<std::string, std::string> taken = ListReservedNames();
  for (const NodeView& node : nodes) {
    taken.emplace(node.name, fmt::format("is the name of node {}", Quoted(node.name)));
    taken.emplace(ViewAddress(node.address).key,
                  fmt::format("is the address of node {}", Quoted(node.name)));
  }
  for (const NodeView& node : nodes) {
    const Value* aliases = node.entry->Find("aliases");
    if (aliases == nullptr) continue;
    for (const Value& alias : aliases->List()) {
      const std::string name = alias.ScalarText();
      std::string why = IsLikeRailName(name) ? "has the form of a rail's host name" : "";
      const auto [first, fresh] = taken.emplace(
          name, fmt::format("is an alias already, first at {}", errors.Mark(alias.position)));
      if (!fresh) why = first->second;
      if (IsReadAsNumber(name)) why = "is read as a number, and not looked up as a name";
      if (ParseIpv4(name)) why = "is an address";
      if (why.empty()) continue;
      errors.Add("manifest-name-taken", alias.position,
                 fmt::format("alias {} of node {} {}", Quoted(name), Quoted(node.name), why),
                 "give it another name, such as " + node.name + "-mesh");
    }
  }
}

void CheckIds(const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  std::map<std::int64_t, const NodeView*> seen;
  std::set<std::string> names;
  FreeIds free_ids(nodes);
  for (const NodeView& node : nodes) {
    const bool same_name = !names.insert(node.name).second;
    if (!node.id && !node.id_is_explicit) {
      errors.Add("manifest-id-wrong", node.name_position,
                 fmt::format("wanted an id for node {}, found none, and no number at the end of "
                             "its name",
                             Quoted(node.name)),
                 fmt::format("add an id, such as id: {}; it is the node's host number in every "
                             "fabric subnet",
                             free_ids.Next()));
    }
    if (!node.id || same_name) continue;
    const auto [first, fresh] = seen.emplace(*node.id, &node);
    if (fresh) continue;
    errors.Add(
        "manifest-id-wrong", node.id_position,
        fmt::format("nodes {} and {} both have id {}, first at {}", Quoted(first->second->name),
                    Quoted(node.name), *node.id, errors.Mark(first->second->id_position)),
        fmt::format("give one of them another id, such as id: {}", free_ids.Next()));
  }
}

std::int64_t FindPort(const Value& document, const NodeView& node) {
  const Value* own = node.entry->At({"access", "port"});
  const Value* port = own != nullptr ? own : document.At({"access", "port"});
  return port != nullptr && port->AsInteger() != nullptr ? *port->AsInteger() : 22;
}

bool IsLocal(const Value& document, const NodeView& node) {
  const Value* own = node.entry->At({"access", "transport"});
  const Value* transport = own != nullptr ? own : document.At({"access", "transport"});
  return transport != nullptr && transport->ScalarText() == "local";
}

struct Fault {
  std::string message = {};
  std::string hint = {};
};

Fault FindUnreachableIpv4(const NodeView& node, Ipv4Address address) {
  const std::uint32_t first = address.bits >> 24;
  const std::string written = MakePrintable(node.address);
  if (first == 0 || first >= 224) {
    return {
        fmt::format("address {} of node {} is {}: no machine has it", written, Quoted(node.name),
                    first == 0 ? "\"this network\"" : "multicast or reserved space"),
        "write the node's own address"};
  }
  if ((address.bits & 0xFF) == 0) {
    return {fmt::format("address {} of node {} is that of a network, as it ends in 0", written,
                        Quoted(node.name)),
            "write the node's own address; a machine of a wider network that has this one by its "
            "host name"};
  }
  return {};
}

Fault FindUnreachableIpv6(const NodeView& node, const AddressView& address) {
  if (address.key == "::" || address.ipv6->front() == 0xFF) {
    return {fmt::format("address {} of node {} is {}: no machine has it",
                        MakePrintable(node.address), Quoted(node.name),
                        address.key == "::" ? "the unspecified address" : "multicast space"),
            "write the node's own address"};
  }
  if (address.IsIpv6LinkLocal() && address.interface.empty()) {
    return {fmt::format("wanted an interface behind the link-local address {} of node {}, found "
                        "none",
                        node.address, Quoted(node.name)),
            fmt::format("write {}%eth0, with the interface of this machine that leads to the node",
                        node.address.substr(0, node.address.find('%')))};
  }
  return {};
}

// Of an address that is written as one should be, and that no machine can be reached by.
Fault FindUnreachable(const Value& document, const NodeView& node, const AddressView& address) {
  if (address.IsLoopback()) {
    // Another port of this machine may lead to the node, through a tunnel.
    if (IsLocal(document, node) || FindPort(document, node) != 22) return {};
    return {fmt::format("address {} of node {} is loopback: it leads to the machine that this "
                        "program runs on",
                        MakePrintable(node.address), Quoted(node.name)),
            "write the node's own address; for this machine access: {transport: local}, for a "
            "tunnel access: {port: 2201} with its port"};
  }
  if (address.ipv4) return FindUnreachableIpv4(node, *address.ipv4);
  if (address.ipv6) return FindUnreachableIpv6(node, address);
  return {};
}

// ".a", "a..b"; one dot at the end is part of a whole name, and is not in the key.
bool HasEmptyLabel(const std::string& key) {
  return key.starts_with('.') || key.ends_with('.') || key.find("..") != std::string::npos;
}

// Of one address alone.
Fault FindAddressFault(const Value& document, const NodeView& node, const AddressView& address) {
  if (HasPort(node.address)) {
    const std::size_t colon = node.address.find(':');
    return {
        fmt::format("wanted an address without a port for node {}, found {}", Quoted(node.name),
                    Quoted(node.address)),
        fmt::format("the port belongs in access: {{port: {}}}", node.address.substr(colon + 1, 5))};
  }
  if (node.address.find_first_not_of("0123456789.") == std::string::npos && !address.ipv4) {
    return {fmt::format("wanted an IPv4 address such as 192.168.1.21 for node {}, found {}",
                        Quoted(node.name), Quoted(node.address))};
  }
  if (std::count(node.address.begin(), node.address.end(), ':') > 1 && address.IsHostName()) {
    return {fmt::format("wanted an IPv6 address such as 2001:db8::21 for node {}, found {}",
                        Quoted(node.name), Quoted(node.address))};
  }
  if (address.IsHostName() && HasEmptyLabel(address.key)) {
    return {fmt::format("wanted a host name for node {}, found {}", Quoted(node.name),
                        Quoted(node.address)),
            "it has two dots with nothing between them"};
  }
  return FindUnreachable(document, node, address);
}

void CheckAddresses(const Value& document, const std::vector<NodeView>& nodes,
                    ManifestErrors& errors) {
  std::map<std::pair<std::string, std::int64_t>, const NodeView*> seen;
  for (const NodeView& node : nodes) {
    if (node.address.empty()) continue;
    const AddressView address = ViewAddress(node.address);
    if (Fault fault = FindAddressFault(document, node, address); !fault.message.empty()) {
      errors.Add("manifest-address-wrong", node.address_position, std::move(fault.message),
                 std::move(fault.hint));
      continue;
    }
    const auto [first, fresh] =
        seen.emplace(std::pair(address.key, FindPort(document, node)), &node);
    if (fresh) continue;
    errors.Add(
        "manifest-address-wrong", node.address_position,
        fmt::format("nodes {} and {} both have address {}, first at {}",
                    Quoted(first->second->name), Quoted(node.name), MakePrintable(address.key),
                    errors.Mark(first->second->address_position)),
        "give each its own management address");
  }
}

// At most one node can be the machine that the program runs on.
void CheckLocal(const Value& document, const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  const NodeView* local = nullptr;
  for (const NodeView& node : nodes) {
    if (!IsLocal(document, node)) continue;
    if (local != nullptr) {
      const Value* own = node.entry->At({"access", "transport"});
      errors.Add("manifest-two-local", own != nullptr ? own->position : node.name_position,
                 fmt::format("nodes {} and {} are both local, but only one can be this machine",
                             Quoted(local->name), Quoted(node.name)),
                 "reach the others by transport: ssh");
      return;
    }
    local = &node;
  }
}

}  // namespace

void CheckNodes(const Value& document, ManifestErrors& errors) {
  const std::vector<NodeView> nodes = ViewNodes(document);
  CheckNames(nodes, errors);
  CheckAliases(nodes, errors);
  CheckIds(nodes, errors);
  CheckAddresses(document, nodes, errors);
  CheckLocal(document, nodes, errors);
}

}  // namespace reconciler
