// Two reports as a page: see RenderComparisonHtml.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/verify/report/compare.h"
#include "reconciler/verify/report/compare_words.h"
#include "reconciler/verify/report/html/page.h"

namespace reconciler {
namespace {

VerificationOutcome FindOutcome(const ReportComparison& comparison) {
  switch (FindExitCode(comparison)) {
    case 0:
      return VerificationOutcome::kPassed;
    case 7:
      return VerificationOutcome::kNotMeasured;
    default:
      return VerificationOutcome::kFailed;
  }
}

std::string RenderComparisonVerdict(const Report& before, const Report& after,
                                    const ReportComparison& comparison, const Noise& noise) {
  return fmt::format(
      "<header class=\"verdict {}\"><h1>{}: {}</h1>\n<p>{} compared with {}; {}.</p>\n</header>\n",
      ChooseVerdictStyle(FindOutcome(comparison)), EscapeXml(after.cluster),
      EscapeXml(FormatVerdict(comparison)), EscapeXml(FormatTime(after)),
      EscapeXml(FormatTime(before)),
      EscapeXml(Join(ListNotes(before, after, comparison, noise), "; ")));
}

std::string MakeRow(std::initializer_list<std::string_view> html) {
  std::string text = "<tr>";
  for (const std::string_view cell : html) text += cell;
  return text + "</tr>\n";
}

std::string MakeCell(std::string_view text) { return fmt::format("<td>{}</td>", EscapeXml(text)); }
std::string MakeNumberCell(std::string_view text) {
  return fmt::format("<td class=\"number\">{}</td>", EscapeXml(text));
}
std::string MakeRowHeader(std::string_view text) {
  return fmt::format("<th scope=\"row\">{}</th>", EscapeXml(text));
}

// The colour is as deep as the figure differs: by half, or by more.
std::string MakeChangeCell(const FigureChange& change, bool is_worse) {
  constexpr double kDeepest = 50;
  const double share = std::min(std::abs(change.ComputePercent()) / kDeepest, 1.0);
  return fmt::format(
      "<td class=\"number\" style=\"background: hsl(var({}) {}% var(--heat-light))\">{}</td>",
      is_worse ? "--heat-worse" : "--heat", 20 + static_cast<int>(40 * share),
      FormatPercent(change));
}

std::string RenderFigureChanges(std::string_view title, std::string_view caption,
                                const std::vector<FigureChange>& changes, bool is_worse) {
  std::string text = fmt::format("<h2>{}</h2>\n", EscapeXml(title));
  if (changes.empty()) return text + "<p>None.</p>\n";
  std::string rows;
  for (const FigureChange& change : changes) {
    rows += MakeRow({MakeRowHeader(change.what), MakeChangeCell(change, is_worse),
                     MakeNumberCell(FormatFigure(change.before, change.unit)),
                     MakeNumberCell(FormatFigure(change.after, change.unit)),
                     fmt::format("<td class=\"word\">{}</td>", EscapeXml(change.unit))});
  }
  return text +
         MakeTable({std::string(caption), {"Figure", "Change", "Before", "Now", "Unit"}, rows});
}

// `is_needed`: its absence says something too.
std::string RenderFindingList(std::string_view title, const std::vector<Finding>& findings,
                              bool is_needed) {
  if (findings.empty() && !is_needed) return "";
  std::string text = fmt::format("<h2>{}</h2>\n", EscapeXml(title));
  if (findings.empty()) return text + "<p>None.</p>\n";
  for (const Finding& finding : findings) text += RenderFindingSection(finding);
  return text;
}

std::string RenderOutcomeChanges(const std::vector<OutcomeChange>& changes) {
  if (changes.empty()) return "";
  std::string rows;
  for (const OutcomeChange& change : changes) {
    rows += MakeRow({MakeRowHeader(change.what), MakeCell(ToString(change.before)),
                     fmt::format("<td class=\"{0}\">{0}</td>", ToString(change.after))});
  }
  return "<h2>Checks that got worse</h2>\n" +
         MakeTable({"Outcome of each check", {"Check", "Before", "Now"}, rows});
}

std::string RenderNotMeasured(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = "<h2>No longer measured</h2>\n<ul>\n";
  for (const std::string& name : names) text += fmt::format("<li>{}</li>\n", EscapeXml(name));
  return text + "</ul>\n";
}

std::string RenderFactChanges(const ReportComparison& comparison) {
  std::string text = "<h2>Facts that changed</h2>\n";
  if (comparison.facts.empty()) {
    return text + (comparison.has_facts ? "<p>None.</p>\n" : "<p>Not compared.</p>\n");
  }
  std::string rows;
  for (const FactChange& change : comparison.facts) {
    rows += MakeRow({MakeRowHeader(change.name), MakeCell(change.before), MakeCell(change.after),
                     MakeCell(Join(change.nodes, ", "))});
  }
  return text + MakeTable({"Facts of the nodes", {"Fact", "Before", "Now", "Nodes"}, rows});
}

std::string DescribeRun(const Report& report) {
  std::string text =
      fmt::format("{}, verified up to level {}", FormatTime(report), ToString(report.level));
  if (report.run) {
    text +=
        fmt::format(" in {:.0f} s by spark-reconcile {}", report.run->seconds, report.run->program);
  }
  return text;
}

std::string RenderRuns(const Report& before, const Report& after) {
  return fmt::format(
      "<footer><p>Before: {}.<br>\nNow: {}.<br>\nFormat spark-reconcile/comparison/1.</p>"
      "</footer>\n",
      EscapeXml(DescribeRun(before)), EscapeXml(DescribeRun(after)));
}

}  // namespace

std::string RenderComparisonHtml(const Report& before, const Report& after,
                                 const ReportComparison& comparison, const Noise& noise) {
  const std::string since = " since " + FormatTime(before);
  return MakePage(
      FormatComparedTimes(before, after),
      RenderComparisonVerdict(before, after, comparison, noise) + "<main>\n" +
          RenderFigureChanges("Slower" + since, "Figures that are slower", comparison.worse, true) +
          RenderFindingList("Findings that are new or worse" + since, comparison.added, true) +
          RenderOutcomeChanges(comparison.deteriorated) +
          RenderNotMeasured(comparison.not_measured) +
          RenderFigureChanges("Faster" + since, "Figures that are faster", comparison.better,
                              false) +
          RenderFindingList("Findings that are gone", comparison.gone, false) +
          RenderFindingList("Findings that are still there", comparison.kept, false) +
          RenderFactChanges(comparison) + "</main>\n" + RenderRuns(before, after));
}

}  // namespace reconciler
