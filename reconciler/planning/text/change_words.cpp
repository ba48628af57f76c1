#include "reconciler/planning/text/change_words.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/planning/text/change_groups.h"

namespace reconciler {
namespace {

// What a sign means, in the legend.
std::string_view DescribeKind(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdd:
      return "created";
    case ChangeKind::kModify:
      return "changed";
    case ChangeKind::kRemove:
      return "removed";
    case ChangeKind::kAdopt:
      return "taken over";
    case ChangeKind::kBlocked:
      return "blocked";
  }
  return "";
}

// On the line of a change and in the legend; empty: the line says it already, or nothing is known.
std::string_view NameCause(CauseKind kind) {
  switch (kind) {
    case CauseKind::kNew:
      return "new";
    case CauseKind::kManifestChanged:
      return "manifest changed";
    case CauseKind::kDesiredChanged:
      return "other values";
    case CauseKind::kDrifted:
      return "drifted";
    case CauseKind::kDriftedAndChanged:
      return "drifted, manifest changed";
    case CauseKind::kUnknown:
    case CauseKind::kFirstApply:
    case CauseKind::kNotRequired:
      return "";
  }
  return "";
}

std::string_view ExplainCause(CauseKind kind) {
  switch (kind) {
    case CauseKind::kNew:
      return "was not applied before";
    case CauseKind::kManifestChanged:
      return "is as an earlier manifest had it";
    case CauseKind::kDesiredChanged:
      return "of other nodes, or of this version";
    case CauseKind::kDrifted:
      return "differs from what was applied";
    case CauseKind::kDriftedAndChanged:
      return "both, since it was applied";
    case CauseKind::kUnknown:
    case CauseKind::kFirstApply:
    case CauseKind::kNotRequired:
      return "";
  }
  return "";
}

// "drifted from 1400, manifest changed": where the line does not show what was applied.
std::string FormatCause(const ChangeCause& cause) {
  const bool shows_applied =
      cause.kind != CauseKind::kDriftedAndChanged || cause.applied.value_or("").empty();
  if (shows_applied) return std::string(NameCause(cause.kind));
  return fmt::format("drifted from {}, manifest changed", MakePrintable(*cause.applied));
}

// "first apply to spark-1, spark-2"; empty: to none.
std::string FormatFirstApplies(const Plan& plan) {
  std::set<NodeName> first;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.cause.kind == CauseKind::kFirstApply) first.insert(change.node);
    }
  }
  std::vector<NodeName> names;
  for (const PlanNode& node : plan.nodes) {
    if (first.contains(node.name)) names.push_back(node.name);
  }
  return names.empty() ? "" : "first apply to " + MakePrintable(Join(names, ", "));
}

std::string_view FormatImpact(Impact impact) {
  switch (impact) {
    case Impact::kNone:
      return "";
    case Impact::kServiceRestart:
      return "restarts a service";
    case Impact::kLinkFlap:
      return "flaps the link";
    case Impact::kReboot:
      return "needs a reboot";
  }
  return "";
}

}  // namespace

std::string_view ChooseSymbol(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdd:
      return "+";
    case ChangeKind::kModify:
      return "~";
    case ChangeKind::kRemove:
      return "-";
    case ChangeKind::kAdopt:
      return ">";
    case ChangeKind::kBlocked:
      return "!";
  }
  return "";
}

std::string_view ChooseColour(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdd:
      return "\033[32m";
    case ChangeKind::kModify:
      return "\033[33m";
    case ChangeKind::kRemove:
      return "\033[31m";
    case ChangeKind::kAdopt:
      return "\033[36m";
    case ChangeKind::kBlocked:
      return "\033[35m";
  }
  return "";
}

std::string FormatWhat(const Change& change, bool several) {
  const std::string detail = FormatDetail(change, several);
  const bool bracket = detail.starts_with('(');
  return MakePrintable(change.name) +
         (detail.empty() ? ""
          : bracket      ? " "
                         : ": ") +
         MakePrintable(detail);
}

std::string FormatTail(const Change& change) {
  std::vector<std::string> parts = {FormatCause(change.cause)};
  if (change.change == ChangeKind::kBlocked) {
    parts.push_back(fmt::format("blocked [{}]", change.code));
  } else {
    parts.emplace_back(change.deferred ? "second pass" : FormatImpact(change.impact));
  }
  std::erase(parts, "");
  return Join(parts, ", ");
}

std::string FormatLegend(const Plan& plan, bool colour) {
  std::set<ChangeKind> kinds;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) kinds.insert(change.change);
  }
  std::vector<std::string> parts;
  for (const ChangeKind kind : kinds) {
    parts.push_back(colour ? fmt::format("{}{}{} {}", ChooseColour(kind), ChooseSymbol(kind),
                                         kReset, DescribeKind(kind))
                           : fmt::format("{} {}", ChooseSymbol(kind), DescribeKind(kind)));
  }
  return parts.empty() ? "" : Join(parts, "  ") + '\n';
}

std::vector<std::string> ExplainCauses(const Plan& plan) {
  std::map<CauseKind, std::size_t> counts;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) ++counts[change.cause.kind];
  }
  std::vector<std::string> lines;
  for (const auto& [kind, count] : counts) {
    if (NameCause(kind).empty()) continue;
    lines.push_back(fmt::format("{} ({}): {}", NameCause(kind), count, ExplainCause(kind)));
  }
  lines.push_back(FormatFirstApplies(plan));
  std::erase(lines, "");
  return lines;
}

}  // namespace reconciler
