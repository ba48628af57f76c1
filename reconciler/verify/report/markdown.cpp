#include "reconciler/verify/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/escape_markdown.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {
namespace {

std::string RenderFinding(const Finding& finding) {
  std::string text = fmt::format("### {}: {} ({})\n\n", finding.code,
                                 EscapeMarkdown(FormatPlace(finding)), ToString(finding.outcome));
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", label, EscapeMarkdown(value));
  };
  add("expected", finding.expected);
  add("measured", finding.measured);
  for (const std::string& line : finding.evidence) add("evidence", line);
  add("cause", finding.cause);
  add("next step", finding.next_step);
  return text + "\n";
}

std::string RenderLevels(const Report& report) {
  std::string text =
      "## Checks\n\n| Level | Passed | Warned | Failed | Could not be measured | Skipped |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const VerifyLevel level : kVerifyLevels) {
    const auto count = [&](Outcome outcome) {
      return std::count_if(report.checks.begin(), report.checks.end(), [&](const Check& check) {
        return check.level == level && check.outcome == outcome;
      });
    };
    const bool any = std::any_of(report.checks.begin(), report.checks.end(),
                                 [&](const Check& check) { return check.level == level; });
    if (!any) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", ToString(level), count(Outcome::kPass),
                        count(Outcome::kWarn), count(Outcome::kFail),
                        count(Outcome::kCouldNotMeasure), count(Outcome::kSkipped));
  }
  return text;
}

std::string RenderWrites(const Report& report) {
  std::string rows;
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kRdma || check.measured.empty()) continue;
    rows += fmt::format("| {} | {} | {}{} | {} | {} |\n", EscapeMarkdown(check.from),
                        EscapeMarkdown(check.to), FormatRailName(check.rail.value_or(0)),
                        check.what == "write-alone" ? "" : ", with the others",
                        EscapeMarkdown(check.measured), ToString(check.outcome));
  }
  if (rows.empty()) return "";
  return "## RDMA writes\n\n| From | To | Rail | Measured | Outcome |\n| --- | --- | --- | --- | "
         "--- |\n" +
         rows + "\n";
}

}  // namespace

std::string RenderMarkdown(const Report& report) {
  std::string text = fmt::format("# Verification of {}: {}\n\n", EscapeMarkdown(report.cluster),
                                 ToString(FindVerificationOutcome(report)));
  text += fmt::format("Up to level {}", ToString(report.level));
  if (report.not_measured) text += "; " + EscapeMarkdown(FormatNotMeasured(report));
  text += ".\n\n";
  if (!report.findings.empty()) {
    text += "## Findings\n\n";
    for (const Finding& finding : report.findings) text += RenderFinding(finding);
  }
  text += RenderWrites(report);
  if (report.nccl) text += "## NCCL\n\n```text\n" + FormatNccl(report) + "```\n\n";
  return text + RenderLevels(report);
}

}  // namespace reconciler
