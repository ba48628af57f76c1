#include "reconciler/planning/text/change_words.h"

#include <fmt/format.h>

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
  if (change.change == ChangeKind::kBlocked) return fmt::format("blocked [{}]", change.code);
  if (change.deferred) return "second pass";
  return std::string(FormatImpact(change.impact));
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

}  // namespace reconciler
