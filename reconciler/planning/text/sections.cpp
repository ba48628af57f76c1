#include "reconciler/planning/text/sections.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/planning/text/change_groups.h"
#include "reconciler/planning/text/overridden.h"

namespace reconciler {
namespace {

// "spark-1, spark-2 (2 nodes)"
std::string FormatNodes(const std::vector<NodeName>& nodes) {
  return fmt::format("{} ({})", MakePrintable(Join(nodes, ", ")),
                     FormatPlural(nodes.size(), "node", "nodes"));
}

std::string FormatTitle(const PlanNode& node) {
  return fmt::format("{}  {}", MakePrintable(node.name), MakePrintable(node.address));
}

// Nodes without a change, by whether something wins over what is there.
using Unchanged = std::map<bool, std::vector<NodeName>>;

Unchanged ListUnchanged(const Plan& plan, const std::set<NodeName>& shown) {
  Unchanged unchanged = {{false, {}}, {true, {}}};
  for (const PlanNode& node : plan.nodes) {
    if (!node.unreachable.empty() || shown.contains(node.name)) continue;
    unchanged.at(IsOverridden(plan, node.name)).push_back(node.name);
  }
  return unchanged;
}

}  // namespace

std::vector<Section> ListSections(const Plan& plan) {
  std::vector<Section> sections;
  std::set<NodeName> shown;  // with a change somewhere
  std::map<NodeName, std::vector<const Change*>> alone;
  for (ChangeGroup& group : GroupChanges(plan)) {
    shown.insert(group.nodes.begin(), group.nodes.end());
    if (group.nodes.size() == 1) {
      alone[group.nodes.front()] = std::move(group.changes);
    } else {
      sections.push_back(
          {.title = FormatNodes(group.nodes), .several = true, .changes = group.changes});
    }
  }
  const Unchanged unchanged = ListUnchanged(plan, shown);
  for (const PlanNode& node : plan.nodes) {
    const bool is_unchanged = node.unreachable.empty() && !shown.contains(node.name);
    const bool overridden = is_unchanged && IsOverridden(plan, node.name);
    const std::vector<NodeName>& alike = unchanged.at(overridden);
    const bool is_said = is_unchanged ? node.name != alike.front()
                                      : node.unreachable.empty() && !alone.contains(node.name);
    if (is_said) continue;
    const bool together = is_unchanged && alike.size() > 1;
    sections.push_back({.title = together ? FormatNodes(alike) : FormatTitle(node),
                        .unreachable = node.unreachable,
                        .overridden = overridden,
                        .changes = alone[node.name]});
  }
  return sections;
}

}  // namespace reconciler
