#include "reconciler/planning/drift/drift_junit.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/planning/drift/node_drift.h"

namespace reconciler {
namespace {

std::string RenderResult(const NodeDrift& drift) {
  std::vector<std::string> escaped;
  for (const std::string& line : drift.differences) escaped.push_back(EscapeXml(line));
  const std::string lines = Join(escaped, "\n");
  if (!drift.unreachable.empty()) {
    return fmt::format("<error type=\"unreachable\" message=\"{}\">{}</error>",
                       EscapeXml(MakePrintable(drift.unreachable)), lines);
  }
  if (drift.differences.empty()) return "";
  return fmt::format(
      "<failure type=\"drift\" message=\"differs from the manifest: {}\">{}</failure>",
      drift.differences.size(), lines);
}

}  // namespace

std::string RenderDriftJunit(const Plan& plan) {
  std::vector<NodeDrift> all = ListDrift(plan);
  if (NodeDrift rest = FindDriftOfCluster(plan); !rest.differences.empty()) {
    rest.node = "cluster";
    all.push_back(std::move(rest));
  }
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::string cases;
  const std::string cluster = EscapeXml(plan.cluster);
  for (const NodeDrift& drift : all) {
    if (!drift.unreachable.empty()) {
      ++errors;
    } else if (!drift.differences.empty()) {
      ++failures;
    }
    cases += fmt::format("    <testcase classname=\"{}.drift\" name=\"{}\">{}</testcase>\n",
                         cluster, EscapeXml(drift.node), RenderResult(drift));
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\"",
                                         all.size(), failures, errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"spark-reconcile drift {}\" "
      "{}>\n  <testsuite name=\"drift\" {}>\n{}  </testsuite>\n</testsuites>\n",
      cluster, counts, counts, cases);
}

}  // namespace reconciler
