#include "reconciler/verify/report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/model/fabric.h"

namespace reconciler {
namespace {

bool IsAbout(const Finding& finding, const Check& check) {
  const bool has_node =
      std::any_of(finding.nodes.begin(), finding.nodes.end(),
                  [&](const NodeName& node) { return node == check.from || node == check.to; });
  const bool has_rail = finding.rails.empty() || !check.rail || finding.rails.contains(*check.rail);
  return has_node && has_rail && finding.level <= check.level && finding.outcome == check.outcome;
}

// The finding that is about the check: the one that is called like what the check has seen, or else
// one of its level, its node and its rail that is called like no other check's.
const Finding* FindFinding(const Report& report, const Check& check) {
  std::set<std::string_view> seen;
  for (const Check& one : report.checks) seen.insert(ToString(one.symptom));
  const Finding* of_none = nullptr;
  for (const Finding& finding : report.findings) {
    if (!IsAbout(finding, check)) continue;
    if (finding.code == ToString(check.symptom)) return &finding;
    if (of_none == nullptr && !seen.contains(finding.code)) of_none = &finding;
  }
  return of_none;
}

std::string DescribeCheck(const Report& report, const Check& check) {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) lines.push_back(fmt::format("{}: {}", label, text));
  };
  add("expected", check.expected);
  add("measured", check.measured.empty() ? check.why : check.measured);
  if (const Finding* finding = FindFinding(report, check)) {
    add("cause", finding->cause);
    add("next step", finding->next_step);
  }
  for (std::string& line : lines) line = EscapeXml(line);
  return Join(lines, "\n");
}

std::string RenderOutcome(const Report& report, const Check& check) {
  const Finding* finding = FindFinding(report, check);
  const std::string type = EscapeXml(finding != nullptr ? finding->code : ToString(check.outcome));
  const std::string message = EscapeXml(check.measured.empty() ? check.why : check.measured);
  switch (check.outcome) {
    case Outcome::kPass:
      return "";
    case Outcome::kWarn:
      return fmt::format("<system-out>{}: {}</system-out>", type, DescribeCheck(report, check));
    case Outcome::kFail:
      return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", type, message,
                         DescribeCheck(report, check));
    case Outcome::kCouldNotMeasure:
      return fmt::format("<error type=\"{}\" message=\"{}\">{}</error>", type, message,
                         DescribeCheck(report, check));
    case Outcome::kSkipped:
      return fmt::format("<skipped message=\"{}\"/>", message);
  }
  return "";
}

struct Counts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;

  std::string Format() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                       errors, skipped);
  }
};

Counts CountChecks(const Report& report, std::optional<VerifyLevel> level) {
  Counts counts;
  for (const Check& check : report.checks) {
    if (level && check.level != *level) continue;
    ++counts.tests;
    counts.failures += check.outcome == Outcome::kFail;
    counts.errors += check.outcome == Outcome::kCouldNotMeasure;
    counts.skipped += check.outcome == Outcome::kSkipped;
  }
  return counts;
}

}  // namespace

std::string RenderJunit(const Report& report) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"spark-reconcile verify {}\" "
      "{}>\n",
      EscapeXml(report.cluster), CountChecks(report, std::nullopt).Format());
  for (const VerifyLevel level : kVerifyLevels) {
    const Counts counts = CountChecks(report, level);
    if (counts.tests == 0) continue;
    text += fmt::format("  <testsuite name=\"{}\" {}>\n", ToString(level), counts.Format());
    for (const Check& check : report.checks) {
      if (check.level != level) continue;
      text += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\">{}</testcase>\n",
                          EscapeXml(report.cluster), ToString(level), EscapeXml(FormatCheck(check)),
                          RenderOutcome(report, check));
    }
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace reconciler
