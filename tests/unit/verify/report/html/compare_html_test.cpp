#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/report/compare.h"

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

Check MakeComparedWrite(int rail, double gbps) {
  return {.level = VerifyLevel::kRdma,
          .what = "write-alone",
          .from = "spark-1",
          .to = "spark-2",
          .rail = rail,
          .gbps = gbps,
          .latency_us = 2.0};
}

Finding MakeComparedFinding(const std::string& code) {
  return {.code = code,
          .outcome = Outcome::kFail,
          .nodes = {"spark-1"},
          .evidence = {"<img src=x onerror=alert(1)>\x1b[2J"},
          .cause = "a cause",
          .next_step = "a step"};
}

Report MakeComparedReport(const std::string& began) {
  Report report{.cluster = "lab<script>", .level = VerifyLevel::kRdma};
  report.run = {.began = began, .seconds = 9.6, .program = "0.1.0"};
  report.checks = {MakeComparedWrite(0, 110), MakeComparedWrite(1, 108)};
  report.facts = {{"spark-1", {{"kernel", "6.11"}}}, {"spark-2", {{"kernel", "6.11"}}}};
  return report;
}

class ComparisonPage : public testing::Test {
 protected:
  std::string Render() const {
    return RenderComparisonHtml(before_, after_, *CompareReports(before_, after_));
  }

  Report before_ = MakeComparedReport("2026-11-23T03:12:05Z");
  Report after_ = MakeComparedReport("2026-11-24T03:12:05Z");
};

TEST_F(ComparisonPage, TheVerdictStandsBeforeAllElse) {
  after_.checks[0].gbps = 88;
  const std::string page = Render();
  EXPECT_THAT(page, HasSubstr("<title>lab&lt;script&gt;: 2026-11-24 03:12 UTC compared with "
                              "2026-11-23 03:12 UTC</title>\n"));
  EXPECT_THAT(
      page, HasSubstr("<body>\n<header class=\"verdict failed\"><h1>lab&lt;script&gt;: worse: 1 "
                      "figure is slower</h1>\n<p>2026-11-24 03:12 UTC compared with 2026-11-23 "
                      "03:12 UTC; 3 figures are the same: bandwidths within 5 %, times within "
                      "20 %.</p>\n</header>\n<main>\n<h2>Slower since 2026-11-23 03:12 UTC</h2>"));
  EXPECT_THAT(page, HasSubstr("<footer><p>Before: 2026-11-23 03:12 UTC, verified up to level rdma "
                              "in 10 s by spark-reconcile 0.1.0.<br>\nNow: 2026-11-24 03:12 UTC, "
                              "verified up to level rdma in 10 s by spark-reconcile 0.1.0.<br>\n"
                              "Format spark-reconcile/comparison/1.</p></footer>\n"));
}

TEST_F(ComparisonPage, AFigureHasBothValuesAndTheDifference) {
  after_.checks[0].gbps = 55;
  after_.checks[1].latency_us = 1.0;
  const std::string page = Render();
  EXPECT_THAT(page, HasSubstr("<tr><th scope=\"col\">Figure</th><th scope=\"col\">Change</th><th "
                              "scope=\"col\">Before</th><th scope=\"col\">Now</th><th "
                              "scope=\"col\">Unit</th></tr></thead>"));
  EXPECT_THAT(page, HasSubstr("<tr><th scope=\"row\">write-alone spark-1 to spark-2 on rail0</th>"
                              "<td class=\"number\" style=\"background: hsl(var(--heat-worse) 60% "
                              "var(--heat-light))\">-50.0 %</td><td class=\"number\">110.0</td>"
                              "<td class=\"number\">55.0</td><td class=\"word\">Gb/s</td></tr>\n"));
  EXPECT_THAT(page,
              HasSubstr("<tr><th scope=\"row\">latency of write-alone spark-1 to spark-2 on rail1"
                        "</th><td class=\"number\" style=\"background: hsl(var(--heat) 60% "
                        "var(--heat-light))\">-50.0 %</td><td class=\"number\">2.00</td>"
                        "<td class=\"number\">1.00</td><td class=\"word\">µs</td></tr>\n"));
  EXPECT_LT(page.find("<h2>Slower"), page.find("<h2>Faster"));
}

TEST_F(ComparisonPage, EqualReportsHaveNothingSlowerNewOrChanged) {
  const std::string page = Render();
  EXPECT_THAT(page, HasSubstr("<header class=\"verdict passed\"><h1>lab&lt;script&gt;: nothing got "
                              "worse</h1>"));
  EXPECT_THAT(page, HasSubstr("<h2>Slower since 2026-11-23 03:12 UTC</h2>\n<p>None.</p>\n"
                              "<h2>Findings that are new or worse since 2026-11-23 03:12 UTC</h2>\n"
                              "<p>None.</p>\n"
                              "<h2>Faster since 2026-11-23 03:12 UTC</h2>\n<p>None.</p>\n"
                              "<h2>Facts that changed</h2>\n<p>None.</p>\n</main>\n"));
}

TEST_F(ComparisonPage, FindingsAreNewGoneOrStillThere) {
  before_.findings = {MakeComparedFinding("path-mtu"), MakeComparedFinding("ssh-denied")};
  after_.findings = {MakeComparedFinding("ssh-denied"), MakeComparedFinding("hca-degraded")};
  const std::string page = Render();
  const std::size_t added = page.find(
      "<h2>Findings that are new or worse since 2026-11-23 03:12 "
      "UTC</h2>\n<section class=\"finding fail\"><h3>fail: "
      "hca-degraded, spark-1</h3>");
  const std::size_t gone = page.find(
      "<h2>Findings that are gone</h2>\n<section class=\"finding "
      "fail\"><h3>fail: path-mtu, spark-1</h3>");
  const std::size_t kept = page.find(
      "<h2>Findings that are still there</h2>\n<section class=\""
      "finding fail\"><h3>fail: ssh-denied, spark-1</h3>");
  EXPECT_LT(added, gone);
  EXPECT_LT(gone, kept);
  EXPECT_NE(kept, std::string::npos);
}

TEST_F(ComparisonPage, ChecksFactsAndWhatWasNotMeasuredAgainAreListed) {
  before_.checks.push_back(
      {.level = VerifyLevel::kPing, .what = "jumbo-ping", .from = "spark-1", .to = "spark-2"});
  after_.checks[0].outcome = Outcome::kWarn;
  after_.facts["spark-2"]["kernel"] = "a<b";
  const std::string page = Render();
  EXPECT_THAT(page, HasSubstr("<tr><th scope=\"row\">write-alone spark-1 to spark-2 on rail0</th>"
                              "<td>pass</td><td class=\"warn\">warn</td></tr>\n"));
  EXPECT_THAT(page, HasSubstr("<h2>No longer measured</h2>\n<ul>\n<li>jumbo-ping spark-1 to "
                              "spark-2</li>\n</ul>\n"));
  EXPECT_THAT(page, HasSubstr("<tr><th scope=\"row\">kernel</th><td>6.11</td><td>a&lt;b</td>"
                              "<td>spark-2</td></tr>\n"));
  after_.facts.clear();
  EXPECT_THAT(Render(), HasSubstr("<h2>Facts that changed</h2>\n<p>Not compared.</p>\n"));
}

TEST_F(ComparisonPage, WhatWasNotMeasuredAgainIsNoSuccess) {
  after_.checks.pop_back();
  EXPECT_THAT(Render(), HasSubstr("<header class=\"verdict unsure\">"));
}

TEST_F(ComparisonPage, WhatANodeSaysIsTextAndNothingIsLoaded) {
  after_.findings = {MakeComparedFinding("hca-degraded")};
  const std::string page = Render();
  EXPECT_THAT(page, HasSubstr("<dd>&lt;img src=x onerror=alert(1)&gt;\\x1b[2J</dd>"));
  for (const char* loaded : {"<script", "<img", "http:", "https:", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(loaded)));
  }
}

}  // namespace
}  // namespace reconciler
