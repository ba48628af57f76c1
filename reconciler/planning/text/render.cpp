#include "reconciler/planning/text/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/model/ledger.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/text/change_words.h"
#include "reconciler/planning/text/overridden.h"
#include "reconciler/planning/text/sections.h"

namespace reconciler {
namespace {

// Of nodes without a change, where something wins over what is there.
constexpr std::string_view kButOverridden = "nothing to change, but see the warnings";

std::string PadTo(const std::string& text, std::size_t width) {
  const std::size_t have = CountColumns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

// What is wider than `columns` goes on below, deeper: a diff is there to be read whole.
std::string FormatDiff(const std::string& diff, const std::string& indent,
                       const RenderOptions& options) {
  std::string text;
  for (const std::string& line : SplitLines(diff)) {
    const std::string_view tint = !options.colour         ? ""
                                  : line.starts_with('+') ? "\033[32m"
                                  : line.starts_with('-') ? "\033[31m"
                                                          : "\033[2m";
    for (const std::string& part :
         WrapTo(indent + MakePrintable(line), options.columns, indent + "    ")) {
      text += fmt::format("{}{}{}\n", tint, part, tint.empty() ? "" : kReset);
    }
  }
  return text;
}

struct Columns {
  std::size_t kind = 0;
  std::size_t what = 0;
  std::size_t where = 0;
};

Columns MeasureColumns(const std::vector<Section>& sections) {
  constexpr std::size_t kWidestWhat = 72;  // longer ones stick out instead of pushing the rest away
  Columns columns;
  for (const Section& section : sections) {
    for (const Change* change : section.changes) {
      columns.kind = std::max(columns.kind, CountColumns(change->kind));
      const std::size_t what = CountColumns(FormatWhat(*change, section.several));
      if (what <= kWidestWhat) columns.what = std::max(columns.what, what);
      columns.where = std::max(columns.where, CountColumns(FormatManifestLine(change->where)));
    }
  }
  return columns;
}

std::string TrimEnd(const std::string& text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// One line; where that is too wide, what stands in the last columns goes below.
std::vector<std::string> LayOutChange(const Change& change, bool several, const Columns& columns,
                                      std::size_t width) {
  const std::string what = FormatWhat(change, several);
  const std::string begin =
      fmt::format("  {} {}  ", ChooseSymbol(change.change), PadTo(change.kind, columns.kind));
  const std::string where = FormatManifestLine(change.where);
  const std::string line = TrimEnd(fmt::format("{}{}  {}  {}", begin, PadTo(what, columns.what),
                                               PadTo(where, columns.where), FormatTail(change)));
  if (width == 0 || CountColumns(line) <= width) return {line};
  const std::string indent(CountColumns(begin) + 2, ' ');
  std::vector<std::string> lines = WrapTo(TrimEnd(begin + what), width, indent);
  const std::string rest = TrimEnd(where + (where.empty() ? "" : "  ") + FormatTail(change));
  if (rest.empty()) return lines;
  for (std::string& below : WrapTo(indent + rest, width, indent)) lines.push_back(std::move(below));
  return lines;
}

std::string FormatChange(const Change& change, bool several, const Columns& columns,
                         const RenderOptions& options) {
  std::string text;
  for (const std::string& line : LayOutChange(change, several, columns, options.columns)) {
    const std::size_t first = line.find_first_not_of(' ');
    text += options.colour ? fmt::format("{}{}{}{}\n", line.substr(0, first),
                                         ChooseColour(change.change), line.substr(first), kReset)
                           : line + "\n";
  }
  if (options.diffs) text += FormatDiff(change.diff, "        ", options);
  return text;
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

std::string FormatCell(const std::string& raw) {
  std::string text;
  for (const char c : MakePrintable(raw)) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return text;
}

// The table of a Markdown section.
std::string FormatRows(const Section& section) {
  std::string text = "| | kind | what | manifest | cause, impact |\n|---|---|---|---|---|\n";
  for (const Change* change : section.changes) {
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", ChooseSymbol(change->change),
                    FormatCell(change->kind), FormatCell(FormatWhat(*change, section.several)),
                    FormatCell(FormatManifestLine(change->where)), FormatCell(FormatTail(*change)));
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
  const auto unreachable = static_cast<std::size_t>(
      std::count_if(plan.nodes.begin(), plan.nodes.end(),
                    [](const PlanNode& node) { return !node.unreachable.empty(); }));
  const bool is_known = unreachable == 0 || unreachable < plan.nodes.size();
  if (!is_known) {
    parts.push_back(fmt::format("nothing is known: {} of {} not reached", unreachable,
                                FormatPlural(plan.nodes.size(), "node", "nodes")));
  } else if (changes.empty() && plan.BlockedCount() == 0) {
    const std::string overridden = FormatOverridden(plan);
    parts.push_back(overridden.empty() ? "no changes" : "nothing to change, but " + overridden);
  }
  for (std::string& adopted : ListAdopted(plan)) parts.push_back(std::move(adopted));
  if (plan.BlockedCount() > 0) parts.push_back(fmt::format("{} blocked", plan.BlockedCount()));
  if (plan.WarningCount() > 0) {
    parts.push_back(FormatPlural(plan.WarningCount(), "warning", "warnings"));
  }
  if (plan.IsRefused()) parts.emplace_back("apply is refused");
  if (is_known && unreachable > 0) {
    parts.push_back(fmt::format("{} not reached", FormatPlural(unreachable, "node", "nodes")));
  }
  return Join(parts, ", ");
}

namespace {

// The lines on causes, each behind `begin`.
std::string FormatCauses(const Plan& plan, std::string_view begin) {
  std::string text;
  for (const std::string& line : ExplainCauses(plan)) text += fmt::format("{}{}\n", begin, line);
  return text;
}

std::string FormatSections(const std::vector<Section>& sections, const Columns& columns,
                           const RenderOptions& options) {
  std::string text;
  for (const Section& section : sections) {
    const std::string_view nothing = section.overridden ? kButOverridden : "no changes";
    const std::string head =
        section.unreachable.empty()
            ? section.title +
                  (section.changes.empty() ? fmt::format("  {}\n", nothing) : std::string("\n"))
            : section.title + "  not reached: " + MakePrintable(section.unreachable) + '\n';
    text += WrapLines(head, options.columns);
    for (const Change* change : section.changes) {
      text += FormatChange(*change, section.several, columns, options);
    }
  }
  return text;
}

// Takes what drifted out of the sections. Those that are empty then are left out of both.
std::vector<Section> TakeDrifted(std::vector<Section>& sections) {
  std::vector<Section> drifted;
  std::vector<Section> rest;
  const auto has_drifted = [](const Change* change) { return change->cause.HasDrifted(); };
  for (Section& section : sections) {
    Section part = section;
    std::erase_if(part.changes, [&](const Change* change) { return !has_drifted(change); });
    const bool is_whole = !part.changes.empty() && part.changes.size() == section.changes.size();
    if (!part.changes.empty()) drifted.push_back(std::move(part));
    std::erase_if(section.changes, has_drifted);
    if (!is_whole) rest.push_back(std::move(section));
  }
  sections = std::move(rest);
  return drifted;
}

std::string FormatDriftFirst(std::vector<Section> sections, const Columns& columns,
                             const RenderOptions& options) {
  const std::vector<Section> drifted = TakeDrifted(sections);
  if (drifted.empty()) return FormatSections(sections, columns, options);
  return "Drifted since it was applied:\n" + FormatSections(drifted, columns, options) +
         (sections.empty() ? "" : "Everything else:\n") +
         FormatSections(sections, columns, options);
}

}  // namespace

std::string RenderText(const Plan& plan, const RenderOptions& options) {
  const std::vector<Section> sections = ListSections(plan);
  const Columns columns = MeasureColumns(sections);
  const std::string head =
      fmt::format("{} · {}\n", MakePrintable(plan.cluster), MakePrintable(plan.summary));
  return WrapLines(head, options.columns) +
         (options.drift_first ? FormatDriftFirst(sections, columns, options)
                              : FormatSections(sections, columns, options)) +
         FormatLegend(plan, options.colour) +
         WrapLines(FormatCauses(plan, "") + FormatClosing(plan), options.columns);
}

std::string RenderMarkdown(const Plan& plan) {
  std::string text = fmt::format("### {} · {}\n\n{}\n", MakePrintable(plan.cluster),
                                 MakePrintable(plan.summary), FormatClosing(plan));
  for (const Section& section : ListSections(plan)) {
    text += fmt::format("\n#### {}\n\n", section.title);
    if (!section.unreachable.empty()) {
      text += "Not reached: " + FormatCell(section.unreachable) + "\n";
    } else if (section.changes.empty()) {
      text += section.overridden ? "Nothing to change, but see the warnings.\n" : "No changes.\n";
    } else {
      text += FormatRows(section);
    }
    for (const Change* change : section.changes) {
      if (change->diff.empty()) continue;
      const std::string body = FormatDiff(change->diff, "", {});
      const std::string fence = QuoteFence(body);
      text += fmt::format("\n<details><summary>{}</summary>\n\n{}diff\n{}{}\n\n</details>\n",
                          FormatCell(change->name), fence, body, fence);
    }
  }
  const std::string legend = FormatLegend(plan, /*colour=*/false);
  const std::string causes = FormatCauses(plan, "- ");
  return legend.empty() ? text : text + '\n' + legend + (causes.empty() ? "" : '\n' + causes);
}

std::string RenderNewWarnings(const Plan& planned, const Plan& remaining) {
  std::string text;
  for (const Diagnostic& one : remaining.diagnostics) {
    const bool is_known = std::any_of(
        planned.diagnostics.begin(), planned.diagnostics.end(), [&](const Diagnostic& other) {
          return other.message == one.message && other.nodes == one.nodes;
        });
    if (one.severity == Severity::kWarns && !is_known) text += FormatDiagnostic(one);
  }
  return text;
}

}  // namespace reconciler
