#include "reconciler/planning/drift/node_drift.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::string FormatDifference(const Change& change) {
  return MakePrintable(fmt::format("{}{}{} {}{}{}", change.cause.HasDrifted() ? "drifted: " : "",
                                   change.change == ChangeKind::kBlocked ? "blocked: " : "",
                                   change.kind, change.name, change.detail.empty() ? "" : ": ",
                                   change.detail));
}

bool Concerns(const Diagnostic& diagnostic, const NodeName& node) {
  const std::vector<std::string>& nodes = diagnostic.nodes;
  if (node.empty()) return nodes.empty();
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void AddDiagnostics(const Plan& plan, NodeDrift& drift) {
  for (const Diagnostic& one : plan.diagnostics) {
    // The line of a blocked change has its diagnostic already.
    const bool counts = one.severity != Severity::kInforms && one.change.empty();
    if (!counts || !Concerns(one, drift.node)) continue;
    drift.differences.push_back(MakePrintable(fmt::format("{} [{}]", one.message, one.code)));
  }
}

NodeDrift FindDrift(const Plan& plan, const PlanNode& node) {
  NodeDrift drift{.node = node.name, .unreachable = node.unreachable};
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.node != node.name) continue;
      ++(change.change == ChangeKind::kBlocked ? drift.blocked : drift.changes);
      drift.drifted += change.cause.HasDrifted() ? 1 : 0;
      drift.differences.push_back(FormatDifference(change));
    }
  }
  AddDiagnostics(plan, drift);
  return drift;
}

}  // namespace

std::vector<NodeDrift> ListDrift(const Plan& plan) {
  std::vector<NodeDrift> all;
  for (const PlanNode& node : plan.nodes) all.push_back(FindDrift(plan, node));
  return all;
}

NodeDrift FindDriftOfCluster(const Plan& plan) {
  NodeDrift drift;
  AddDiagnostics(plan, drift);
  return drift;
}

}  // namespace reconciler
