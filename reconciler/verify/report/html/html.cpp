#include "reconciler/verify/report/html/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/cable_rates.h"
#include "reconciler/verify/report/html/chart.h"
#include "reconciler/verify/report/html/page.h"
#include "reconciler/verify/report/invalid.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {
namespace {

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
  const VerificationOutcome outcome = FindVerificationOutcome(report);
  const std::string left_out = FormatNotMeasured(report);
  return fmt::format(
      "<header class=\"verdict {}\"><h1>{}: {}</h1>\n<p>{} of {} passed, {} warned, {} failed, {} "
      "could not be measured, {} skipped; {}{}.</p>\n</header>\n",
      ChooseVerdictStyle(outcome), EscapeXml(report.cluster), ToString(outcome),
      report.Count(Outcome::kPass), FormatPlural(report.checks.size(), "check", "checks"),
      report.Count(Outcome::kWarn), report.Count(Outcome::kFail),
      report.Count(Outcome::kCouldNotMeasure), report.Count(Outcome::kSkipped),
      FormatPlural(report.findings.size(), "cause", "causes"),
      left_out.empty() ? "" : "; " + EscapeXml(left_out));
}

std::string RenderFindings(const Report& report) {
  std::string text = "<h2>Findings</h2>\n";
  if (report.findings.empty()) return text + "<p>None.</p>\n";
  for (const Finding& finding : report.findings) text += RenderFindingSection(finding);
  return text;
}

// What a heat map shows of its checks.
enum class Shown { kOutcome, kBandwidth, kLatency };

std::optional<double> GetShown(const Check& check, Shown shown) {
  if (IsInvalid(check)) return std::nullopt;
  switch (shown) {
    case Shown::kOutcome:
      return std::nullopt;
    case Shown::kBandwidth:
      return check.gbps;
    case Shown::kLatency:
      return check.latency_us;
  }
  return std::nullopt;
}

// Of one level, kind and rail, from row to column. In their order, bandwidths of all rails come
// before latencies.
struct HeatMap {
  VerifyLevel level = VerifyLevel::kFacts;
  Shown shown = Shown::kOutcome;
  std::string what = {};
  std::optional<int> rail = std::nullopt;
  auto operator<=>(const HeatMap&) const = default;

  bool Has(const Check& check) const {
    return check.level == level && !check.to.empty() && check.what == what && check.rail == rail;
  }
};

std::string FormatCaption(const HeatMap& map) {
  std::string text = map.shown == Shown::kLatency ? "latency of " + map.what : map.what;
  if (map.rail) text += ", " + FormatRailName(*map.rail);
  text += ", from row to column";
  switch (map.shown) {
    case Shown::kOutcome:
      return text;
    case Shown::kBandwidth:
      return text + ", in Gb/s";
    case Shown::kLatency:
      return text + ", in µs";
  }
  return text;
}

// The share of what the link carries, or of the table's largest value, as the depth of the colour.
std::string RenderCell(const Check& check, const HeatMap& map, double most) {
  const std::optional<double> value = GetShown(check, map.shown);
  const std::string_view outcome = ToString(check.outcome);
  if (!value) return fmt::format("<td class=\"{0}\">{0}</td>", outcome);
  const bool is_latency = map.shown == Shown::kLatency;
  const int depth = static_cast<int>(60 * std::clamp(*value / most, 0.0, 1.0));
  return fmt::format(
      "<td class=\"number\" style=\"background: hsl(var({}) {}% var(--heat-light))\">{:.1f}{}</td>",
      is_latency ? "--heat-time" : "--heat", depth, *value,
      is_latency || check.outcome == Outcome::kPass ? "" : fmt::format(" {}", outcome));
}

// A column per node. Long names would push the columns apart: they are numbered.
HtmlTable MakeMatrix(const std::string& caption, const std::vector<NodeName>& nodes,
                     const std::function<std::string(const NodeName&, const NodeName&)>& render) {
  constexpr std::size_t kLongest = 12;
  const bool is_numbered = std::any_of(nodes.begin(), nodes.end(),
                                       [](const NodeName& node) { return node.size() > kLongest; });
  HtmlTable table{.caption = caption, .columns = {""}};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    table.columns.push_back(is_numbered ? number : nodes[i]);
    table.html += fmt::format("<tr><th scope=\"row\">{}{}</th>", is_numbered ? number + " " : "",
                              EscapeXml(nodes[i]));
    for (const NodeName& to : nodes) table.html += render(nodes[i], to);
    table.html += "</tr>\n";
  }
  return table;
}

std::string RenderHeatMap(const Report& report, const HeatMap& map) {
  std::vector<NodeName> nodes;
  std::set<NodeName> listed;
  std::map<std::pair<NodeName, NodeName>, const Check*> cells;
  double most = 1;
  for (const Check& check : report.checks) {
    if (!map.Has(check)) continue;
    for (const NodeName& node : {check.from, check.to}) {
      if (listed.insert(node).second) nodes.push_back(node);
    }
    cells[{check.from, check.to}] = &check;
    most = std::max(most, GetShown(check, map.shown).value_or(0));
    if (map.shown == Shown::kBandwidth) most = std::max(most, check.roofline_gbps.value_or(0));
  }
  const auto render = [&](const NodeName& from, const NodeName& to) {
    const auto cell = cells.find({from, to});
    return cell == cells.end() ? std::string("<td>–</td>") : RenderCell(*cell->second, map, most);
  };
  return MakeTable(MakeMatrix(FormatCaption(map), nodes, render));
}

std::set<HeatMap> ListHeatMaps(const Report& report, VerifyLevel level) {
  std::set<HeatMap> maps;
  const Shown shown = level == VerifyLevel::kRdma ? Shown::kBandwidth : Shown::kOutcome;
  for (const Check& check : report.checks) {
    if (check.level != level || check.to.empty()) continue;
    maps.insert({level, shown, check.what, check.rail});
    if (check.latency_us) maps.insert({level, Shown::kLatency, check.what, check.rail});
  }
  return maps;
}

std::string RenderLevel(const Report& report, VerifyLevel level) {
  if (const auto skipped = FindCommonSkip(report, level)) {
    return fmt::format("<h2>{}</h2>\n<p>Skipped: {}.</p>\n", NameLevel(level), EscapeXml(*skipped));
  }
  std::string text;
  for (const HeatMap& map : ListHeatMaps(report, level)) text += RenderHeatMap(report, map);
  return text.empty() ? "" : fmt::format("<h2>{}</h2>\n", NameLevel(level)) + text;
}

// Precondition: NCCL was run.
std::string RenderNccl(const Report& report) {
  std::string text = "<h2>NCCL</h2>\n";
  NcclSummary drawn = *report.nccl;
  std::erase_if(drawn.figures, [&](const NcclFigure& figure) { return IsInvalid(report, figure); });
  if (const std::string chart = DrawNcclChart(drawn); !chart.empty()) {
    text += MakeScrolling("Bus bandwidth over size", chart);
  }
  std::string rows;
  for (const NcclFigure& figure : report.nccl->figures) {
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        ToString(figure.collective), FormatSize(figure.bytes), ToString(figure.type),
        figure.in_place ? "yes" : "no", FormatMicroseconds(report, figure, figure.time_us),
        FormatMicroseconds(report, figure, figure.p95_us), FormatBusBandwidth(report, figure));
  }
  if (rows.empty()) return text;
  return text + MakeTable({"Collectives: time in µs, bus bandwidth in GB/s",
                           {"Collective", "Size", "Type", "In place", "Mean", "95 %", "GB/s"},
                           rows});
}

std::string RenderFabric(const Report& report) {
  if (!report.fabric || report.fabric->devices.empty()) return "";
  CableRates rates = FindCableRates(*report.fabric, report);
  const bool is_measured = std::any_of(rates.begin(), rates.end(),
                                       [](const CableRate& rate) { return rate.gbps.has_value(); });
  if (!is_measured) rates.clear();
  return "<h2>Fabric</h2>\n" +
         MakeScrolling("Fabric",
                       "<div class=\"picture\">" + DrawSvg(*report.fabric, rates) + "</div>");
}

// A row per fact, so that nodes which differ do so within a line.
std::string RenderFacts(const Report& report) {
  if (report.facts.empty()) return "";
  std::set<std::string> names;
  HtmlTable table{.caption = "Facts of each node", .columns = {""}};
  for (const auto& [node, facts] : report.facts) {
    table.columns.push_back(node);
    for (const auto& [name, value] : facts) names.insert(name);
  }
  for (const std::string& name : names) {
    table.html += fmt::format("<tr><th scope=\"row\">{}</th>", EscapeXml(name));
    for (const auto& [node, facts] : report.facts) {
      const auto found = facts.find(name);
      table.html +=
          fmt::format("<td>{}</td>", found == facts.end() ? "–" : EscapeXml(found->second));
    }
    table.html += "</tr>\n";
  }
  return "<h2>Facts</h2>\n" + MakeTable(table);
}

std::string RenderFooter(const Report& report) {
  std::string text = fmt::format("<footer><p>Verified up to level {}", ToString(report.level));
  if (report.run) {
    text += fmt::format(" on {} in {:.0f} s by spark-reconcile {}", EscapeXml(FormatTime(report)),
                        report.run->seconds, EscapeXml(report.run->program));
  }
  return text + "; format spark-reconcile/report/1.</p></footer>\n";
}

}  // namespace

std::string RenderHtml(const Report& report) {
  std::string text =
      RenderVerdict(report) + "<main>\n" + RenderFindings(report) + RenderFabric(report);
  for (const VerifyLevel level : {VerifyLevel::kRdma, VerifyLevel::kPing, VerifyLevel::kSsh}) {
    text += RenderLevel(report, level);
  }
  if (report.nccl) text += RenderNccl(report);
  text += RenderFacts(report) + "</main>\n" + RenderFooter(report);
  return MakePage(fmt::format("{}: {}", report.cluster, ToString(FindVerificationOutcome(report))),
                  text);
}

}  // namespace reconciler
