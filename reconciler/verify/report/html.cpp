#include "reconciler/verify/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/html_chart.h"
#include "reconciler/verify/report/html_style.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {
namespace {

struct Verdict {
  std::string_view style;
  std::string_view text;
};

Verdict FindVerdict(const Report& report) {
  switch (FindVerificationOutcome(report)) {
    case VerificationOutcome::kPassed:
      return {"passed", "passed"};
    case VerificationOutcome::kFailed:
      return {"failed", "failed"};
    case VerificationOutcome::kNotMeasured:
      return {"unsure", "not measured"};
  }
  return {};
}

std::string_view NameLevel(VerifyLevel level) {
  switch (level) {
    case VerifyLevel::kFacts:
      return "Facts";
    case VerifyLevel::kPing:
      return "Full-size pings";
    case VerifyLevel::kSsh:
      return "Logins";
    case VerifyLevel::kRdma:
      return "RDMA writes";
    case VerifyLevel::kNccl:
      return "NCCL";
  }
  return "";
}

std::string RenderVerdict(const Report& report) {
  const Verdict verdict = FindVerdict(report);
  std::string text = fmt::format(
      "<header class=\"verdict {}\"><h1>{}: {}</h1>\n<p>{} of {} passed, {} warned, {} failed, {} "
      "could not be measured, {} skipped; {}.</p>\n",
      verdict.style, EscapeXml(report.cluster), verdict.text, report.Count(Outcome::kPass),
      FormatPlural(report.checks.size(), "check", "checks"), report.Count(Outcome::kWarn),
      report.Count(Outcome::kFail), report.Count(Outcome::kCouldNotMeasure),
      report.Count(Outcome::kSkipped), FormatPlural(report.findings.size(), "cause", "causes"));
  if (report.not_measured) {
    text += fmt::format("<p>{}: {}.</p>\n",
                        report.not_measured->level == VerifyLevel::kNccl ? "NCCL not run"
                                                                         : "Bandwidth not measured",
                        EscapeXml(report.not_measured->why));
  }
  return text + "</header>\n";
}

std::string RenderFindingSection(const Finding& finding) {
  std::vector<std::string> rails;
  for (const int rail : finding.rails) rails.push_back(FormatRailName(rail));
  std::string text =
      fmt::format("<section class=\"finding {0}\"><h3>{0}: {1}, {2}{3}</h3><dl>\n",
                  ToString(finding.outcome), finding.code, EscapeXml(Join(finding.nodes, ", ")),
                  rails.empty() ? "" : " on " + Join(rails, ", "));
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, EscapeXml(value));
  };
  add("Cause", finding.cause);
  add("Next step", finding.next_step);
  add("Expected", finding.expected);
  add("Measured", finding.measured);
  for (const std::string& line : finding.evidence) add("Evidence", line);
  if (finding.explains > 1) add("Explains", FormatPlural(finding.explains, "check", "checks"));
  return text + "</dl></section>\n";
}

std::string RenderFindings(const Report& report) {
  std::string text = "<h2>Findings</h2>\n";
  if (report.findings.empty()) return text + "<p>None.</p>\n";
  for (const Finding& finding : report.findings) text += RenderFindingSection(finding);
  return text;
}

// A region that scrolls must be reached with the keyboard, and needs a name then.
std::string MakeScrolling(std::string_view name, const std::string& content) {
  return fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">{}</div>\n",
      EscapeXml(name), content);
}

// The share of the table's largest value as the depth of the cell's colour.
std::string RenderCell(const Check& check, double most) {
  if (!check.gbps) {
    return fmt::format("<td class=\"{0}\">{0}</td>", ToString(check.outcome));
  }
  const int depth = static_cast<int>(60 * std::clamp(*check.gbps / most, 0.0, 1.0));
  return fmt::format(
      "<td class=\"number\" style=\"background: hsl(var(--heat) {}% "
      "var(--heat-light))\">{:.1f}{}</td>",
      depth, *check.gbps,
      check.outcome == Outcome::kPass ? "" : " " + std::string(ToString(check.outcome)));
}

// From row to column, the checks of one level, kind and rail. Empty: there are none.
std::string RenderMatrix(const Report& report, VerifyLevel level, const std::string& what,
                         std::optional<int> rail) {
  std::vector<NodeName> nodes;
  std::map<std::pair<NodeName, NodeName>, const Check*> cells;
  double most = 1;
  for (const Check& check : report.checks) {
    if (check.level != level || check.to.empty() || check.what != what || check.rail != rail) {
      continue;
    }
    for (const NodeName& node : {check.from, check.to}) {
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    }
    cells[{check.from, check.to}] = &check;
    most = std::max(most, check.gbps.value_or(0));
  }
  if (cells.empty()) return "";
  const std::string caption =
      fmt::format("{}{}, from row to column{}", what, rail ? ", " + FormatRailName(*rail) : "",
                  level == VerifyLevel::kRdma ? ", in Gb/s" : "");
  std::string text = fmt::format("<table><caption>{}</caption>\n<tr><td></td>", EscapeXml(caption));
  for (const NodeName& node : nodes)
    text += fmt::format("<th scope=\"col\">{}</th>", EscapeXml(node));
  text += "</tr>\n";
  for (const NodeName& from : nodes) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", EscapeXml(from));
    for (const NodeName& to : nodes) {
      const auto cell = cells.find({from, to});
      text += cell == cells.end() ? "<td>–</td>" : RenderCell(*cell->second, most);
    }
    text += "</tr>\n";
  }
  return MakeScrolling(caption, text + "</table>");
}

std::string RenderLevel(const Report& report, VerifyLevel level) {
  std::set<std::pair<std::string, std::optional<int>>> kinds;
  for (const Check& check : report.checks) {
    if (check.level == level && !check.to.empty()) {
      kinds.insert({check.what, check.rail});
    }
  }
  if (const auto skipped = FindCommonSkip(report, level)) {
    return fmt::format("<h2>{}</h2>\n<p>Skipped: {}.</p>\n", NameLevel(level), EscapeXml(*skipped));
  }
  std::string text;
  for (const auto& [what, rail] : kinds) text += RenderMatrix(report, level, what, rail);
  return text.empty() ? "" : fmt::format("<h2>{}</h2>\n", NameLevel(level)) + text;
}

std::string RenderNccl(const NcclSummary& summary) {
  std::string text = "<h2>NCCL</h2>\n";
  if (const std::string chart = DrawNcclChart(summary); !chart.empty()) {
    text += MakeScrolling("Bus bandwidth over size", chart);
  }
  std::string rows;
  for (const NcclFigure& figure : summary.figures) {
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{:.1f}</td><td "
        "class=\"number\">{:.1f}</td><td class=\"number\">{}</td></tr>\n",
        ToString(figure.collective), FormatSize(figure.bytes), ToString(figure.type),
        figure.in_place ? "yes" : "no", figure.time_us, figure.p95_us, FormatShort(figure.busbw));
  }
  if (rows.empty()) return text;
  constexpr std::string_view kCaption = "Collectives: time in µs, bus bandwidth in GB/s";
  return text + MakeScrolling(kCaption,
                              fmt::format("<table><caption>{}</caption>\n<tr><th scope=\"col\">"
                                          "Collective</th><th scope=\"col\">Size</th><th "
                                          "scope=\"col\">Type</th><th scope=\"col\">In place</th>"
                                          "<th scope=\"col\">Mean</th><th scope=\"col\">95 %</th>"
                                          "<th scope=\"col\">GB/s</th></tr>\n{}</table>",
                                          kCaption, rows));
}

std::string RenderFooter(const Report& report, const ReportOrigin& origin) {
  std::string text = fmt::format("<footer><p>Verified up to level {}", ToString(report.level));
  if (!origin.when.empty()) text += " on " + EscapeXml(origin.when);
  if (origin.seconds > 0) text += fmt::format(" in {:.0f} s", origin.seconds);
  return text +
         fmt::format(" by spark-reconcile {}; format spark-reconcile/report/1.</p></footer>\n",
                     EscapeXml(origin.version));
}

}  // namespace

std::string RenderHtml(const Report& report, const ReportOrigin& origin) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}: {}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n",
      EscapeXml(report.cluster), FindVerdict(report).text, kHtmlStyle);
  text += RenderVerdict(report) + "<main>\n" + RenderFindings(report);
  if (!origin.drawing.empty()) {
    text += "<h2>Fabric</h2>\n" +
            MakeScrolling("Fabric", "<div class=\"picture\">" + origin.drawing + "</div>");
  }
  for (const VerifyLevel level : {VerifyLevel::kRdma, VerifyLevel::kPing, VerifyLevel::kSsh}) {
    text += RenderLevel(report, level);
  }
  if (report.nccl) text += RenderNccl(*report.nccl);
  return text + "</main>\n" + RenderFooter(report, origin) + "</body>\n</html>\n";
}

}  // namespace reconciler
