#include "reconciler/planning/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

constexpr std::string_view kReset = "\033[0m";

std::string_view Symbol(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdd:
      return "+";
    case ChangeKind::kModify:
      return "~";
    case ChangeKind::kRemove:
      return "-";
    case ChangeKind::kBlocked:
      return "!";
  }
  return "";
}

std::string_view Colour(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdd:
      return "\033[32m";
    case ChangeKind::kModify:
      return "\033[33m";
    case ChangeKind::kRemove:
      return "\033[31m";
    case ChangeKind::kBlocked:
      return "\033[35m";
  }
  return "";
}

std::string_view ImpactText(Impact impact) {
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

// Columns on a terminal: one per code point is right for everything that we print.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Pad(const std::string& text, std::size_t width) {
  const std::size_t have = Width(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string Where(const SourceMark& where) {
  if (where.position.line == 0) return "";
  const std::size_t slash = where.file.rfind('/');
  return fmt::format("{}:{}",
                     slash == std::string::npos ? where.file : where.file.substr(slash + 1),
                     where.position.line);
}

std::vector<const Change*> ChangesOf(const Plan& plan, const NodeName& node) {
  std::vector<const Change*> changes;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.node == node) changes.push_back(&change);
    }
  }
  return changes;
}

// "name: detail" for a value, "name (0600, 3 lines)" for a file.
std::string What(const Change& change) {
  const bool bracket = change.detail.starts_with('(');
  return Printable(change.name) +
         (change.detail.empty() ? ""
          : bracket             ? " "
                                : ": ") +
         Printable(change.detail);
}

std::string Tail(const Change& change) {
  if (change.change == ChangeKind::kBlocked) return "blocked";
  if (change.deferred) return "second pass";
  return std::string(ImpactText(change.impact));
}

std::string DiffText(const std::string& diff, std::string_view indent, bool colour) {
  std::string text;
  for (const std::string& line : SplitLines(diff)) {
    const std::string_view tint = !colour                 ? ""
                                  : line.starts_with('+') ? "\033[32m"
                                  : line.starts_with('-') ? "\033[31m"
                                                          : "\033[2m";
    text += fmt::format("{}{}{}{}\n", indent, tint, Printable(line), tint.empty() ? "" : kReset);
  }
  return text;
}

struct Columns {
  std::size_t kind = 0;
  std::size_t what = 0;
  std::size_t where = 0;
};

Columns Measure(const Plan& plan) {
  constexpr std::size_t kWidestWhat = 72;  // longer ones stick out instead of pushing the rest away
  Columns columns;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      columns.kind = std::max(columns.kind, Width(change.kind));
      const std::size_t what = Width(What(change));
      if (what <= kWidestWhat) columns.what = std::max(columns.what, what);
      columns.where = std::max(columns.where, Width(Where(change.where)));
    }
  }
  return columns;
}

std::string ChangeLine(const Change& change, const Columns& columns, bool colour) {
  const std::string line =
      fmt::format("{} {}  {}  {}", Symbol(change.change), Pad(change.kind, columns.kind),
                  Pad(What(change), columns.what),
                  Pad(Where(change.where), columns.where) + "  " + Tail(change));
  const std::string trimmed = line.substr(0, line.find_last_not_of(' ') + 1);
  if (!colour) return "  " + trimmed + "\n";
  return fmt::format("  {}{}{}\n", Colour(change.change), trimmed, kReset);
}

std::set<std::string> FlappingLinks(const Plan& plan) {
  std::set<std::string> links;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.impact == Impact::kLinkFlap && change.kind == "link") {
        links.insert(change.node + "/" + change.name);
      }
    }
  }
  return links;
}

// "enP7s7 carries this session and is not touched."; by node where they differ.
std::string Sessions(const Plan& plan) {
  std::map<std::string, std::vector<std::string>> nodes_of;
  for (const PlanNode& node : plan.nodes) {
    if (!node.session_interface.empty()) nodes_of[node.session_interface].push_back(node.name);
  }
  if (plan.Empty() || nodes_of.empty()) return "";
  if (nodes_of.size() == 1) {
    return Printable(nodes_of.begin()->first) + " carries this session and is not touched.\n";
  }
  std::string text;
  for (const auto& [netdev, nodes] : nodes_of) {
    text += fmt::format("{} carries the session of {} and is not touched.\n", Printable(netdev),
                        Printable(Join(nodes, ", ")));
  }
  return text;
}

std::string Closing(const Plan& plan) {
  const std::vector<std::string> interrupted = Interruptions(plan);
  std::string text = SummaryLine(plan) + ".";
  if (const std::size_t links = FlappingLinks(plan).size(); links > 0) {
    text += " " + Plural(links, "link flaps", "links flap");
    text += interrupted.empty()
                ? fmt::format("; no RDMA connection is open on {}.", links == 1 ? "it" : "them")
                : ".";
  }
  text += '\n';
  for (const std::string& line : interrupted) text += "ends " + line + '\n';
  text += Sessions(plan);
  if (!plan.Empty()) {
    text += "Before its first change each node is armed to take the plan back by itself.\n";
  }
  for (const std::string& note : plan.notes) text += "note: " + Printable(note) + '\n';
  return text;
}

// More backticks than any run in the text: the text cannot end its own block.
std::string Fence(const std::string& text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

}  // namespace

std::string SummaryLine(const Plan& plan) {
  std::set<NodeName> changed;
  std::size_t unreachable = 0;
  for (const PlanNode& node : plan.nodes) {
    unreachable += !node.unreachable.empty();
    for (const Change* change : ChangesOf(plan, node.name)) {
      if (change->change != ChangeKind::kBlocked) changed.insert(node.name);
    }
  }
  std::string text = plan.Empty()
                         ? std::string("no changes")
                         : fmt::format("{} on {}", Plural(plan.ChangeCount(), "change", "changes"),
                                       Plural(changed.size(), "node", "nodes"));
  if (plan.BlockedCount() > 0) text += fmt::format(", {} blocked", plan.BlockedCount());
  if (unreachable > 0)
    text += fmt::format(", {} not reached", Plural(unreachable, "node", "nodes"));
  return text;
}

std::string RenderText(const Plan& plan, const RenderOptions& options) {
  const Columns columns = Measure(plan);
  std::string text = fmt::format("{} · {}\n", Printable(plan.cluster), Printable(plan.summary));
  for (const PlanNode& node : plan.nodes) {
    const std::vector<const Change*> changes = ChangesOf(plan, node.name);
    text += fmt::format("{}  {}", Printable(node.name), Printable(node.address));
    if (!node.unreachable.empty()) {
      text += "  not reached: " + Printable(node.unreachable) + '\n';
      continue;
    }
    text += changes.empty() ? "  no changes\n" : "\n";
    for (const Change* change : changes) {
      text += ChangeLine(*change, columns, options.colour);
      if (options.diffs) text += DiffText(change->diff, "        ", options.colour);
    }
  }
  return text + Closing(plan);
}

std::string RenderMarkdown(const Plan& plan) {
  const auto cell = [](const std::string& raw) {
    std::string text;
    for (const char c : Printable(raw)) text += c == '|' ? std::string("\\|") : std::string(1, c);
    return text;
  };
  std::string text = fmt::format("### {} · {}\n\n{}\n", Printable(plan.cluster),
                                 Printable(plan.summary), Closing(plan));
  for (const PlanNode& node : plan.nodes) {
    text += fmt::format("\n#### {} ({})\n\n", Printable(node.name), Printable(node.address));
    const std::vector<const Change*> changes = ChangesOf(plan, node.name);
    if (!node.unreachable.empty()) {
      text += "Not reached: " + cell(node.unreachable) + "\n";
    } else if (changes.empty()) {
      text += "No changes.\n";
    } else {
      text += "| | kind | what | manifest | impact |\n|---|---|---|---|---|\n";
      for (const Change* change : changes) {
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", Symbol(change->change),
                            cell(change->kind), cell(What(*change)), cell(Where(change->where)),
                            Tail(*change));
      }
    }
    for (const Change* change : changes) {
      if (change->diff.empty()) continue;
      const std::string body = DiffText(change->diff, "", /*colour=*/false);
      const std::string fence = Fence(body);
      text += fmt::format("\n<details><summary>{}</summary>\n\n{}diff\n{}{}\n\n</details>\n",
                          cell(change->name), fence, body, fence);
    }
  }
  return text;
}

}  // namespace reconciler
