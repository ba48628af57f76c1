#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/spec/cabling_view.h"
#include "reconciler/spec/cross_check.h"
#include "reconciler/spec/node_view.h"
#include "reconciler/spec/wording.h"

namespace reconciler {
namespace {

// Stock NCCL connects nodes in trees as well as rings, so every two nodes need a common subnet.
constexpr std::string_view kUseASwitch = "cable them to a switch, topology: switch";

void CheckNodeCount(Topology topology, std::size_t count, Position position, Problems& problems) {
  const std::string found = Plural(count, "node", "nodes");
  switch (topology) {
    case Topology::kDirect:
      if (count == 2) return;
      return problems.Add(position, "wanted 2 nodes for topology direct, found " + found,
                          count > 2 ? "more than two nodes need a switch (or a ring of three)"
                                    : "a fabric begins with two nodes");
    case Topology::kRing:
      if (count == 3) return;
      if (count < 3) {
        return problems.Add(position, "wanted 3 nodes for topology ring, found " + found,
                            "two nodes are topology: direct");
      }
      return problems.Add(position,
                          fmt::format("a ring of {} cannot work with stock NCCL: nodes that are "
                                      "not neighbours share no cable",
                                      found),
                          std::string(kUseASwitch));
    case Topology::kSwitch:
      if (count >= 2) return;
      return problems.Add(position, "wanted at least 2 nodes for topology switch, found " + found,
                          "a fabric begins with two nodes");
    case Topology::kLeafSpine:
    case Topology::kLinks:
      return;
  }
}

// Where both ends of every cable are said otherwise, a cage would be a setting without effect.
void CheckNoCage(Topology topology, const Value& document, const std::vector<NodeView>& nodes,
                 Problems& problems) {
  const std::string reason = topology == Topology::kRing ? "a ring has a cable in both cages"
                                                         : "the links name both ends of each cable";
  const auto check = [&](const Value* cage, const std::string& of) {
    if (cage == nullptr) return;
    problems.Add(cage->position, fmt::format("cage of {} has no effect: {}", of, reason),
                 "leave it out");
  };
  check(document.At({"fabric", "cage"}), "fabric");
  for (const NodeView& node : nodes) check(node.entry->Find("cage"), "node " + Quoted(node.name));
}

void CheckLinkEnds(const std::vector<LinkView>& links, const std::vector<std::string>& known,
                   Problems& problems) {
  std::map<std::pair<std::string, std::string>, Position> used;
  for (const LinkView& link : links) {
    if (link.a.node == link.b.node) {
      problems.Add(link.position,
                   fmt::format("this link joins node {} to itself", Quoted(link.a.node)));
    }
    for (const LinkEnd* end : {&link.a, &link.b}) {
      if (std::find(known.begin(), known.end(), end->node) == known.end()) {
        problems.Add(end->position, fmt::format("unknown node {} in links{}", Quoted(end->node),
                                                GuessSuffix(end->node, known)));
      }
      const auto [first, fresh] = used.emplace(std::pair(end->node, end->cage), end->position);
      if (fresh) continue;
      problems.Add(end->position,
                   fmt::format("cage {} of node {} has two cables, the other at {}", end->cage,
                               Quoted(end->node), problems.Mark(first->second)),
                   "a cage takes one cable");
    }
  }
}

// Pair cables beside a switch: the cage with the switch's cable is taken.
void CheckSwitchCages(const Value& document, const std::vector<NodeView>& nodes,
                      const std::vector<LinkView>& links, Problems& problems) {
  for (const NodeView& node : nodes) {
    const std::string cage = CageOf(document, *node.entry);
    for (const LinkView& link : links) {
      for (const LinkEnd* end : {&link.a, &link.b}) {
        if (end->node != node.name || end->cage != cage) continue;
        problems.Add(end->position,
                     fmt::format("cage {} of node {} has the cable to the switch already", cage,
                                 Quoted(node.name)),
                     "use the other cage for the pair cable");
      }
    }
  }
}

void CheckAllConnected(const std::vector<NodeView>& nodes, const std::vector<LinkView>& links,
                       Position position, Problems& problems) {
  std::set<std::pair<std::string, std::string>> joined;
  for (const LinkView& link : links) {
    joined.emplace(link.a.node, link.b.node);
    joined.emplace(link.b.node, link.a.node);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t k = i + 1; k < nodes.size(); ++k) {
      if (nodes[i].name == nodes[k].name || joined.contains({nodes[i].name, nodes[k].name}))
        continue;
      return problems.Add(
          position,
          fmt::format("no link joins {} and {}: stock NCCL needs one between every two nodes",
                      Quoted(nodes[i].name), Quoted(nodes[k].name)),
          nodes.size() > 3 ? std::string(kUseASwitch) : "add the missing cable");
    }
  }
}

}  // namespace

void CheckCabling(const Value& document, Problems& problems) {
  const Value* fabric = document.Find("fabric");
  if (fabric == nullptr || !fabric->IsMap()) return;
  const std::vector<NodeView> nodes = ViewNodes(document);
  const Value* links = fabric->Find("links");
  const Value* word = fabric->Find("topology");
  if (word == nullptr && links == nullptr) {
    for (const Member& member : fabric->Members()) {
      if (Guess(member.key, {"topology", "links"})) return;  // misspelt, and reported as unknown
    }
    return problems.Add(fabric->position, "missing key 'topology' in fabric",
                        "direct (two nodes, one cable), switch or ring; or links, cable by cable");
  }
  const auto topology = ViewTopology(document);
  if (!topology) return;
  const Value* list = document.Find("nodes");
  if (word != nullptr && list != nullptr && list->IsList() && !list->List().empty()) {
    CheckNodeCount(*topology, list->List().size(), word->position, problems);
  }
  if (*topology == Topology::kRing || *topology == Topology::kLinks) {
    CheckNoCage(*topology, document, nodes, problems);
  }
  if (links == nullptr) return;
  if (*topology == Topology::kDirect || *topology == Topology::kRing) {
    return problems.Add(
        links->position,
        fmt::format("topology {} says already where the cables are", ToString(*topology)),
        "leave out links, or leave out topology");
  }
  const std::vector<LinkView> views = ViewLinks(document);
  const std::size_t before = problems.Count();
  CheckLinkEnds(views, Names(nodes), problems);
  if (*topology == Topology::kSwitch) CheckSwitchCages(document, nodes, views, problems);
  const bool complete = problems.Count() == before && views.size() == links->List().size();
  if (*topology == Topology::kLinks && complete) {
    CheckAllConnected(nodes, views, links->position, problems);
  }
}

}  // namespace reconciler
