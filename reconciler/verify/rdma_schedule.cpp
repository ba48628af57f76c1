#include "reconciler/verify/rdma_schedule.h"

#include <algorithm>
#include <map>
#include <set>

namespace reconciler {
namespace {

using Rounds = std::vector<std::vector<NodePair>>;

// In the order in which pairs come, into the first round that has room: at most twice the number of
// a node's peers. Good where nodes have few.
Rounds FirstFit(const std::vector<NodePair>& pairs) {
  Rounds rounds;
  std::vector<std::set<NodeName>> busy;
  for (const NodePair& pair : pairs) {
    std::size_t round = 0;
    while (round < rounds.size() &&
           (busy[round].contains(pair.a) || busy[round].contains(pair.b))) {
      ++round;
    }
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back();
    }
    rounds[round].push_back(pair);
    busy[round].insert({pair.a, pair.b});
  }
  return rounds;
}

// A round-robin tournament: the last of an even number of players stands still while the others
// turn. Good where everybody meets everybody.
Rounds Tournament(const std::vector<NodePair>& pairs) {
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

}  // namespace

std::vector<NodePair> PairsOf(const Fabric& fabric) {
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
  return pairs;
}

std::vector<std::vector<NodePair>> Schedule(const std::vector<NodePair>& pairs) {
  Rounds few = FirstFit(pairs);
  Rounds many = Tournament(pairs);
  return many.size() < few.size() ? many : few;
}

}  // namespace reconciler
