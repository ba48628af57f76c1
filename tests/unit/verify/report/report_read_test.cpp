#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/cable_rates.h"
#include "reconciler/verify/report/compare.h"
#include "reconciler/verify/report/html/html.h"
#include "reconciler/verify/report/junit.h"
#include "reconciler/verify/report/markdown.h"
#include "reconciler/verify/report/render.h"
#include "reconciler/verify/report/report.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

// With every part that a report can have.
Report MakeWholeReport() {
  const test::NcclScenario scenario = test::HealthyNccl(2, 15);
  NcclJudgement judged = JudgeNccl({.cluster = scenario.cluster,
                                    .fabric = scenario.fabric,
                                    .facts = scenario.facts,
                                    .run = scenario.run,
                                    .pairs = {{"spark-1", "spark-2", false, "15.0 GB/s"}}});
  Report report{.cluster = "homelab",
                .level = VerifyLevel::kNccl,
                .checks = std::move(judged.checks),
                .findings = std::move(judged.findings),
                .unreachable = {{"spark-3", "no connection within 10 s"}},
                .nccl = std::move(judged.summary),
                .not_measured = NotMeasured{VerifyLevel::kNccl, "the GPU is in use"},
                .run = ReportRun{"2026-11-24T03:12:05Z", 9.6, "0.1.0"},
                .facts = {{"spark-1", {{"kernel", "6.11"}}}},
                .fabric = BuildDrawing(scenario.cluster, scenario.fabric)};
  report.checks.push_back({.level = VerifyLevel::kRdma,
                           .what = "write-alone",
                           .from = "spark-1",
                           .to = "spark-2",
                           .rail = 1,
                           .subject = "of two",
                           .outcome = Outcome::kWarn,
                           .symptom = Symptom::kSpeedLow,
                           .expected = "at least 105.1 Gb/s",
                           .measured = "97.3 Gb/s",
                           .gbps = 97.3,
                           .roofline_gbps = 111.8,
                           .latency_us = 1.8,
                           .why = "a reason",
                           .evidence = {"base64:%%%", "a line"}});
  return report;
}

std::string PrintErrorOf(const Json& json) {
  const auto report = ParseReport(json.dump());
  return report ? "" : FormatError(report.error());
}

TEST(ParseReport, ReadsEverythingThatWasWritten) {
  const Json json = ToJson(MakeWholeReport());
  const auto report = ParseReport(json.dump());
  ASSERT_TRUE(report) << FormatError(report.error());
  EXPECT_EQ(ToJson(*report), json);
  EXPECT_EQ(report->checks, MakeWholeReport().checks);
  EXPECT_EQ(report->findings, MakeWholeReport().findings);
  EXPECT_EQ(report->fabric, MakeWholeReport().fabric);
}

TEST(ParseReport, ReadsAReportOfAnOlderProgramToo) {
  Json json = ToJson(MakeWholeReport());
  for (const char* key : {"run", "facts", "fabric"}) json.erase(key);
  const auto report = ParseReport(json.dump());
  ASSERT_TRUE(report) << FormatError(report.error());
  EXPECT_EQ(report->run, std::nullopt);
  EXPECT_EQ(report->fabric, std::nullopt);
  EXPECT_EQ(FormatTime(*report), "an unknown time");
}

TEST(ParseReport, AnErrorNamesThePlaceAndWhatIsWanted) {
  const auto change = [](const char* place, const Json& value) {
    Json json = ToJson(MakeWholeReport());
    json[Json::json_pointer(place)] = value;
    return PrintErrorOf(json);
  };
  EXPECT_EQ(change("/format", "spark-reconcile/report/2"),
            "/format: wanted spark-reconcile/report/1, found spark-reconcile/report/2\n");
  EXPECT_EQ(change("/level", "top"), "/level: unknown word \"top\"\n");
  EXPECT_EQ(change("/checks/0/outcome", 1), "/checks/0/outcome: wanted a string, found number\n");
  EXPECT_EQ(change("/checks/0/gbps", -1),
            "/checks/0/gbps: wanted a number from 0 to 1e+15, found -1\n");
  EXPECT_EQ(change("/checks/0/rail", "rail-1"),
            "/checks/0/rail: wanted a rail such as \"rail0\", found \"rail-1\"\n");
  EXPECT_EQ(change("/findings/0/code", "A code"),
            "/findings/0/code: wanted a code such as \"path-mtu\", found \"A code\"\n");
  EXPECT_EQ(change("/fabric/cables/0/to", 7),
            "/fabric/cables/0/to: wanted the place of a device, of which there are 2, found 7\n");
  EXPECT_EQ(change("/fabric/cables/0/to", 0), "/fabric/cables/0: wanted two devices, found one\n");
  EXPECT_EQ(change("/nccl/tests/0/bytes", -8),
            "/nccl/tests/0/bytes: wanted a number from 0 to 1152921504606846976, found -8\n");
  EXPECT_EQ(change("/run/began", std::string(300, 'x')),
            "/run/began: wanted at most 256 bytes, found 300\n");
  EXPECT_EQ(PrintErrorOf(Json::array()), "/: wanted an object, found array\n");
  EXPECT_THAT(FormatError(ParseReport("{\"a\": \n]").error()),
              testing::StartsWith("not valid JSON: parse error at line 2, column 1: "));
}

TEST(ParseReport, MoreNodesThanAnyClusterHasAreRefused) {
  Json json = ToJson(MakeWholeReport());
  const Json check = json["checks"].back();
  for (int i = 0; i < 600; ++i) {
    json["checks"].push_back(check);
    json["checks"].back()["from"] = "node-" + std::to_string(i);
  }
  EXPECT_EQ(PrintErrorOf(json), "/checks: wanted at most 512 nodes, found more\n");
}

TEST(ParseReport, WhatTheFileSaysIsPrintable) {
  Json json = ToJson(MakeWholeReport());
  json["cluster"] = "lab\x1b[2J";
  json["checks"][0]["evidence"] = {"a\nb"};
  const auto report = ParseReport(json.dump());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cluster, "lab\\x1b[2J");
  EXPECT_EQ(report->checks[0].evidence, std::vector<std::string>{"a\\x0ab"});
}

std::size_t DrawAll(const Report& report) {
  const Report other = MakeWholeReport();
  std::size_t length = RenderReport(report).size() + RenderHtml(report).size() +
                       RenderMarkdown(report).size() + RenderJunit(report).size();
  if (report.fabric) {
    length += DrawSvg(*report.fabric, FindCableRates(*report.fabric, report)).size() +
              DrawDot(*report.fabric).size() + DrawMermaid(*report.fabric).size();
  }
  for (const auto& [a, b] : {std::pair(&report, &other), std::pair(&other, &report)}) {
    const auto comparison = CompareReports(*a, *b);
    if (comparison) length += RenderComparison(*a, *b, *comparison).size();
  }
  return length;
}

// Every value of a report is replaced by each of these, one at a time.
TEST(ParseReport, WhateverAValueIsTheReportIsRefusedOrCanBeDrawn) {
  const Json values[] = {nullptr,
                         true,
                         -1,
                         0,
                         1e15,
                         1e300,
                         std::int64_t{1} << 60,
                         "",
                         "\x1b<b>\"&`|*",
                         std::string(100, 'W'),
                         "rail7",
                         Json::array(),
                         Json::object(),
                         "2026-11-24T03:12:05Z"};
  const Json good = ToJson(MakeWholeReport());
  int drawn = 0;
  int refused = 0;
  const Json flat = good.flatten();
  for (const auto& [place, value] : flat.items()) {
    for (const Json& bad : values) {
      Json json = good;
      json[Json::json_pointer(place)] = bad;
      const auto report = ParseReport(json.dump());
      EXPECT_TRUE(!report || DrawAll(*report) > 0) << place;
      ++(report ? drawn : refused);
    }
  }
  EXPECT_GT(drawn, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace reconciler
