#include "reconciler/verify/report/report_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/invalid.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

Json RankToJson(const NcclRankFacts& rank, const RankPath& path) {
  Json rails = Json::array();
  for (const RailUse& rail : path.rails) {
    rails.push_back({{"hca", rail.hca},
                     {"rail", FormatRailName(rail.rail)},
                     {"sent", rail.sent},
                     {"received", rail.received}});
  }
  return {{"node", rank.node},        {"version", rank.version},     {"library", rank.library},
          {"gpu", rank.gpu},          {"path", ToString(path.path)}, {"counted", path.counted},
          {"rails", std::move(rails)}};
}

// JSON has no form for what a broken clock makes.
double MakeFinite(double value) { return std::isfinite(value) ? value : 0; }

Json FigureToJson(const NcclFigure& figure) {
  return {{"collective", ToString(figure.collective)},
          {"bytes", figure.bytes},
          {"type", ToString(figure.type)},
          {"in_place", figure.in_place},
          {"iterations", figure.iterations},
          {"time_us", MakeFinite(figure.time_us)},
          {"p50_us", MakeFinite(figure.p50_us)},
          {"p95_us", MakeFinite(figure.p95_us)},
          {"algbw", MakeFinite(figure.algbw)},
          {"busbw", MakeFinite(figure.busbw)},
          {"wrong", figure.wrong}};
}

std::string FormatPaths(const NcclSummary& summary) {
  std::set<std::string> names;
  for (const RankPath& path : summary.paths) {
    switch (path.path) {
      case NcclPath::kUnknown:
        names.insert("nothing that is known");
        break;
      case NcclPath::kRdma:
        names.insert("RDMA");
        break;
      case NcclPath::kSocket:
        names.insert("TCP sockets");
        break;
      case NcclPath::kOther:
        names.insert("a plugin");
        break;
    }
  }
  return Join({names.begin(), names.end()}, " and ");
}

// Old libraries print their whole version on the first rank only: "2.21.5" of the others is the
// same as its "2.21.5+cuda12.4".
std::set<std::string> ListVersions(const NcclSummary& summary) {
  std::set<std::string> versions;
  for (const NcclRankFacts& rank : summary.ranks) {
    if (!rank.version.empty()) versions.insert(rank.version);
  }
  std::erase_if(versions, [all = versions](const std::string& version) {
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& other) { return other.starts_with(version + "+"); });
  });
  return versions;
}

std::string FormatHead(const NcclSummary& summary) {
  const std::set<std::string> versions = ListVersions(summary);
  std::string text =
      "nccl " + (versions.empty() ? "?" : Join({versions.begin(), versions.end()}, " and "));
  text += fmt::format(", {}", FormatPlural(summary.ranks.size(), "rank", "ranks"));
  if (!summary.figures.empty()) text += " over " + FormatPaths(summary);
  if (summary.roofline) text += fmt::format(", links for {:.1f} GB/s", summary.roofline->ring);
  return text + "\n";
}

// Whether they are one test in its two placements, which share a line.
bool AreOneTest(const NcclFigure& figure, const NcclFigure& in_place) {
  return !figure.in_place && in_place.in_place && in_place.collective == figure.collective &&
         in_place.bytes == figure.bytes && in_place.type == figure.type;
}

std::string FormatFigures(const Report& report) {
  const std::vector<NcclFigure>& figures = report.nccl->figures;
  if (figures.empty()) return {};
  std::string text = fmt::format("  {:<14} {:>8} {:<8} {:>11} {:>11} {:>9} {:>9}\n", "collective",
                                 "size", "type", "µs", "µs, 95 %", "GB/s", "in place");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const NcclFigure& figure = figures[i];
    const bool both = i + 1 < figures.size() && AreOneTest(figure, figures[i + 1]);
    const std::string own = FormatBusBandwidth(report, figure);
    std::string line =
        fmt::format("  {:<14} {:>8} {:<8} {:>11} {:>11} {:>9} {:>9}", ToString(figure.collective),
                    FormatSize(figure.bytes), ToString(figure.type),
                    FormatMicroseconds(report, figure, figure.time_us),
                    FormatMicroseconds(report, figure, figure.p95_us), figure.in_place ? "" : own,
                    both              ? FormatBusBandwidth(report, figures[i + 1])
                    : figure.in_place ? own
                                      : "");
    line.erase(line.find_last_not_of(' ') + 1);
    if (both) ++i;
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string FormatShort(double value) {
  return value < 0.1 ? fmt::format("{:.3f}", value) : fmt::format("{:#.3g}", value);
}

std::string FormatBusBandwidth(const Report& report, const NcclFigure& figure) {
  return IsInvalid(report, figure) ? "invalid" : FormatShort(figure.busbw);
}

std::string FormatMicroseconds(const Report& report, const NcclFigure& figure, double time_us) {
  return IsInvalid(report, figure) ? "-" : fmt::format("{:.1f}", time_us);
}

Json NcclToJson(const NcclSummary& summary) {
  Json json = {{"root", summary.root}, {"seconds", summary.seconds}};
  if (summary.roofline) {
    json["roofline"] = {{"ring", summary.roofline->ring}, {"most", summary.roofline->most}};
  }
  json["ranks"] = Json::array();
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    json["ranks"].push_back(RankToJson(summary.ranks[i], summary.paths.at(i)));
  }
  json["tests"] = Json::array();
  for (const NcclFigure& figure : summary.figures) json["tests"].push_back(FigureToJson(figure));
  json["pairs"] = Json::array();
  for (const PairVerdict& pair : summary.pairs) {
    json["pairs"].push_back(
        {{"a", pair.a}, {"b", pair.b}, {"good", pair.good}, {"seen", pair.seen}});
  }
  return json;
}

std::string FormatNccl(const Report& report) {
  return FormatHead(*report.nccl) + FormatFigures(report) + "\n";
}

}  // namespace reconciler
