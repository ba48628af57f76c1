#include "reconciler/planning/half_cable.h"

#include <fmt/format.h>

#include <algorithm>
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

// Its node was read, and has no such interface.
bool IsMissing(const RailPort& port, const ClusterFacts& facts) {
  const auto node = facts.nodes.find(port.node);
  return node != facts.nodes.end() && Known(node->second.network.links) != nullptr &&
         !node->second.links.contains(port.netdev);
}

// Whether a rail has the ports of both nodes, so that they can see each other's beacons.
bool HaveRail(const NodeName& one, const NodeName& other, const Fabric& fabric,
              const ClusterFacts& facts) {
  return std::any_of(fabric.segments.begin(), fabric.segments.end(), [&](const Segment& segment) {
    const RailPort* a = FindPort(segment, one);
    const RailPort* b = FindPort(segment, other);
    return a != nullptr && b != nullptr && !IsMissing(*a, facts) && !IsMissing(*b, facts);
  });
}

// Whether `port` harms no one at the other end, since there is none.
bool MayChangeAlone(const RailPort& port, const RailPort& other, const Fabric& fabric,
                    const ClusterFacts& facts) {
  return IsMissing(other, facts) && !IsInUse(port, facts) &&
         HaveRail(port.node, other.node, fabric, facts);
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

bool ChangesLink(const Change* change) {
  return change != nullptr && change->change != ChangeKind::kBlocked;
}

// Why this end stays as it is although it should not; empty: it changes, or holds already.
std::string ExplainStuck(const Plan& plan, const Plan& now, const RailPort& port) {
  const PlanNode* node = FindNode(plan, port.node);
  // An uninstall of one node is meant to cut it off.
  if (node == nullptr) return plan.uninstall ? "" : "it is not part of this apply";
  if (!node->unreachable.empty()) return "not reached: " + node->unreachable;
  const Change* change = FindLinkChange(plan, port);
  if (change == nullptr && !plan.uninstall && ChangesLink(FindLinkChange(now, port))) {
    return port.netdev + " differs there too, and is not in the plan: make a new one";
  }
  if (change == nullptr || change->change != ChangeKind::kBlocked) return {};
  return change->name + " is blocked: " + change->detail;
}

// Whether it matters that the change is made at this end only.
bool NeedsOtherEnd(const Segment& segment, const RailPort& port, const Change& change,
                   const ClusterFacts& facts) {
  return (segment.IsCable() && !change.prune) || IsInUse(port, facts);
}

// To the one that says the same of other nodes, or as a new one.
void AddHalfCable(const Change& change, const RailPort& other, const std::string& why,
                  std::vector<Diagnostic>& found) {
  const std::string message =
      fmt::format("{} would change, and {} at the other end stays as it is: {}", change.name,
                  other.node, MakePrintable(why));
  for (Diagnostic& one : found) {
    if (one.message == message) return one.nodes.push_back(change.node);
  }
  found.push_back({.severity = Severity::kWarns,
                   .code = "plan-half-cable",
                   .message = message,
                   .next_step =
                       "apply refuses this: make that node ready, name it with --node too, "
                       "or give --allow-half-cables",
                   .where = change.where,
                   .subject = change.name,
                   .nodes = {change.node}});
}

std::vector<Diagnostic> ListHalfCables(const Plan& plan, const Plan& now, const Fabric& fabric,
                                       const ClusterFacts& facts) {
  std::vector<Diagnostic> found;
  for (const Segment& segment : fabric.segments) {
    for (const RailPort& port : segment.ports) {
      const Change* change = FindLinkChange(plan, port);
      if (!ChangesLink(change) || !NeedsOtherEnd(segment, port, *change, facts)) continue;
      for (const RailPort& other : segment.ports) {
        const bool is_free = other.node == port.node || MayChangeAlone(port, other, fabric, facts);
        const std::string why = is_free ? "" : ExplainStuck(plan, now, other);
        if (!why.empty()) AddHalfCable(*change, other, why, found);
      }
    }
  }
  return found;
}

}  // namespace

std::vector<Segment> ListJointCables(const Fabric& fabric, const ClusterFacts& facts) {
  std::vector<Segment> joint;
  for (const Segment& segment : fabric.segments) {
    if (!segment.IsCable()) continue;
    const RailPort& a = segment.ports.front();
    const RailPort& b = segment.ports.back();
    if (!MayChangeAlone(a, b, fabric, facts) && !MayChangeAlone(b, a, fabric, facts))
      joint.push_back(segment);
  }
  return joint;
}

std::vector<Diagnostic> DiagnoseHalfCables(const Plan& plan, const Fabric& fabric,
                                           const ClusterFacts& facts) {
  return ListHalfCables(plan, plan, fabric, facts);
}

std::vector<std::string> FindHalfCables(const Plan& plan, const Plan& now, const Fabric& fabric,
                                        const ClusterFacts& facts) {
  std::set<std::string> lines;
  for (const Diagnostic& one : ListHalfCables(plan, now, fabric, facts)) {
    for (const NodeName& node : one.nodes) lines.insert(node + ": " + one.message);
  }
  return {lines.begin(), lines.end()};
}

std::vector<const Change*> ListBlockedPorts(const Plan& plan, const Fabric& fabric) {
  std::vector<const Change*> blocked;
  for (const auto& [node, ports] : fabric.ports) {
    for (const RailPort& port : ports) {
      const Change* change = FindLinkChange(plan, port);
      if (change != nullptr && !ChangesLink(change)) blocked.push_back(change);
    }
  }
  return blocked;
}

}  // namespace reconciler
