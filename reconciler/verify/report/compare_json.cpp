#include <nlohmann/json.hpp>

#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/compare.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

Json FigureChangesToJson(const std::vector<FigureChange>& changes) {
  Json list = Json::array();
  for (const FigureChange& change : changes) {
    list.push_back({{"what", change.what},
                    {"unit", change.unit},
                    {"before", change.before},
                    {"after", change.after},
                    {"percent", change.ComputePercent()}});
  }
  return list;
}

Json FindingsToJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json rails = Json::array();
    for (const int rail : finding.rails) rails.push_back(FormatRailName(rail));
    list.push_back({{"code", finding.code},
                    {"outcome", ToString(finding.outcome)},
                    {"nodes", finding.nodes},
                    {"rails", std::move(rails)},
                    {"measured", finding.measured},
                    {"cause", finding.cause},
                    {"next_step", finding.next_step}});
  }
  return list;
}

Json OutcomeChangesToJson(const std::vector<OutcomeChange>& changes) {
  Json list = Json::array();
  for (const OutcomeChange& change : changes) {
    list.push_back({{"what", change.what},
                    {"before", ToString(change.before)},
                    {"after", ToString(change.after)}});
  }
  return list;
}

Json FactChangesToJson(const std::vector<FactChange>& changes) {
  Json list = Json::array();
  for (const FactChange& change : changes) {
    list.push_back({{"name", change.name},
                    {"before", change.before},
                    {"after", change.after},
                    {"nodes", change.nodes}});
  }
  return list;
}

std::string GetTime(const Report& report) { return report.run ? report.run->began : ""; }

}  // namespace

Json ComparisonToJson(const Report& before, const Report& after, const ReportComparison& comparison,
                      const Noise& noise) {
  return {{"format", "spark-reconcile/comparison/1"},
          {"cluster", after.cluster},
          {"before", GetTime(before)},
          {"after", GetTime(after)},
          {"exit_code", FindExitCode(comparison)},
          {"noise", {{"bandwidth_percent", noise.bandwidth}, {"time_percent", noise.time}}},
          {"slower", FigureChangesToJson(comparison.worse)},
          {"faster", FigureChangesToJson(comparison.better)},
          {"same", comparison.same},
          {"findings",
           {{"worse", FindingsToJson(comparison.added)},
            {"gone", FindingsToJson(comparison.gone)},
            {"kept", FindingsToJson(comparison.kept)}}},
          {"checks", OutcomeChangesToJson(comparison.deteriorated)},
          {"not_measured", comparison.not_measured},
          {"facts", FactChangesToJson(comparison.facts)}};
}

}  // namespace reconciler
