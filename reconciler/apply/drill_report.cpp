#include "reconciler/apply/drill_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/planning/layout.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

Json ErrorsToJson(const Errors& errors) {
  Json json = Json::array();
  for (const Error& error : errors) {
    json.push_back(
        {{"message", MakePrintable(error.message)}, {"next_step", MakePrintable(error.hint)}});
  }
  return json;
}

}  // namespace

std::string FormatDrill(const NodeName& node, const DrillReport& report, int revert_after_s,
                        std::size_t columns) {
  std::string text = fmt::format(
      "{}  reverted it {:.1f} s after the last sign of life (limit {} s)\n"
      "as before, byte for byte:\n",
      node, report.reverted_after_s, revert_after_s);
  for (const std::string& one : report.checked) text += "  " + one + "\n";
  return WrapLines(text, columns);
}

Json DrillsToJson(const std::vector<std::pair<NodeName, DrillReport>>& drills, int revert_after_s) {
  Json nodes = Json::array();
  for (const auto& [name, report] : drills) {
    Json node = {{"name", name},
                 {"proved", report.errors.empty()},
                 {"began", report.began},
                 {"reverted", report.reverted}};
    if (report.reverted) {
      node["reverted_after_s"] = std::round(report.reverted_after_s * 10) / 10;
    }
    node["as_before"] = report.checked;
    node["ended"] = report.ended;
    node["errors"] = ErrorsToJson(report.errors);
    nodes.push_back(std::move(node));
  }
  return {{"format", "spark-reconcile/drill/1"},
          {"revert_after_s", revert_after_s},
          {"nodes", std::move(nodes)}};
}

}  // namespace reconciler
