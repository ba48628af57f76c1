#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/report/compare.h"
#include "reconciler/verify/report/compare_words.h"
#include "reconciler/verify/report/escape_markdown.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostListed = 20;  // of checks, which can be thousands

using Lines = std::vector<std::vector<std::string>>;

std::vector<std::string> FormatFigureChange(const FigureChange& change) {
  return {change.what,
          fmt::format("{} → {} {}", FormatFigure(change.before, change.unit),
                      FormatFigure(change.after, change.unit), change.unit),
          FormatPercent(change)};
}

Lines ListFigureChanges(const std::vector<FigureChange>& changes) {
  Lines lines;
  for (const FigureChange& change : changes) lines.push_back(FormatFigureChange(change));
  return lines;
}

// With `whole`, what to do about it too.
Lines ListFindings(const std::vector<Finding>& findings, bool whole) {
  Lines lines;
  for (const Finding& finding : findings) {
    lines.push_back(
        {fmt::format("{} {}", ToString(finding.outcome), finding.code), FormatPlace(finding)});
    if (!whole) continue;
    if (!finding.measured.empty()) lines.back().push_back(finding.measured);
    lines.back().push_back(finding.cause);
    lines.back().push_back(finding.next_step);
  }
  return lines;
}

Lines ListOutcomeChanges(const std::vector<OutcomeChange>& changes) {
  Lines lines;
  for (const OutcomeChange& change : changes) {
    if (lines.size() == kMostListed) {
      lines.push_back({fmt::format("and {} more", changes.size() - kMostListed)});
      break;
    }
    lines.push_back(
        {change.what, fmt::format("{} → {}", ToString(change.before), ToString(change.after))});
  }
  return lines;
}

Lines ListNames(const std::vector<std::string>& names) {
  Lines lines;
  for (const std::string& name : names) {
    if (lines.size() == kMostListed) {
      lines.push_back({fmt::format("and {} more", names.size() - kMostListed)});
      break;
    }
    lines.push_back({name});
  }
  return lines;
}

Lines ListFactChanges(const std::vector<FactChange>& changes) {
  Lines lines;
  for (const FactChange& change : changes) {
    lines.push_back({change.name, fmt::format("{} → {}", change.before, change.after),
                     "on " + Join(change.nodes, ", ")});
  }
  return lines;
}

struct Part {
  std::string title = {};
  Lines lines = {};
};

std::vector<Part> ListParts(const Report& before, const ReportComparison& comparison) {
  const std::string since = " since " + FormatTime(before);
  return {{"slower" + since, ListFigureChanges(comparison.worse)},
          {"findings that are new or worse" + since, ListFindings(comparison.added, true)},
          {"checks that got worse", ListOutcomeChanges(comparison.deteriorated)},
          {"no longer measured", ListNames(comparison.not_measured)},
          {"faster" + since, ListFigureChanges(comparison.better)},
          {"findings that are gone", ListFindings(comparison.gone, false)},
          {"findings that are still there", ListFindings(comparison.kept, false)},
          {"facts that changed", ListFactChanges(comparison.facts)}};
}

// A finding's cause and next step stand below it: they are sentences.
std::string RenderLines(const Part& part) {
  const bool is_wide = std::any_of(part.lines.begin(), part.lines.end(),
                                   [](const auto& line) { return line.size() > 3; });
  if (!is_wide) return FormatTable(part.lines, "  ");
  std::string text;
  for (const auto& line : part.lines) {
    text += fmt::format("  {}: {}\n", line[0], line[1]);
    for (std::size_t i = 2; i < line.size(); ++i) text += "    " + line[i] + "\n";
  }
  return text;
}

}  // namespace

std::string RenderComparison(const Report& before, const Report& after,
                             const ReportComparison& comparison, const Noise& noise) {
  std::string text = FormatComparedTimes(before, after) + "\n" + FormatVerdict(comparison) + "\n\n";
  for (const Part& part : ListParts(before, comparison)) {
    if (!part.lines.empty()) text += part.title + "\n" + RenderLines(part) + "\n";
  }
  for (const std::string& note : ListNotes(before, after, comparison, noise)) text += note + "\n";
  return text;
}

std::string RenderComparisonMarkdown(const Report& before, const Report& after,
                                     const ReportComparison& comparison, const Noise& noise) {
  std::string text =
      fmt::format("# {}\n\n{}\n\n", EscapeMarkdown(FormatComparedTimes(before, after)),
                  FormatVerdict(comparison));
  for (const Part& part : ListParts(before, comparison)) {
    if (part.lines.empty()) continue;
    text += fmt::format("## {}\n\n", EscapeMarkdown(part.title));
    for (const auto& line : part.lines) {
      std::vector<std::string> cells;
      for (const std::string& cell : line) cells.push_back(EscapeMarkdown(cell));
      text += "- " + Join(cells, "; ") + "\n";
    }
    text += "\n";
  }
  for (const std::string& note : ListNotes(before, after, comparison, noise)) {
    text += EscapeMarkdown(note) + "\n";
  }
  return text;
}

}  // namespace reconciler
