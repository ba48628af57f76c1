#include "reconciler/verify/report/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reconciler/verify/report/html/chart.h"

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

Check MakeWrite(const NodeName& from, const NodeName& to, int rail, double gbps, Outcome outcome) {
  return {.level = VerifyLevel::kRdma,
          .what = "write-alone",
          .from = from,
          .to = to,
          .rail = rail,
          .outcome = outcome,
          .measured = "a text",
          .gbps = gbps};
}

Report MakeDegradedReport() {
  Report report{.cluster = "lab<script>", .level = VerifyLevel::kRdma};
  report.checks = {MakeWrite("spark-1", "spark-2", 0, 111.8, Outcome::kPass),
                   MakeWrite("spark-2", "spark-1", 0, 13.2, Outcome::kFail),
                   {.level = VerifyLevel::kPing,
                    .what = "jumbo-ping",
                    .from = "spark-1",
                    .to = "spark-2",
                    .rail = 0}};
  report.findings = {{.code = "hca-degraded",
                      .outcome = Outcome::kFail,
                      .level = VerifyLevel::kRdma,
                      .nodes = {"spark-1", "spark-2"},
                      .rails = {0},
                      .measured = "13.2 Gb/s",
                      .evidence = {"<img src=x onerror=alert(1)>\x1b[2J"},
                      .cause = "a ConnectX is degraded",
                      .next_step = "shut both down",
                      .explains = 2}};
  return report;
}

NcclFigure MakeFigure(std::uint64_t bytes, double busbw, bool in_place = false) {
  NcclFigure figure;
  figure.bytes = bytes;
  figure.busbw = busbw;
  figure.in_place = in_place;
  return figure;
}

TEST(RenderHtml, TheVerdictStandsBeforeAllElse) {
  Report report = MakeDegradedReport();
  report.run = {.began = "2026-11-24T03:12:05Z", .seconds = 9.6, .program = "0.1.0"};
  report.fabric = {.title = "two nodes", .devices = {{.name = "spark-1"}, {.name = "spark-2"}}};
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page,
              HasSubstr("<header class=\"verdict failed\"><h1>lab&lt;script&gt;: failed</h1>\n"
                        "<p>2 of 3 checks passed, 0 warned, 1 failed, 0 could not be measured, 0 "
                        "skipped; 1 cause.</p>\n</header>\n<main>\n<h2>Findings</h2>\n"));
  EXPECT_LT(page.find("<h2>Findings"), page.find("<h2>Fabric"));
  EXPECT_LT(page.find("<svg"), page.find("<h2>RDMA writes"));
  EXPECT_THAT(page, HasSubstr("Verified up to level rdma on 2026-11-24 03:12 UTC in 10 s by "
                              "spark-reconcile 0.1.0; format spark-reconcile/report/1."));
}

TEST(RenderHtml, ALatencyIsAHeatMapOfItsOwnAfterTheBandwidths) {
  Report report = MakeDegradedReport();
  report.checks[0].latency_us = 1.8;
  report.checks[0].roofline_gbps = 223.6;
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, HasSubstr("hsl(var(--heat) 30% var(--heat-light))\">111.8</td>"));
  EXPECT_THAT(page, HasSubstr("hsl(var(--heat-time) 60% var(--heat-light))\">1.8</td>"));
  EXPECT_LT(page.find("<caption>write-alone, rail0, from row to column, in Gb/s</caption>"),
            page.find("<caption>latency of write-alone, rail0, from row to column, in µs"));
}

// It would be the darkest cell, and all others pale.
TEST(RenderHtml, AFigureThatCannotBeTrueIsNoCellOfAHeatMap) {
  Report report = MakeDegradedReport();
  report.checks.push_back(report.checks[0]);
  Check& invalid = report.checks.back();
  std::swap(invalid.from, invalid.to);
  invalid.gbps = 260;
  invalid.outcome = Outcome::kCouldNotMeasure;
  invalid.symptom = Symptom::kInvalidFigure;
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, HasSubstr("hsl(var(--heat) 60% var(--heat-light))\">111.8</td>"));
  EXPECT_THAT(page, Not(HasSubstr("260")));
}

TEST(RenderHtml, AFigureOfNcclThatCannotBeTrueIsNeitherInTheTableNorInTheChart) {
  Report report{.cluster = "lab", .level = VerifyLevel::kNccl};
  report.nccl = NcclSummary{.figures = {MakeFigure(1 << 20, 8), MakeFigure(2 << 20, 51.2)}};
  report.checks = {{.level = VerifyLevel::kNccl,
                    .what = "nccl-test",
                    .from = "spark-1",
                    .subject = report.nccl->figures[1].Name(),
                    .outcome = Outcome::kCouldNotMeasure,
                    .symptom = Symptom::kInvalidFigure}};
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, HasSubstr("<td>2 MiB</td><td>float</td><td>no</td><td class=\"number\">-</td>"
                              "<td class=\"number\">-</td><td class=\"number\">invalid</td>"));
  EXPECT_THAT(page, HasSubstr(">all_reduce 8</text>"));
  EXPECT_THAT(page, Not(HasSubstr("51.2")));
  report.checks.clear();
  EXPECT_THAT(RenderHtml(report), HasSubstr(">all_reduce 51.2</text>"));
}

TEST(RenderHtml, FactsAreATableWithARowForEach) {
  Report report = MakeDegradedReport();
  report.facts = {{"spark-1", {{"kernel", "6.11"}, {"product", "a<b"}}},
                  {"spark-2", {{"kernel", "6.17"}}}};
  EXPECT_THAT(RenderHtml(report),
              HasSubstr("<tr><th scope=\"row\">kernel</th><td>6.11</td><td>6.17</td></tr>\n"
                        "<tr><th scope=\"row\">product</th><td>a&lt;b</td><td>–</td></tr>\n"));
}

// Or the columns of a table that goes on over several pages have no names on the second one.
TEST(RenderHtml, EveryTableHasAHeadThatIsPrintedOnEachPage) {
  Report report = MakeDegradedReport();
  report.facts = {{"spark-1", {{"kernel", "6.11"}}}};
  const std::string page = RenderHtml(report);
  const auto count = [&](std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<table"), 3u);
  EXPECT_EQ(count("</caption>\n<thead><tr>"), 3u);
  EXPECT_THAT(page, HasSubstr("aria-label=\"Facts of each node\" style=\"--columns: 2\">"));
}

TEST(RenderHtml, WhatANodeSaysIsTextAndNothingIsLoaded) {
  const std::string page = RenderHtml(MakeDegradedReport());
  EXPECT_THAT(page, HasSubstr("<dd>&lt;img src=x onerror=alert(1)&gt;\\x1b[2J</dd>"));
  for (const char* loaded : {"<script", "<img", "http:", "https:", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(loaded)));
  }
}

TEST(RenderHtml, ASpeedIsANumberAndAnOutcomeAWord) {
  const std::string page = RenderHtml(MakeDegradedReport());
  EXPECT_THAT(page,
              HasSubstr("<caption>write-alone, rail0, from row to column, in Gb/s</caption>"));
  EXPECT_THAT(page, HasSubstr("hsl(var(--heat) 60% var(--heat-light))\">111.8</td>"));
  EXPECT_THAT(page, HasSubstr("hsl(var(--heat) 7% var(--heat-light))\">13.2 fail</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"pass\">pass</td>"));
}

TEST(RenderHtml, WithoutFindingsItSaysSoAndNamesWhatWasLeftOut) {
  Report report{.cluster = "lab"};
  report.not_measured = NotMeasured{VerifyLevel::kRdma, "no RDMA device on spark-2"};
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, HasSubstr("<h1>lab: passed</h1>"));
  EXPECT_THAT(
      page, HasSubstr("skipped; 0 causes; bandwidth not measured: no RDMA device on spark-2.</p>"));
  EXPECT_THAT(page, HasSubstr("<h2>Findings</h2>\n<p>None.</p>"));
}

TEST(RenderHtml, ALevelThatWasSkippedIsOneSentence) {
  Report report = MakeDegradedReport();
  for (Check& check : report.checks) {
    check.gbps.reset();
    check.outcome = Outcome::kSkipped;
    check.why = "left out, as requested";
  }
  EXPECT_THAT(RenderHtml(report),
              HasSubstr("<h2>RDMA writes</h2>\n<p>Skipped: left out, as requested.</p>\n"));
}

TEST(DrawNcclChart, ALinePerCollectiveAndTheRoofline) {
  NcclSummary summary;
  summary.roofline = NcclRoofline{.ring = 24.5, .most = 24.5};
  summary.figures = {MakeFigure(1 << 20, 8), MakeFigure(std::uint64_t{1} << 30, 21.5),
                     MakeFigure(std::uint64_t{1} << 30, 99, /*in_place=*/true)};
  const std::string chart = DrawNcclChart(summary);
  EXPECT_THAT(chart, HasSubstr(">links: 24.5</text>"));
  EXPECT_THAT(chart, HasSubstr(">all_reduce 21.5</text>"));
  EXPECT_THAT(chart, HasSubstr("<polyline class=\"line0\" points=\"56.0,"));
  EXPECT_THAT(chart, Not(HasSubstr("99")));
}

TEST(DrawNcclChart, NothingMeasuredIsNoChart) {
  NcclSummary summary;
  EXPECT_EQ(DrawNcclChart(summary), "");
  summary.figures = {MakeFigure(8, 0)};
  EXPECT_EQ(DrawNcclChart(summary), "");
  summary.figures = {MakeFigure(8, std::numeric_limits<double>::quiet_NaN())};
  EXPECT_EQ(DrawNcclChart(summary), "");
}

TEST(DrawNcclChart, OneSizeIsEnough) {
  NcclSummary summary;
  summary.figures = {MakeFigure(8, 1)};
  EXPECT_THAT(DrawNcclChart(summary), HasSubstr("<polyline"));
}

}  // namespace
}  // namespace reconciler
