#include "reconciler/planning/text/sections.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/planning/text/change_groups.h"

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
  std::vector<NodeName> unchanged;
  for (const PlanNode& node : plan.nodes) {
    if (node.unreachable.empty() && !shown.contains(node.name)) unchanged.push_back(node.name);
  }
  for (const PlanNode& node : plan.nodes) {
    const bool is_unchanged = node.unreachable.empty() && !shown.contains(node.name);
    const bool is_said = is_unchanged ? node.name != unchanged.front()
                                      : node.unreachable.empty() && !alone.contains(node.name);
    if (is_said) continue;
    const bool together = is_unchanged && unchanged.size() > 1;
    sections.push_back({.title = together ? FormatNodes(unchanged) : FormatTitle(node),
                        .unreachable = node.unreachable,
                        .changes = alone[node.name]});
  }
  return sections;
}

}  // namespace reconciler
