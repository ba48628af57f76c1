#include "reconciler/planning/text/change_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reconciler/planning/text/change_words.h"

namespace reconciler {
namespace {

using Places = std::vector<std::size_t>;  // of nodes in the plan

struct SharedChange {
  const Change* first = nullptr;
  Places nodes = {};
};

// Equal for two changes whose lines differ in nothing but the node.
std::string MakeKey(const Change& change) {
  constexpr char kEnd = '\0';  // no field holds it, or its change is blocked
  std::string key;
  for (const std::string& part :
       {change.kind, change.name, FormatDetail(change, /*several=*/true), change.code, change.diff,
        change.where.file, FormatTail(change)}) {
    key += part;
    key += kEnd;
  }
  return key + fmt::format("{} {} {} {}", static_cast<int>(change.change),
                           static_cast<int>(change.impact), change.deferred,
                           change.where.position.line);
}

std::vector<SharedChange> ListShared(const Plan& plan) {
  std::map<NodeName, std::size_t> places;
  for (const PlanNode& node : plan.nodes) places.emplace(node.name, places.size());
  std::vector<SharedChange> shared;
  std::map<std::string, std::size_t> known;                       // by key
  std::map<std::pair<NodeName, std::string>, std::size_t> times;  // that a node has a key
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      const auto place = places.find(change.node);
      if (place == places.end()) continue;
      std::string key = MakeKey(change);
      key += fmt::format(" {}", times[{change.node, key}]++);
      const auto [found, added] = known.emplace(std::move(key), shared.size());
      if (added) shared.push_back({.first = &change});
      shared[found->second].nodes.push_back(place->second);
    }
  }
  return shared;
}

}  // namespace

std::string FormatDetail(const Change& change, bool several) {
  if (!several || change.code != "plan-need-blocked") return change.detail;
  const std::string own = fmt::format(" of {}, which", change.node);
  const std::size_t at = change.detail.find(own);
  if (at == std::string::npos) return change.detail;
  return change.detail.substr(0, at) + " of the same node, which" +
         change.detail.substr(at + own.size());
}

std::vector<ChangeGroup> GroupChanges(const Plan& plan) {
  std::map<Places, ChangeGroup> by_nodes;  // in the order of the nodes
  for (SharedChange& one : ListShared(plan)) {
    std::sort(one.nodes.begin(), one.nodes.end());
    by_nodes[one.nodes].changes.push_back(one.first);
  }
  std::vector<ChangeGroup> groups;
  for (auto& [places, group] : by_nodes) {
    for (const std::size_t place : places) group.nodes.push_back(plan.nodes[place].name);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const ChangeGroup& a, const ChangeGroup& b) {
    return a.nodes.size() > b.nodes.size();
  });
  return groups;
}

}  // namespace reconciler
