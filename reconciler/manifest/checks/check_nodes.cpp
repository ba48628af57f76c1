#include <fmt/format.h>

#include <map>
#include <set>

#include "reconciler/base/ipv4.h"
#include "reconciler/manifest/checks/cross_check.h"
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
    }
  }
}

// Each alias is one name of one node, and no name that is made or known otherwise.
void CheckAliases(const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  std::map<std::string, std::string> taken = {{"localhost", "is the name of the machine itself"}};
  for (const NodeView& node : nodes) {
    taken.emplace(node.name, fmt::format("is the name of node {}", Quoted(node.name)));
    taken.emplace(node.address, fmt::format("is the address of node {}", Quoted(node.name)));
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

void CheckAddresses(const Value& document, const std::vector<NodeView>& nodes,
                    ManifestErrors& errors) {
  std::map<std::pair<std::string, std::int64_t>, const NodeView*> seen;
  for (const NodeView& node : nodes) {
    if (node.address.empty()) continue;
    if (node.address.find_first_not_of("0123456789.") == std::string::npos &&
        !ParseIpv4(node.address)) {
      errors.Add("manifest-address-wrong", node.address_position,
                 fmt::format("wanted an IPv4 address such as 192.168.1.21 for node {}, found {}",
                             Quoted(node.name), Quoted(node.address)));
      continue;
    }
    const auto [first, fresh] =
        seen.emplace(std::pair(node.address, FindPort(document, node)), &node);
    if (fresh) continue;
    errors.Add("manifest-address-wrong", node.address_position,
               fmt::format("nodes {} and {} both have address {}, first at {}",
                           Quoted(first->second->name), Quoted(node.name), node.address,
                           errors.Mark(first->second->address_position)),
               "give each its own management address");
  }
}

// At most one node can be the machine that the program runs on.
void CheckLocal(const Value& document, const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  const NodeView* local = nullptr;
  for (const NodeView& node : nodes) {
    const Value* own = node.entry->At({"access", "transport"});
    const Value* transport = own != nullptr ? own : document.At({"access", "transport"});
    if (transport == nullptr || transport->ScalarText() != "local") continue;
    if (local != nullptr) {
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
