#include "reconciler/planning/text/status_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/planning/text/overridden.h"

namespace reconciler {
namespace {

std::string_view FormatState(NodeState state) {
  switch (state) {
    case NodeState::kInSync:
      return "in sync";
    case NodeState::kOverridden:
      return "overridden";
    case NodeState::kPending:
      return "pending";
    case NodeState::kDrifted:
      return "drifted";
    case NodeState::kBlocked:
      return "blocked";
    case NodeState::kUnfinished:
      return "unfinished";
    case NodeState::kUnreachable:
      return "unreachable";
  }
  return "";
}

std::vector<const Change*> ListChangesOf(const Plan& plan, const NodeName& node) {
  std::vector<const Change*> changes;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.node == node) changes.push_back(&change);
    }
  }
  return changes;
}

bool IsBlockedChange(const Change* change) { return change->change == ChangeKind::kBlocked; }

// A file that the manifest no longer requires may have been edited too.
bool HasDrifted(const Change* change) {
  return change->code == "plan-file-edited" || change->cause.HasDrifted();
}

// "2026-01-31 12:00" of "2026-01-31T12:00:00Z"; other text as it is.
std::string ShortenTime(const std::string& time) {
  constexpr std::size_t kMinutes = 16;
  if (time.size() <= kMinutes || time[10] != 'T') return MakePrintable(time);
  return MakePrintable(time.substr(0, 10) + " " + time.substr(11, kMinutes - 11));
}

std::string FormatRowsOf(const Plan& plan, const ClusterFacts& facts,
                         const std::map<NodeName, LastApply>& applies, std::size_t columns) {
  constexpr std::string_view kNone = "-";
  std::vector<std::vector<std::string>> rows = {
      {"node", "state", "generation", "applied (UTC)", "verify", "by"}};
  for (const PlanNode& node : plan.nodes) {
    const auto found = applies.find(node.name);
    const int generation = found == applies.end()
                               ? node.generation
                               : std::max(node.generation, found->second.generation);
    std::vector<std::string> row = {
        MakePrintable(node.name), std::string(FormatState(FindNodeState(plan, facts, node.name))),
        generation > 0 ? std::to_string(generation) : std::string(kNone)};
    if (found != applies.end()) {
      const LastApply& last = found->second;
      row.push_back(ShortenTime(last.time));
      row.push_back(last.verification.empty() ? "not run" : MakePrintable(last.verification));
      row.push_back(MakePrintable(last.by));
    } else {
      row.insert(row.end(), 3, std::string(kNone));
    }
    rows.push_back(std::move(row));
  }
  const std::string table = FormatTable(rows);
  if (columns == 0) return table;
  std::string text;
  for (const std::string& line : SplitLines(table)) text += ShortenTo(line, columns) + '\n';
  return text;
}

// "2 changes, 1 blocked, 1 warning"; empty: none.
std::string CountProblems(const Plan& plan, const NodeName& node) {
  const std::vector<const Change*> changes = ListChangesOf(plan, node);
  const auto blocked =
      static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), IsBlockedChange));
  const auto warnings = static_cast<std::size_t>(
      std::count_if(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& one) {
        return one.severity == Severity::kWarns &&
               std::find(one.nodes.begin(), one.nodes.end(), node) != one.nodes.end();
      }));
  std::vector<std::string> parts;
  if (const std::size_t count = changes.size() - blocked; count > 0) {
    parts.push_back(FormatPlural(count, "change", "changes"));
  }
  if (blocked > 0) parts.push_back(fmt::format("{} blocked", blocked));
  if (warnings > 0) parts.push_back(FormatPlural(warnings, "warning", "warnings"));
  return Join(parts, ", ");
}

// What else there is to know about a node.
std::vector<std::string> ListRemarks(const Plan& plan, const ClusterFacts& facts,
                                     const PlanNode& node) {
  if (!node.unreachable.empty()) return {"not reached: " + MakePrintable(node.unreachable)};
  std::vector<std::string> remarks = {CountProblems(plan, node.name)};
  if (const auto found = facts.nodes.find(node.name); found != facts.nodes.end()) {
    remarks.push_back(MakePrintable(FormatApplyState(found->second)));
    if (const auto* unknown = std::get_if<Unknown>(&found->second.ledger)) {
      remarks.push_back(
          fmt::format("{} cannot be read: {}", kLedgerFile, MakePrintable(unknown->why)));
    }
  }
  for (const Change* change : ListChangesOf(plan, node.name)) {
    if (change->owner.name.empty() || change->owner.claims.empty()) continue;
    std::string claims = fmt::format("{} configures {}", MakePrintable(change->owner.name),
                                     MakePrintable(Join(change->owner.claims, ", ")));
    const bool is_said = std::find(remarks.begin(), remarks.end(), claims) != remarks.end();
    if (!is_said) remarks.push_back(std::move(claims));
  }
  std::erase(remarks, "");
  return remarks;
}

// Each remark once: "spark-1, spark-2: 3 changes".
std::string FormatRemarks(const Plan& plan, const ClusterFacts& facts) {
  std::vector<std::pair<std::string, std::vector<NodeName>>> remarks;
  for (const PlanNode& node : plan.nodes) {
    for (const std::string& remark : ListRemarks(plan, facts, node)) {
      auto known = std::find_if(remarks.begin(), remarks.end(),
                                [&](const auto& one) { return one.first == remark; });
      if (known == remarks.end()) {
        remarks.emplace_back(remark, std::vector<NodeName>());
        known = remarks.end() - 1;
      }
      known->second.push_back(node.name);
    }
  }
  std::string text;
  for (const auto& [remark, nodes] : remarks) {
    text += fmt::format("{}: {}\n", MakePrintable(Join(nodes, ", ")), remark);
  }
  return text;
}

// "1 in sync, 1 drifted. `plan` shows what differs."
std::string FormatSummary(const Plan& plan, const ClusterFacts& facts) {
  std::map<NodeState, std::size_t> counts;
  for (const PlanNode& node : plan.nodes) ++counts[FindNodeState(plan, facts, node.name)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) {
    parts.push_back(fmt::format("{} {}", count, FormatState(state)));
  }
  return Join(parts, ", ") + (plan.IsPending() ? ". `plan` shows what differs.\n" : ".\n");
}

}  // namespace

NodeState FindNodeState(const Plan& plan, const ClusterFacts& facts, const NodeName& node) {
  const auto found = facts.nodes.find(node);
  if (found == facts.nodes.end()) return NodeState::kUnreachable;
  if (!FormatApplyState(found->second).empty()) return NodeState::kUnfinished;
  const std::vector<const Change*> changes = ListChangesOf(plan, node);
  if (changes.empty()) {
    return IsOverridden(plan, node) ? NodeState::kOverridden : NodeState::kInSync;
  }
  if (std::any_of(changes.begin(), changes.end(), HasDrifted)) return NodeState::kDrifted;
  return std::all_of(changes.begin(), changes.end(), IsBlockedChange) ? NodeState::kBlocked
                                                                      : NodeState::kPending;
}

std::string RenderStatus(const Plan& plan, const ClusterFacts& facts,
                         const std::map<NodeName, LastApply>& applies, std::size_t columns) {
  const std::string head =
      fmt::format("{} · {}\n", MakePrintable(plan.cluster), MakePrintable(plan.summary));
  return WrapLines(head, columns) + FormatRowsOf(plan, facts, applies, columns) +
         WrapLines(FormatRemarks(plan, facts) + FormatSummary(plan, facts), columns);
}

}  // namespace reconciler
