#include "reconciler/verify/report/report_nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/render.h"
#include "schema/embedded.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

Report MakeNcclReport(const test::NcclScenario& scenario,
                      const std::vector<PairVerdict>& pairs = {}) {
  NcclJudgement judged = JudgeNccl({.cluster = scenario.cluster,
                                    .fabric = scenario.fabric,
                                    .facts = scenario.facts,
                                    .run = scenario.run,
                                    .pairs = pairs});
  return {.cluster = "homelab",
          .level = VerifyLevel::kNccl,
          .checks = std::move(judged.checks),
          .findings = std::move(judged.findings),
          .nccl = std::move(judged.summary)};
}

test::NcclScenario Swept(double busbw) {
  test::NcclScenario scenario = test::HealthyNccl(2, busbw);
  for (const int node : {1, 2}) {
    auto& results = scenario.Rank(node).results;
    auto small = test::MakeResult(0.0004, 8, 2, {});
    auto bfloat = results.front();
    auto in_place = results.front();
    in_place.in_place = true;
    bfloat.type = spark_verify::DataType::kBfloat16;
    results = {small, results.front(), in_place, bfloat};
  }
  return scenario;
}

TEST(NcclReport, IsValidAgainstItsSchema) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("report"));
  test::NcclScenario broken = test::HealthyNccl(2);
  broken.Rank(2).fate = NcclFate::kGone;
  broken.Rank(2).error.message = "wanted a line";
  broken.Rank(1).hello.reset();
  test::NcclScenario odd = test::HealthyNccl(2, 1.0);
  odd.Rank(1).results.at(0).time_us = odd.Rank(2).results.at(0).time_us = 0;
  odd.facts.clear();
  for (const Report& report :
       {MakeNcclReport(Swept(21.5)),
        MakeNcclReport(Swept(15), {{"spark-1", "spark-2", false, "15.0 GB/s"}}),
        MakeNcclReport(broken), MakeNcclReport(odd)}) {
    const nlohmann::json document = AddHead(ToJson(report), {"0.1.0", "2026-11-25T00:00:00Z"});
    EXPECT_EQ(JudgeBySchema(document, schema), std::nullopt);
  }
}

TEST(NcclReport, ReportsEachTestOnALineWithBothPlacements) {
  EXPECT_EQ(RenderReport(MakeNcclReport(Swept(21.5))),
            R"(homelab · verify up to nccl

nccl 2.28.9+cuda13.0, 2 ranks over RDMA, links for 24.5 GB/s
  collective         size type              µs    µs, 95 %      GB/s  in place
  all_reduce          8 B float           20.0        20.0     0.000
  all_reduce        1 GiB float        49941.5     49941.5      21.5      21.5
  all_reduce        1 GiB bfloat16     49941.5     49941.5      21.5

8 checks: 8 passed, 0 failed, 0 could not be measured, 0 skipped
)");
}

TEST(NcclReport, AFigureThatCannotBeTrueIsNotPrintedAsMeasured) {
  test::NcclScenario scenario = Swept(21.5);
  for (const int node : {1, 2}) {
    auto& results = scenario.Rank(node).results;
    results.at(2).time_us /= 4;  // the one in place
    results.at(3).time_us /= 4;
  }
  const std::string text = RenderReport(MakeNcclReport(scenario));
  EXPECT_THAT(text,
              testing::HasSubstr(
                  R"(  all_reduce        1 GiB float        49941.5     49941.5      21.5   invalid
  all_reduce        1 GiB bfloat16           -           -   invalid
)"));
  EXPECT_THAT(text, testing::HasSubstr("measured   86.0 GB/s in 12485 µs\n"));
  scenario.Rank(2).results.pop_back();
  EXPECT_THAT(
      RenderReport(MakeNcclReport(scenario)),
      testing::HasSubstr(
          "  all_reduce        1 GiB float              -           -   invalid   invalid\n"));
}

TEST(NcclReport, AVersionThatOneRankPrintsInFullIsNotAnother) {
  test::NcclScenario scenario = test::HealthyNccl(2);
  scenario.Rank(2).log.clear();
  EXPECT_THAT(RenderReport(MakeNcclReport(scenario)),
              testing::HasSubstr("nccl 2.28.9+cuda13.0, 2 ranks"));
  scenario.Rank(2).hello->nccl_version = 23007;
  EXPECT_THAT(RenderReport(MakeNcclReport(scenario)),
              testing::HasSubstr("nccl 2.28.9+cuda13.0 and 2.30.7, 2 ranks"));
}

TEST(NcclReport, ALevelThatIsLeftOutTakesOneLine) {
  Report report{.cluster = "homelab", .level = VerifyLevel::kNccl};
  for (const int rail : {0, 1}) {
    report.checks.push_back({.level = VerifyLevel::kRdma,
                             .what = "write-alone",
                             .from = "spark-1",
                             .to = "spark-2",
                             .rail = rail,
                             .outcome = Outcome::kSkipped,
                             .why = "left out, as requested"});
  }
  EXPECT_THAT(RenderReport(report),
              testing::HasSubstr("\nrdma write: skipped: left out, as requested\n\n"));
}

TEST(NcclReport, ReportsAWarningWithItsCause) {
  const std::string text = RenderReport(MakeNcclReport(test::HealthyNccl(2, 16)));
  EXPECT_THAT(text, testing::HasSubstr(
                        R"(findings
  warn nccl-slow: spark-1, spark-2
    expected   at least 17.6 GB/s: 0.90 of 0.80 (its size) × 24.5 GB/s (the links)
    measured   16.0 GB/s
    cause      NCCL is slower than the links, and no measurement explains it
)"));
  EXPECT_THAT(text, testing::HasSubstr("5 checks: 4 passed, 0 failed, 0 could not be measured, 0 "
                                       "skipped, 1 warning; 1 cause\n"));
}

TEST(NcclReport, OfARunThatFailedHasNoTable) {
  test::NcclScenario scenario = test::HealthyNccl(2);
  scenario.Rank(2).fate = NcclFate::kGone;
  scenario.Rank(2).results.clear();
  scenario.Rank(2).error.message = "wanted a line of spark-verify, found it ended with status 137";
  EXPECT_EQ(RenderReport(MakeNcclReport(scenario)), R"(homelab · verify up to nccl

nccl 2.28.9+cuda13.0, 2 ranks, links for 24.5 GB/s

findings
  FAIL rank-gone: spark-2
    expected   2 ranks through all tests
    measured   spark-2: wanted a line of spark-verify, found it ended with status 137
    cause      the rank on spark-2 was killed or crashed: it ended without a message (start)
    next step  check the kernel log (dmesg) of spark-2: out of memory, a signal, an Xid of the GPU

1 check: 0 passed, 1 failed, 0 could not be measured, 0 skipped; 1 cause
)");
}

}  // namespace
}  // namespace reconciler
