#include "reconciler/fabric/rdma_schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "reconciler/fabric/analysis.h"

namespace reconciler {
namespace {

using Rounds = std::vector<std::vector<NodePair>>;

// Which nodes transfer in a round.
struct Busy {
  std::set<NodeName> nodes = {};
  bool uplink = false;

  bool HasRoom(const NodePair& pair) const {
    return !nodes.contains(pair.a) && !nodes.contains(pair.b) && !(uplink && pair.shares_uplink);
  }
};

// In the order in which pairs come, into the first round that has room: at most twice the number of
// a node's peers. Good where nodes have few.
Rounds ScheduleFirstFit(const std::vector<NodePair>& pairs) {
  Rounds rounds;
  std::vector<Busy> busy;
  for (const NodePair& pair : pairs) {
    std::size_t round = 0;
    while (round < rounds.size() && !busy[round].HasRoom(pair)) ++round;
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back();
    }
    rounds[round].push_back(pair);
    busy[round].nodes.insert({pair.a, pair.b});
    busy[round].uplink = busy[round].uplink || pair.shares_uplink;
  }
  return rounds;
}

// A round-robin tournament: the last of an even number of players stands still while the others
// turn. Good where everyone meets everyone.
Rounds ScheduleTournament(const std::vector<NodePair>& pairs) {
  std::map<NodeName, std::size_t> place;
  for (const NodePair& pair : pairs) {
    place.try_emplace(pair.a, place.size());
    place.try_emplace(pair.b, place.size());
  }
  const std::size_t players = place.size() + place.size() % 2;
  if (players == 0) return {};
  Rounds rounds(players - 1);
  for (const NodePair& pair : pairs) {
    const auto [low, high] = std::minmax(place.at(pair.a), place.at(pair.b));
    const std::size_t sum = high == players - 1 ? 2 * low : low + high;
    rounds[sum % (players - 1)].push_back(pair);
  }
  std::erase_if(rounds, [](const auto& round) { return round.empty(); });
  return rounds;
}

// The switches that a node's own cables lead to.
std::set<std::string> ListSwitches(const Fabric& fabric, const NodeName& node) {
  std::set<std::string> names;
  for (const Wire& wire : fabric.wires) {
    if (wire.b.on_switch && !wire.a.on_switch && wire.a.device == node) names.insert(wire.b.device);
    if (wire.a.on_switch && !wire.b.on_switch && wire.b.device == node) names.insert(wire.a.device);
  }
  return names;
}

bool Intersect(const std::set<std::string>& some, const std::set<std::string>& others) {
  return std::any_of(some.begin(), some.end(),
                     [&](const std::string& name) { return others.contains(name); });
}

void AddUplinks(std::vector<NodePair>& pairs, const ClusterSpec& cluster, const Fabric& fabric) {
  const bool between_switches =
      std::any_of(fabric.wires.begin(), fabric.wires.end(),
                  [](const Wire& wire) { return wire.a.on_switch && wire.b.on_switch; });
  if (!between_switches) return;
  const std::vector<SwitchLoad> loads = ComputeSwitchLoads(cluster, fabric);
  const bool too_few = std::any_of(loads.begin(), loads.end(),
                                   [](const SwitchLoad& load) { return load.Oversubscribed(); });
  const std::vector<PairReach> reach = ComputeReach(cluster, fabric);
  for (NodePair& pair : pairs) {
    const std::set<std::string> own = ListSwitches(fabric, pair.a);
    const std::set<std::string> others = ListSwitches(fabric, pair.b);
    if (own.empty() || others.empty() || Intersect(own, others)) continue;
    const auto found = std::find_if(reach.begin(), reach.end(), [&](const PairReach& one) {
      return one.a == pair.a && one.b == pair.b;
    });
    if (found != reach.end()) pair.uplink_gbps = found->gbps;
    pair.shares_uplink = too_few;
  }
}

}  // namespace

std::vector<NodePair> ListPairs(const ClusterSpec& cluster, const Fabric& fabric) {
  std::vector<NodePair> pairs;
  std::map<std::pair<NodeName, NodeName>, std::size_t> known;
  for (const Segment& segment : fabric.segments) {
    for (std::size_t i = 0; i < segment.ports.size(); ++i) {
      for (std::size_t j = i + 1; j < segment.ports.size(); ++j) {
        const RailPort& a = segment.ports[i];
        const RailPort& b = segment.ports[j];
        if (a.node == b.node) continue;
        const auto [at, is_new] = known.try_emplace({a.node, b.node}, pairs.size());
        if (is_new) pairs.push_back({.a = a.node, .b = b.node});
        pairs[at->second].rails.emplace_back(a, b);
      }
    }
  }
  AddUplinks(pairs, cluster, fabric);
  return pairs;
}

std::vector<std::vector<NodePair>> Schedule(const std::vector<NodePair>& pairs) {
  Rounds few = ScheduleFirstFit(pairs);
  // A tournament knows nothing of cables between switches.
  if (std::any_of(pairs.begin(), pairs.end(),
                  [](const NodePair& pair) { return pair.shares_uplink; })) {
    return few;
  }
  Rounds many = ScheduleTournament(pairs);
  return many.size() < few.size() ? many : few;
}

}  // namespace reconciler
