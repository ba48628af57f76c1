#include "reconciler/planning/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/model/ledger.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

constexpr std::string_view kReset = "\033[0m";

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

std::string PadTo(const std::string& text, std::size_t width) {
  const std::size_t have = CountColumns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::vector<const Change*> ListChanges(const Plan& plan, const NodeName& node) {
  std::vector<const Change*> changes;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.node == node) changes.push_back(&change);
    }
  }
  return changes;
}

// "name: detail" for a value, "name (0600, 3 lines)" for a file.
std::string FormatWhat(const Change& change) {
  const bool bracket = change.detail.starts_with('(');
  return MakePrintable(change.name) +
         (change.detail.empty() ? ""
          : bracket             ? " "
                                : ": ") +
         MakePrintable(change.detail);
}

std::string FormatTail(const Change& change) {
  if (change.change == ChangeKind::kBlocked) return fmt::format("blocked [{}]", change.code);
  if (change.deferred) return "second pass";
  return std::string(FormatImpact(change.impact));
}

std::string FormatDiff(const std::string& diff, std::string_view indent, bool colour) {
  std::string text;
  for (const std::string& line : SplitLines(diff)) {
    const std::string_view tint = !colour                 ? ""
                                  : line.starts_with('+') ? "\033[32m"
                                  : line.starts_with('-') ? "\033[31m"
                                                          : "\033[2m";
    text +=
        fmt::format("{}{}{}{}\n", indent, tint, MakePrintable(line), tint.empty() ? "" : kReset);
  }
  return text;
}

struct Columns {
  std::size_t kind = 0;
  std::size_t what = 0;
  std::size_t where = 0;
};

Columns MeasureColumns(const Plan& plan) {
  constexpr std::size_t kWidestWhat = 72;  // longer ones stick out instead of pushing the rest away
  Columns columns;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      columns.kind = std::max(columns.kind, CountColumns(change.kind));
      const std::size_t what = CountColumns(FormatWhat(change));
      if (what <= kWidestWhat) columns.what = std::max(columns.what, what);
      columns.where = std::max(columns.where, CountColumns(FormatManifestLine(change.where)));
    }
  }
  return columns;
}

std::string FormatChange(const Change& change, const Columns& columns, bool colour) {
  const std::string line = fmt::format(
      "{} {}  {}  {}", ChooseSymbol(change.change), PadTo(change.kind, columns.kind),
      PadTo(FormatWhat(change), columns.what),
      PadTo(FormatManifestLine(change.where), columns.where) + "  " + FormatTail(change));
  const std::string trimmed = line.substr(0, line.find_last_not_of(' ') + 1);
  if (!colour) return "  " + trimmed + "\n";
  return fmt::format("  {}{}{}\n", ChooseColour(change.change), trimmed, kReset);
}

// Whether others of the stage have all of its triggers, and so set it as its own change would.
bool IsWhollySet(const Stage& stage, const Change& held) {
  std::set<std::string> ids;
  for (const Change& change : stage.changes) {
    if (change.node != held.node || change.change == ChangeKind::kBlocked) continue;
    for (const RunCommand& trigger : change.triggers) ids.insert(trigger.id);
  }
  return std::all_of(held.triggers.begin(), held.triggers.end(),
                     [&](const RunCommand& trigger) { return ids.contains(trigger.id); });
}

std::set<std::string> ListFlappingLinks(const Plan& plan) {
  std::set<std::string> links;
  for (const Stage& stage : plan.stages) {
    const auto add = [&](const Change& change) {
      if (change.impact == Impact::kLinkFlap && change.is_link) {
        links.insert(change.node + "/" + change.name);
      }
    };
    std::for_each(stage.changes.begin(), stage.changes.end(), add);
    for (const Change& held : stage.held) {
      if (IsWhollySet(stage, held)) add(held);
    }
  }
  return links;
}

// Another owner's thing, and not ours that takes its place.
bool TakesOver(const Change& change) {
  const Action* file = FindFileAction(change.actions);
  return change.change == ChangeKind::kAdopt &&
         (file == nullptr || std::holds_alternative<RemoveFile>(*file) ||
          !change.owner.name.empty());
}

// "14 changes on 2 nodes", of those that `counts` selects; empty: there are none.
std::string FormatCount(const Plan& plan, const std::function<bool(const Change&)>& counts,
                        std::string_view one, std::string_view many) {
  std::size_t count = 0;
  std::set<NodeName> nodes;
  ForEachChange(plan, [&](const Change& change) {
    if (!counts(change)) return;
    ++count;
    nodes.insert(change.node);
  });
  if (count == 0) return {};
  return fmt::format("{} on {}", FormatPlural(count, one, many),
                     FormatPlural(nodes.size(), "node", "nodes"));
}

bool TakesOverFile(const Change& change) {
  return TakesOver(change) && FindFileAction(change.actions) != nullptr;
}

// What is no file, by its kind.
std::set<std::string> ListOtherKinds(const Plan& plan) {
  std::set<std::string> kinds;
  ForEachChange(plan, [&](const Change& change) {
    if (TakesOver(change) && !TakesOverFile(change)) kinds.insert(change.kind);
  });
  return kinds;
}

// "2 files taken over on 2 nodes", and so on for each kind.
std::vector<std::string> ListAdopted(const Plan& plan) {
  std::vector<std::string> parts = {
      FormatCount(plan, TakesOverFile, "file taken over", "files taken over")};
  for (const std::string& kind : ListOtherKinds(plan)) {
    const auto counts = [&](const Change& change) {
      return TakesOver(change) && !TakesOverFile(change) && change.kind == kind;
    };
    parts.push_back(FormatCount(plan, counts, kind + " taken over", kind + "s taken over"));
  }
  std::erase(parts, "");
  return parts;
}

std::string ExplainAdopted(const Plan& plan) {
  const bool files = !FormatCount(plan, TakesOverFile, "", "").empty();
  if (ListOtherKinds(plan).empty()) {
    return files ? "uninstall writes back what is taken over.\n" : "";
  }
  return files ? "uninstall writes back the files that are taken over, and sets back the rest.\n"
               : "uninstall sets back what is taken over.\n";
}

// "enP7s7 carries this session and is not touched."; by node where they differ.
std::string FormatSessions(const Plan& plan) {
  std::map<std::string, std::vector<std::string>> nodes_of;
  for (const PlanNode& node : plan.nodes) {
    if (!node.session_interface.empty()) nodes_of[node.session_interface].push_back(node.name);
  }
  if (plan.Empty() || nodes_of.empty()) return "";
  if (nodes_of.size() == 1) {
    return MakePrintable(nodes_of.begin()->first) + " carries this session and is not touched.\n";
  }
  std::string text;
  for (const auto& [netdev, nodes] : nodes_of) {
    text += fmt::format("{} carries the session of {} and is not touched.\n", MakePrintable(netdev),
                        MakePrintable(Join(nodes, ", ")));
  }
  return text;
}

std::string FormatClosing(const Plan& plan) {
  const std::vector<std::string> interrupted = ListInterruptions(plan);
  std::string text = FormatSummaryLine(plan) + ".";
  if (const std::size_t links = ListFlappingLinks(plan).size(); links > 0) {
    text += " " + FormatPlural(links, "link flaps", "links flap");
    text += interrupted.empty()
                ? fmt::format("; no RDMA connection is open on {}.", links == 1 ? "it" : "them")
                : ".";
  }
  text += '\n';
  for (const std::string& line : interrupted) text += "ends " + line + '\n';
  text += FormatSessions(plan);
  text += ExplainAdopted(plan);
  if (!plan.Empty()) {
    text += "Each node is armed to revert the plan before its first change.\n";
  }
  for (const Diagnostic& one : plan.diagnostics) {
    if (one.change.empty()) text += FormatDiagnostic(one);  // others stand at their change
  }
  return text;
}

// More backticks than any run in the text: the text cannot end its own block.
std::string QuoteFence(const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

}  // namespace

std::string FormatSummaryLine(const Plan& plan) {
  const auto is_change = [](const Change& one) { return one.change != ChangeKind::kAdopt; };
  const std::string changes = FormatCount(plan, is_change, "change", "changes");
  std::vector<std::string> parts;
  if (!changes.empty()) parts.push_back(changes);
  if (changes.empty() && plan.BlockedCount() == 0) parts.emplace_back("no changes");
  for (std::string& adopted : ListAdopted(plan)) parts.push_back(std::move(adopted));
  if (plan.BlockedCount() > 0) parts.push_back(fmt::format("{} blocked", plan.BlockedCount()));
  if (plan.WarningCount() > 0) {
    parts.push_back(FormatPlural(plan.WarningCount(), "warning", "warnings"));
  }
  if (plan.IsRefused()) parts.emplace_back("apply is refused");
  const auto unreachable =
      std::count_if(plan.nodes.begin(), plan.nodes.end(),
                    [](const PlanNode& node) { return !node.unreachable.empty(); });
  if (unreachable > 0) {
    parts.push_back(fmt::format(
        "{} not reached", FormatPlural(static_cast<std::size_t>(unreachable), "node", "nodes")));
  }
  return Join(parts, ", ");
}

std::string RenderText(const Plan& plan, const RenderOptions& options) {
  const Columns columns = MeasureColumns(plan);
  std::string text =
      fmt::format("{} · {}\n", MakePrintable(plan.cluster), MakePrintable(plan.summary));
  for (const PlanNode& node : plan.nodes) {
    const std::vector<const Change*> changes = ListChanges(plan, node.name);
    text += fmt::format("{}  {}", MakePrintable(node.name), MakePrintable(node.address));
    if (!node.unreachable.empty()) {
      text += "  not reached: " + MakePrintable(node.unreachable) + '\n';
      continue;
    }
    text += changes.empty() ? "  no changes\n" : "\n";
    for (const Change* change : changes) {
      text += FormatChange(*change, columns, options.colour);
      if (options.diffs) text += FormatDiff(change->diff, "        ", options.colour);
    }
  }
  return text + FormatClosing(plan);
}

std::string RenderMarkdown(const Plan& plan) {
  const auto cell = [](const std::string& raw) {
    std::string text;
    for (const char c : MakePrintable(raw))
      text += c == '|' ? std::string("\\|") : std::string(1, c);
    return text;
  };
  std::string text = fmt::format("### {} · {}\n\n{}\n", MakePrintable(plan.cluster),
                                 MakePrintable(plan.summary), FormatClosing(plan));
  for (const PlanNode& node : plan.nodes) {
    text +=
        fmt::format("\n#### {} ({})\n\n", MakePrintable(node.name), MakePrintable(node.address));
    const std::vector<const Change*> changes = ListChanges(plan, node.name);
    if (!node.unreachable.empty()) {
      text += "Not reached: " + cell(node.unreachable) + "\n";
    } else if (changes.empty()) {
      text += "No changes.\n";
    } else {
      text += "| | kind | what | manifest | impact |\n|---|---|---|---|---|\n";
      for (const Change* change : changes) {
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", ChooseSymbol(change->change),
                            cell(change->kind), cell(FormatWhat(*change)),
                            cell(FormatManifestLine(change->where)), FormatTail(*change));
      }
    }
    for (const Change* change : changes) {
      if (change->diff.empty()) continue;
      const std::string body = FormatDiff(change->diff, "", /*colour=*/false);
      const std::string fence = QuoteFence(body);
      text += fmt::format("\n<details><summary>{}</summary>\n\n{}diff\n{}{}\n\n</details>\n",
                          cell(change->name), fence, body, fence);
    }
  }
  return text;
}

}  // namespace reconciler
