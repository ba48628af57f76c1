#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

// Stock NCCL connects nodes in trees as well as rings, so every two nodes need a common subnet.
constexpr std::string_view kUseASwitch = "cable them to a switch, topology: switch";
constexpr std::string_view kOrOptIn =
    "; or write ring: collectives-only, and use nothing but ring collectives";

void CheckNodeCount(Topology topology, std::size_t count, bool collectives_only, Position position,
                    ManifestErrors& errors) {
  const std::string found = FormatPlural(count, "node", "nodes");
  switch (topology) {
    case Topology::kDirect:
      if (count == 2) return;
      return errors.Add("manifest-node-count", position,
                        "wanted 2 nodes for topology direct, found " + found,
                        count > 2 ? "more than two nodes need a switch (or a ring of three)"
                                  : "a fabric begins with two nodes");
    case Topology::kRing:
      if (count == 3 || (count > 3 && collectives_only)) return;
      if (count < 3) {
        return errors.Add("manifest-node-count", position,
                          "wanted 3 nodes for topology ring, found " + found,
                          "two nodes are topology: direct");
      }
      return errors.Add("manifest-node-count", position,
                        fmt::format("a ring of {} cannot work with stock NCCL: nodes that are "
                                    "not neighbours share no cable",
                                    found),
                        std::string(kUseASwitch) + std::string(kOrOptIn));
    case Topology::kSwitch:
    case Topology::kLeafSpine:
      if (count >= 2) return;
      return errors.Add("manifest-node-count", position,
                        fmt::format("wanted at least 2 nodes for topology {}, found {}",
                                    ToString(topology), found),
                        "a fabric begins with two nodes");
    case Topology::kLinks:
      return;
  }
}

// Where both ends of every cable are said otherwise, a cage would be a setting without effect.
void CheckNoCage(Topology topology, const Value& document, const std::vector<NodeView>& nodes,
                 ManifestErrors& errors) {
  const std::string reason = topology == Topology::kRing ? "a ring has a cable in both cages"
                                                         : "the links name both ends of each cable";
  const auto check = [&](const Value* cage, const std::string& of) {
    if (cage == nullptr) return;
    errors.Add("manifest-no-effect", cage->position,
               fmt::format("cage of {} has no effect: {}", of, reason), "leave it out");
  };
  check(document.At({"fabric", "cage"}), "fabric");
  for (const NodeView& node : nodes) check(node.entry->Find("cage"), "node " + Quoted(node.name));
}

// `are_known`: no other node can have the name of an end.
void CheckLinkEnds(const std::vector<LinkView>& links, const std::vector<NodeView>& nodes,
                   bool are_known, ManifestErrors& errors) {
  const std::vector<std::string> known = ListNodeNames(nodes);
  std::map<std::pair<std::string, std::string>, Position> used;
  for (const LinkView& link : links) {
    if (link.a.node == link.b.node) {
      errors.Add("manifest-cable-to-itself", link.position,
                 fmt::format("this link joins node {} to itself", Quoted(link.a.node)),
                 "a cable joins two nodes: name the other one at one end");
    }
    for (const LinkEnd* end : {&link.a, &link.b}) {
      if (are_known && FindNode(nodes, end->node) == nullptr) {
        errors.Add("manifest-unknown-name", end->position,
                   fmt::format("unknown node {} in links{}", Quoted(end->node),
                               FormatGuess(end->node, known)),
                   FormatKnownHint(known));
      }
      const auto [first, fresh] = used.emplace(std::pair(end->node, end->cage), end->position);
      if (fresh) continue;
      errors.Add("manifest-cable-twice", end->position,
                 fmt::format("cage {} of node {} has two cables, the other at {}", end->cage,
                             Quoted(end->node), errors.Mark(first->second)),
                 "a cage takes one cable");
    }
  }
}

// Pair cables beside a switch: the cage with the switch's cable is taken.
void CheckSwitchCages(const Value& document, const std::vector<NodeView>& nodes,
                      const std::vector<LinkView>& links, ManifestErrors& errors) {
  for (const NodeView& node : nodes) {
    const std::string cage = FindCageName(document, *node.entry);
    for (const LinkView& link : links) {
      for (const LinkEnd* end : {&link.a, &link.b}) {
        if (end->node != node.name || end->cage != cage) continue;
        errors.Add("manifest-cable-twice", end->position,
                   fmt::format("cage {} of node {} has the cable to the switch already", cage,
                               Quoted(node.name)),
                   "use the other cage for the pair cable");
      }
    }
  }
}

// Whether the links are one ring through all nodes.
bool AreOneRing(const std::vector<NodeView>& nodes, const std::vector<LinkView>& links) {
  std::map<std::string, std::vector<std::string>> next;
  for (const LinkView& link : links) {
    next[link.a.node].push_back(link.b.node);
    next[link.b.node].push_back(link.a.node);
  }
  if (nodes.size() < 3 || links.size() != nodes.size()) return false;
  for (const NodeView& node : nodes) {
    if (next[node.name].size() != 2) return false;
  }
  std::set<std::string> reached;
  std::string at = nodes.front().name;
  while (reached.insert(at).second) {
    const std::vector<std::string>& both = next[at];
    if (!reached.contains(both[0])) {
      at = both[0];
    } else if (!reached.contains(both[1])) {
      at = both[1];
    }
  }
  return reached.size() == nodes.size();
}

// NVIDIA's tools and guides take p0 as the way to the next node and p1 as the way back.
void CheckRingDirection(const std::vector<LinkView>& links, ManifestErrors& errors) {
  for (const LinkView& link : links) {
    if (link.a.cage != link.b.cage) continue;
    errors.Add("manifest-ring-direction", link.position,
               fmt::format("this cable of the ring joins {0} to {0}: a ring goes from p0 of each "
                           "node to p1 of the next. {0}–{0} comes up, but programs that expect "
                           "this order search for the neighbour at the other cage",
                           link.a.cage),
               fmt::format("plug one end into {}", link.a.cage == "p0" ? "p1" : "p0"));
  }
}

// The opt-in speaks of rings of four and more only.
void CheckRingKey(Topology topology, const Value& document, const std::vector<NodeView>& nodes,
                  const std::vector<LinkView>& links, ManifestErrors& errors) {
  const Value* ring = document.At({"fabric", "ring"});
  if (ring == nullptr || !IsCollectivesRing(document)) return;
  std::string why;
  if (topology == Topology::kRing || topology == Topology::kLinks) {
    if (nodes.size() == 3) why = "in a ring of 3 nodes everything works";
    if (topology == Topology::kLinks && why.empty() && !AreOneRing(nodes, links)) {
      why = "the links are not one ring of all nodes";
    }
  } else {
    why = fmt::format("topology {} is no ring", ToString(topology));
  }
  if (why.empty()) return;
  errors.Add("manifest-no-effect", ring->position,
             fmt::format("ring: collectives-only has no effect: {}", why), "leave it out");
}

void CheckAllConnected(const std::vector<NodeView>& nodes, const std::vector<LinkView>& links,
                       Position position, ManifestErrors& errors) {
  std::set<std::pair<std::string, std::string>> linked;
  for (const LinkView& link : links) {
    linked.emplace(link.a.node, link.b.node);
    linked.emplace(link.b.node, link.a.node);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t k = i + 1; k < nodes.size(); ++k) {
      if (nodes[i].name == nodes[k].name || linked.contains({nodes[i].name, nodes[k].name}))
        continue;
      return errors.Add(
          "manifest-not-connected", position,
          fmt::format("no link joins {} and {}: stock NCCL needs one between every two nodes",
                      Quoted(nodes[i].name), Quoted(nodes[k].name)),
          nodes.size() <= 3          ? "add the missing cable"
          : AreOneRing(nodes, links) ? std::string(kUseASwitch) + std::string(kOrOptIn)
                                     : std::string(kUseASwitch));
    }
  }
}

}  // namespace

void CheckCabling(const Value& document, ManifestErrors& errors) {
  const Value* fabric = document.Find("fabric");
  if (fabric == nullptr || !fabric->IsMap()) return;
  const std::vector<NodeView> nodes = ViewNodes(document);
  const Value* links = fabric->Find("links");
  const Value* word = fabric->Find("topology");
  if (word == nullptr && links == nullptr) {
    for (const Member& member : fabric->Members()) {
      if (Guess(member.key, {"topology", "links"})) return;  // misspelt, and reported as unknown
    }
    return errors.Add(
        "manifest-missing-key", fabric->position, "missing key 'topology' in fabric",
        "direct (two nodes, one cable), switch, leaf-spine or ring; or links, cable by "
        "cable");
  }
  const auto topology = ViewTopology(document);
  if (!topology) return;
  const Value* list = document.Find("nodes");
  const bool are_known = !HasEmptyEntry(document);
  if (word != nullptr && list != nullptr && list->IsList() && !list->List().empty() && are_known) {
    CheckNodeCount(*topology, list->List().size(), IsCollectivesRing(document), word->position,
                   errors);
  }
  if (*topology == Topology::kRing || *topology == Topology::kLinks) {
    CheckNoCage(*topology, document, nodes, errors);
  }
  const std::vector<LinkView> views = ViewLinks(document);
  if (are_known) CheckRingKey(*topology, document, nodes, views, errors);
  if (links == nullptr) return;
  if (*topology == Topology::kDirect || *topology == Topology::kRing) {
    return errors.Add("manifest-no-effect", links->position,
                      fmt::format("topology {} already defines the cables", ToString(*topology)),
                      "leave out links, or leave out topology");
  }
  const std::size_t before = errors.Count();
  CheckLinkEnds(views, nodes, are_known, errors);
  if (*topology == Topology::kSwitch || *topology == Topology::kLeafSpine) {
    CheckSwitchCages(document, nodes, views, errors);
  }
  const bool complete = are_known && errors.Count() == before && !views.empty() &&
                        views.size() == links->List().size();
  if (*topology != Topology::kLinks || !complete) return;
  const bool one_ring = AreOneRing(nodes, views);
  if (one_ring) CheckRingDirection(views, errors);
  if (!one_ring || !IsCollectivesRing(document)) {
    CheckAllConnected(nodes, views, links->position, errors);
  }
}

}  // namespace reconciler
