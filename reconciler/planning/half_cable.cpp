#include "reconciler/planning/half_cable.h"

#include <fmt/format.h>

#include <set>

#include "reconciler/base/text.h"
#include "reconciler/model/find.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

// In use: the interface has an address of the rail's subnet, or any other when the subnet itself is
// what changes.
bool IsInUse(const RailPort& port, const ClusterFacts& facts) {
  const auto node = facts.nodes.find(port.node);
  if (node == facts.nodes.end()) return false;
  const auto link = node->second.links.find(port.netdev);
  return link != node->second.links.end() && !link->second.ipv4.empty();
}

// Blocked ones too; may be null.
const Change* FindLinkChange(const Plan& plan, const RailPort& port) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.is_link && change.node == port.node && change.name == port.netdev) return &change;
    }
  }
  return nullptr;
}

// Why this end stays as it is although it should not; empty: it changes, or holds already.
std::string ExplainStuck(const Plan& plan, const RailPort& port) {
  const PlanNode* node = FindNode(plan, port.node);
  if (node == nullptr) return "it is not part of this apply";
  if (!node->unreachable.empty()) return "not reached: " + node->unreachable;
  const Change* change = FindLinkChange(plan, port);
  if (change == nullptr || change->change != ChangeKind::kBlocked) return {};
  return change->name + " is blocked: " + change->detail;
}

}  // namespace

std::vector<std::string> FindHalfCables(const Plan& plan, const Fabric& fabric,
                                        const ClusterFacts& facts) {
  std::set<std::string> lines;
  for (const Segment& segment : fabric.segments) {
    for (const RailPort& port : segment.ports) {
      const Change* change = FindLinkChange(plan, port);
      if (change == nullptr || change->change == ChangeKind::kBlocked || !IsInUse(port, facts))
        continue;
      for (const RailPort& other : segment.ports) {
        const std::string why = other.node == port.node ? "" : ExplainStuck(plan, other);
        if (why.empty()) continue;
        lines.insert(fmt::format("{}: {} would change, and {} at the other end stays as it is: {}",
                                 port.node, port.netdev, other.node, MakePrintable(why)));
      }
    }
  }
  return {lines.begin(), lines.end()};
}

}  // namespace reconciler
