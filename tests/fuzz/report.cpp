// A report of verify, as everything that draws it does.
#include <nlohmann/json.hpp>

#include "reconciler/model/json/json.h"
#include "reconciler/verify/report/compare.h"
#include "reconciler/verify/report/html/html.h"
#include "reconciler/verify/report/junit.h"
#include "reconciler/verify/report/markdown.h"
#include "reconciler/verify/report/metrics/verify_metrics.h"
#include "reconciler/verify/report/render.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

void CheckDrawn(const Report& report) {
  Must(IsPlainText(RenderReport(report)), "a report is plain text");
  Must(IsPlainText(RenderMarkdown(report)), "a report is plain Markdown");
  Must(IsPlainText(RenderHtml(report)), "a report is plain HTML");
  Must(IsPlainText(RenderJunit(report)), "a report is plain XML");
  Must(IsPlainText(FormatVerifyMetrics(report)), "a report's metrics are plain text");
}

void CheckCompared(const Report& report) {
  const auto same = CompareReports(report, report);
  if (!same) return CheckError(same.error());
  Must(same->worse.empty() && same->better.empty() && same->added.empty() && same->gone.empty(),
       "a report does not differ from itself");
  Must(IsPlainText(RenderComparison(report, report, *same)), "a comparison is plain text");
  Must(IsPlainText(RenderComparisonMarkdown(report, report, *same)), "it is plain Markdown");
  Must(IsPlainText(RenderComparisonHtml(report, report, *same)), "it is plain HTML");
  Dump(ComparisonToJson(report, report, *same));
}

}  // namespace

void Run(std::string_view input) {
  const auto report = ParseReport(input);
  if (!report) return CheckError(report.error());
  const auto back = ParseReport(Dump(ToJson(*report)));
  if (!back) throw std::logic_error(FormatError(back.error()));
  Must(*back == *report, "a report comes back from its JSON");
  CheckDrawn(*report);
  CheckCompared(*report);
}

}  // namespace reconciler::fuzz
