#include "reconciler/discovery/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

bool IsOnSwitch(const CageView& cage) {
  return !cage.neighbours.switches.empty() || cage.neighbours.cages.size() > 1;
}

bool IsHeardBySwitch(const CageViews& cages, const CageId& id) {
  return std::any_of(cages.begin(), cages.end(), [&](const auto& entry) {
    return IsOnSwitch(entry.second) && entry.second.neighbours.cages.contains(id);
  });
}

void FindOnSwitch(const ClusterSpec& cluster, const CageViews& cages, FoundTopology& found) {
  for (const auto& [id, cage] : cages) {
    if (!IsOnSwitch(cage) && !IsHeardBySwitch(cages, id)) continue;
    const auto [first, added] = found.on_switch.emplace(id.node, id.cage);
    if (!added) {
      found.gaps.push_back(fmt::format("{} has both cages on a switch: the manifest takes {}",
                                       id.node, first->second));
    }
  }
  if (found.on_switch.empty()) return;
  for (const NodeSpec& node : cluster.nodes) {
    if (!found.on_switch.contains(node.name)) {
      found.gaps.push_back(fmt::format("{}: no cage of it was found on the switch", node.name));
    }
  }
}

std::size_t GetPlace(const ClusterSpec& cluster, const NodeName& node) {
  const auto found = std::find_if(cluster.nodes.begin(), cluster.nodes.end(),
                                  [&](const NodeSpec& one) { return one.name == node; });
  return static_cast<std::size_t>(found - cluster.nodes.begin());
}

// One end that hears the other is enough: the other may have no address to answer from. Returns the
// cages of cables from a node to itself.
std::set<CageId> FindCables(const ClusterSpec& cluster, const CageViews& cages,
                            FoundTopology& found) {
  std::set<CageId> looped;
  std::set<std::array<CageId, 2>> seen;
  const auto place = [&](const CageId& one) {
    return std::tuple(GetPlace(cluster, one.node), one.cage);
  };
  for (const auto& [id, cage] : cages) {
    if (IsOnSwitch(cage) || IsHeardBySwitch(cages, id)) continue;
    for (const CageId& other : cage.neighbours.cages) {
      std::array<CageId, 2> ends = {id, other};
      if (place(other) < place(id)) std::swap(ends[0], ends[1]);
      if (!seen.insert(ends).second) continue;
      if (id.node != other.node) {
        found.cables.push_back(ends);
        continue;
      }
      looped.insert(ends.begin(), ends.end());
      found.gaps.push_back(
          fmt::format("one cable has both ends in {}, its {} and its {}: it leads "
                      "to no other node",
                      id.node, FormatCageNoun(ends[0]), FormatCageNoun(ends[1])));
    }
  }
  std::sort(found.cables.begin(), found.cables.end(), [&](const auto& one, const auto& other) {
    const auto key = [&](const auto& ends) {
      return std::tuple(GetPlace(cluster, ends[0].node), GetPlace(cluster, ends[1].node),
                        ends[0].cage, ends[1].cage);
    };
    return key(one) < key(other);
  });
  return looped;
}

// What the manifest would not say.
void FindStrangers(const CageViews& cages, FoundTopology& found) {
  for (const auto& [id, cage] : cages) {
    if (IsOnSwitch(cage)) continue;  // others on a switch are no part of the cluster
    for (const std::string& stranger : cage.neighbours.strangers) {
      found.gaps.push_back(fmt::format("{}: {} answers there, and was not named", DescribeCage(id),
                                       MakePrintable(stranger)));
    }
  }
}

void FindNodesApart(const ClusterSpec& cluster, FoundTopology& found) {
  for (const NodeSpec& node : cluster.nodes) {
    const bool has_cable = std::any_of(
        found.cables.begin(), found.cables.end(),
        [&](const auto& ends) { return ends[0].node == node.name || ends[1].node == node.name; });
    if (!has_cable) {
      found.gaps.push_back(
          fmt::format("{}: no cable to another of the nodes was found", node.name));
    }
  }
}

std::string DescribeState(PortState state) {
  switch (state) {
    case PortState::kMissing:
      return "not there";
    case PortState::kDown:
      return "switched off";
    case PortState::kNoCarrier:
      return "no carrier";
    case PortState::kLink:
      break;
  }
  return "a link, but nothing answers";
}

// The cage with a link, where it is one of a node's two; else the one that the other nodes have.
void GuessCages(const ClusterSpec& cluster, const CageViews& cages, FoundTopology& found) {
  std::map<NodeName, std::vector<std::string>> linked;
  for (const auto& [id, cage] : cages) {
    if (cage.state == PortState::kLink) linked[id.node].push_back(id.cage);
  }
  std::set<std::string> known;
  for (const auto& [node, names] : linked) {
    if (names.size() == 1) known.insert(names.front());
  }
  const std::string usual = known.size() == 1 ? *known.begin() : "p1";
  for (const NodeSpec& node : cluster.nodes) {
    const std::vector<std::string>& names = linked[node.name];
    found.likely[node.name] = names.size() == 1 ? names.front() : usual;
  }
}

}  // namespace

FoundTopology FindTopology(const ClusterSpec& cluster, const CageViews& cages) {
  FoundTopology found;
  FindOnSwitch(cluster, cages, found);
  const std::set<CageId> looped = FindCables(cluster, cages, found);
  FindStrangers(cages, found);
  if (!found.on_switch.empty()) {
    for (const auto& [one, other] : found.cables) {
      found.gaps.push_back(
          fmt::format("a cable between {} and {}, beside the switch: add it to `links`",
                      DescribeCage(one), DescribeCage(other)));
    }
    return found;
  }
  if (!found.cables.empty()) {
    FindNodesApart(cluster, found);
    return found;
  }
  CageViews rest = cages;
  for (const CageId& id : looped) rest.erase(id);
  GuessCages(cluster, rest, found);
  for (const auto& [id, cage] : rest) {
    found.gaps.push_back(fmt::format("{}: {}, so that no cable was found", DescribeCage(id),
                                     DescribeState(cage.state)));
  }
  return found;
}

}  // namespace reconciler
