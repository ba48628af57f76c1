#include "reconciler/verify/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

Check MakeWrite(int rail, double gbps, Outcome outcome = Outcome::kPass) {
  return {.level = VerifyLevel::kRdma,
          .what = "write-alone",
          .from = "spark-1",
          .to = "spark-2",
          .rail = rail,
          .outcome = outcome,
          .gbps = gbps,
          .latency_us = 2.0};
}

Finding MakeFinding(const std::string& code, Outcome outcome = Outcome::kFail) {
  return {.code = code,
          .outcome = outcome,
          .level = VerifyLevel::kRdma,
          .nodes = {"spark-1", "spark-2"},
          .rails = {0},
          .measured = "13.2 Gb/s",
          .cause = "a cause",
          .next_step = "a step"};
}

NcclFigure MakeFigure(std::uint64_t bytes, double time_us, double busbw) {
  return {.bytes = bytes, .time_us = time_us, .busbw = busbw};
}

Report MakeReport(const std::string& began) {
  Report report{.cluster = "homelab", .level = VerifyLevel::kNccl};
  report.run = {.began = began, .seconds = 10, .program = "0.1.0"};
  report.checks = {MakeWrite(0, 110), MakeWrite(1, 108)};
  report.nccl = NcclSummary{
      .ranks = {{.node = "spark-1", .version = "2.28.9+cuda13.0"}},
      .figures = {MakeFigure(8, 20, 0.0001), MakeFigure(std::uint64_t{1} << 30, 50'000, 21.5)}};
  report.nccl->paths.resize(1);
  report.facts = {{"spark-1", {{"kernel", "6.11"}}}, {"spark-2", {{"kernel", "6.11"}}}};
  return report;
}

Report MakeYesterday() { return MakeReport("2026-11-23T03:12:05Z"); }
Report MakeToday() { return MakeReport("2026-11-24T03:12:05Z"); }

std::string Compare(const Report& before, const Report& after) {
  return RenderComparison(before, after, *CompareReports(before, after));
}

int FindCode(const Report& before, const Report& after) {
  return FindExitCode(*CompareReports(before, after));
}

TEST(CompareReports, WhatDiffersByNoMoreThanTheNoiseIsTheSame) {
  Report today = MakeToday();
  today.checks[0].gbps = 105;
  today.checks[0].latency_us = 2.3;
  EXPECT_EQ(FindCode(MakeYesterday(), today), 0);
  EXPECT_EQ(Compare(MakeYesterday(), today),
            "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC\n"
            "nothing got worse\n"
            "\n"
            "6 figures are the same: bandwidths within 5 %, times within 20 %\n");
}

TEST(CompareReports, SlowerMeansLessBandwidthOrMoreTime) {
  Report today = MakeToday();
  today.checks[0].gbps = 88;
  today.checks[1].latency_us = 3.0;
  today.nccl->figures[0].time_us = 40;
  today.nccl->figures[1].busbw = 24;
  EXPECT_EQ(FindCode(MakeYesterday(), today), 6);
  EXPECT_EQ(Compare(MakeYesterday(), today),
            "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC\n"
            "worse: 3 figures are slower\n"
            "\n"
            "slower since 2026-11-23 03:12 UTC\n"
            "  NCCL all_reduce 8 B float                           20.0 → 40.0 µs     +100.0 %\n"
            "  latency of write-alone spark-1 to spark-2 on rail1  2.00 → 3.00 µs     +50.0 %\n"
            "  write-alone spark-1 to spark-2 on rail0             110.0 → 88.0 Gb/s  -20.0 %\n"
            "\n"
            "faster since 2026-11-23 03:12 UTC\n"
            "  NCCL all_reduce 1 GiB float  21.5 → 24.0 GB/s  +11.6 %\n"
            "\n"
            "2 figures are the same: bandwidths within 5 %, times within 20 %\n");
  Report none = today;
  EXPECT_EQ(FindCode(today, MakeYesterday()), 6) << "the other way round NCCL is slower";
  EXPECT_EQ(FindExitCode(*CompareReports(MakeYesterday(), today, {.bandwidth = 30, .time = 200})),
            0);
}

TEST(CompareReports, AFindingIsNewGoneOrStillThere) {
  Report yesterday = MakeYesterday();
  yesterday.findings = {MakeFinding("path-mtu"), MakeFinding("ssh-denied")};
  Report today = MakeToday();
  today.findings = {MakeFinding("ssh-denied"), MakeFinding("hca-degraded")};
  EXPECT_EQ(FindCode(yesterday, today), 6);
  const std::string text = Compare(yesterday, today);
  EXPECT_THAT(text, HasSubstr("worse: 1 finding is new or worse\n"
                              "\n"
                              "findings that are new or worse since 2026-11-23 03:12 UTC\n"
                              "  fail hca-degraded: spark-1, spark-2 on rail0\n"
                              "    13.2 Gb/s\n"
                              "    a cause\n"
                              "    a step\n"
                              "\n"
                              "findings that are gone\n"
                              "  fail path-mtu  spark-1, spark-2 on rail0\n"
                              "\n"
                              "findings that are still there\n"
                              "  fail ssh-denied  spark-1, spark-2 on rail0\n"));
  EXPECT_EQ(FindCode(today, today), 0) << "what failed before and still does is not worse";
}

// What verify notices only where it is wrong has no check once it is well.
TEST(CompareReports, AWarningThatHasHealedIsNotMissed) {
  Report yesterday = MakeYesterday();
  yesterday.checks.push_back({.what = "memory",
                              .from = "spark-1",
                              .outcome = Outcome::kWarn,
                              .symptom = Symptom::kMemoryPressure});
  EXPECT_EQ(FindCode(yesterday, MakeToday()), 0);
}

TEST(CompareReports, AFailureThatIsOnlyNoticedWhereItIsWrongIsNotMissedOnceItHasHealed) {
  Report yesterday = MakeYesterday();
  Report today = MakeToday();
  const Check mtu{.what = "mtu", .from = "spark-1", .rail = 0};
  yesterday.checks.push_back({.what = "link-layer",
                              .from = "spark-1",
                              .rail = 0,
                              .outcome = Outcome::kFail,
                              .symptom = Symptom::kInfiniBand});
  const Check ping{
      .level = VerifyLevel::kPing, .what = "jumbo-ping", .from = "spark-1", .to = "spark-2"};
  yesterday.checks.push_back({.level = VerifyLevel::kPing,
                              .what = "neighbour",
                              .from = "spark-1",
                              .to = "spark-2",
                              .outcome = Outcome::kFail,
                              .symptom = Symptom::kNeighbourWrong});
  EXPECT_EQ(FindCode(yesterday, today), 7) << "nothing of the port and the pair was measured";
  for (const Check& check : {mtu, ping}) today.checks.push_back(check);
  EXPECT_EQ(FindCode(yesterday, today), 0);
  today.checks.back().outcome = Outcome::kCouldNotMeasure;
  EXPECT_THAT(Compare(yesterday, today),
              HasSubstr("no longer measured\n  neighbour spark-1 to spark-2\n"));
}

// A check of NCCL's data names a rail only where it found an idle one.
TEST(CompareReports, DataOfNcclThatTakesAllRailsAgainIsNotMissed) {
  Report well = MakeToday();
  well.checks.push_back({.level = VerifyLevel::kNccl, .what = "nccl-transport", .from = "spark-1"});
  Report idle = MakeToday();
  idle.checks.push_back(well.checks.back());
  idle.checks.back().rail = 0;
  idle.checks.back().outcome = Outcome::kFail;
  EXPECT_EQ(FindCode(idle, well), 0);
  EXPECT_EQ(FindCode(well, idle), 6);
  const std::string text = Compare(well, idle);
  EXPECT_THAT(text, HasSubstr("nccl-transport spark-1 on rail0  pass → fail\n"));
  EXPECT_THAT(text, Not(HasSubstr("no longer measured")));
}

TEST(CompareReports, WhatFailsNowAndCouldNotBeMeasuredBeforeIsWorse) {
  Report yesterday = MakeYesterday();
  Report today = MakeToday();
  yesterday.findings = today.findings = {MakeFinding("path-mtu")};
  yesterday.findings[0].outcome = Outcome::kCouldNotMeasure;
  EXPECT_EQ(FindCode(yesterday, today), 6);
  EXPECT_EQ(FindCode(today, yesterday), 0);
  const Check ping{.level = VerifyLevel::kPing, .what = "jumbo-ping", .from = "spark-1"};
  for (Report* report : {&yesterday, &today}) {
    report->findings.clear();
    report->checks.push_back(ping);
  }
  yesterday.checks.back().outcome = Outcome::kCouldNotMeasure;
  today.checks.back().outcome = Outcome::kFail;
  EXPECT_EQ(FindCode(yesterday, today), 6);
  EXPECT_THAT(Compare(yesterday, today),
              HasSubstr("jumbo-ping spark-1  could-not-measure → fail\n"));
}

TEST(CompareReports, ACheckThatFailsAndDidNotIsWorseAlsoUnderAnOldFinding) {
  Report yesterday = MakeYesterday();
  Report today = MakeToday();
  yesterday.findings = today.findings = {MakeFinding("path-mtu")};
  today.checks[1].outcome = Outcome::kFail;
  EXPECT_EQ(FindCode(yesterday, today), 6);
  EXPECT_THAT(Compare(yesterday, today),
              HasSubstr("checks that got worse\n"
                        "  write-alone spark-1 to spark-2 on rail1  pass → fail\n"));
  EXPECT_EQ(FindCode(today, yesterday), 0);
}

// As a node's log has them: what is well has none.
Check MakeDrop(const std::string& source) {
  return {.what = "firewall",
          .from = "spark-1",
          .subject = source,
          .outcome = Outcome::kWarn,
          .symptom = Symptom::kUfwDrops};
}

Check MakeDifference(const std::string& what) {
  return {.what = "versions",
          .from = "spark-2",
          .subject = what,
          .outcome = Outcome::kWarn,
          .symptom = Symptom::kVersionsDiffer};
}

Finding MakeWarning(const std::string& code, const NodeName& node) {
  return {.code = code, .outcome = Outcome::kWarn, .nodes = {node}};
}

TEST(CompareReports, ANewReasonForAFindingThatIsStillThereIsWorse) {
  Report yesterday = MakeYesterday();
  Report today = MakeToday();
  yesterday.findings = today.findings = {MakeWarning("ufw-drops", "spark-1")};
  yesterday.checks.push_back(MakeDrop("192.168.177.2"));
  today.checks.push_back(MakeDrop("192.168.177.2"));
  today.checks.push_back(MakeDrop("192.168.177.3"));
  EXPECT_EQ(FindCode(yesterday, today), 6);
  EXPECT_EQ(Compare(yesterday, today),
            "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC\n"
            "worse: 1 check got worse\n"
            "\n"
            "checks that got worse\n"
            "  firewall spark-1, 192.168.177.3  pass → warn\n"
            "\n"
            "findings that are still there\n"
            "  warn ufw-drops  spark-1\n"
            "\n"
            "6 figures are the same: bandwidths within 5 %, times within 20 %\n");
  EXPECT_EQ(FindCode(today, yesterday), 0);
  EXPECT_EQ(FindCode(today, today), 0);
}

TEST(CompareReports, ASecondVersionThatDiffersIsWorseAndAlsoOneInPlaceOfAnother) {
  Report yesterday = MakeYesterday();
  Report today = MakeToday();
  yesterday.findings = today.findings = {MakeWarning("versions-differ", "spark-2")};
  yesterday.checks.push_back(MakeDifference("kernel"));
  today.checks.push_back(MakeDifference("HCA firmware"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(FindCode(yesterday, today), 6);
    EXPECT_THAT(Compare(yesterday, today),
                HasSubstr("worse: 1 check got worse\n"
                          "\n"
                          "checks that got worse\n"
                          "  versions spark-2, HCA firmware  pass → warn\n"));
    today.checks.push_back(MakeDifference("kernel"));
  }
}

TEST(CompareReports, WhatANewFindingNamesIsNotListedTwice) {
  Report yesterday = MakeYesterday();
  yesterday.checks.push_back({.what = "port", .from = "spark-1", .rail = 0});
  Report today = yesterday;
  today.checks.push_back(MakeDrop("192.168.177.2"));
  today.findings = {MakeWarning("ufw-drops", "spark-1")};
  EXPECT_THAT(Compare(yesterday, today), HasSubstr("worse: 1 finding is new or worse\n"));
}

TEST(CompareReports, ACheckOfANodeARailOrALevelThatIsNewIsNotWorse) {
  Report yesterday{.cluster = "homelab"};
  yesterday.checks = {{.what = "port", .from = "spark-1", .rail = 0}};
  const auto find = [&](const Check& check, VerifyLevel level) {
    Report today = yesterday;
    today.level = level;
    today.checks.push_back(check);
    return FindCode(yesterday, today);
  };
  Check lost{.what = "flaps", .from = "spark-1", .rail = 0, .outcome = Outcome::kWarn};
  EXPECT_EQ(find(lost, VerifyLevel::kSsh), 6);
  EXPECT_EQ(find(lost, VerifyLevel::kRdma), 0) << "of the facts of a higher level";
  yesterday.level = VerifyLevel::kRdma;
  EXPECT_EQ(find(lost, VerifyLevel::kNccl), 6) << "of facts that both levels have";
  lost.rail = 1;
  EXPECT_EQ(find(lost, VerifyLevel::kSsh), 0) << "of another rail";
  lost.rail = 0;
  lost.from = "spark-2";
  EXPECT_EQ(find(lost, VerifyLevel::kSsh), 0) << "of another node";
  lost.from = "spark-1";
  lost.level = VerifyLevel::kPing;
  EXPECT_EQ(find(lost, VerifyLevel::kSsh), 0) << "of another level";
}

TEST(CompareReports, AContainerThatWasStartedAgainIsNoNewReason) {
  Report yesterday{.cluster = "homelab"};
  yesterday.checks = {{.what = "container",
                       .from = "spark-1",
                       .subject = "0123456789ab",
                       .outcome = Outcome::kWarn,
                       .symptom = Symptom::kContainerNoRdma}};
  Report today = yesterday;
  today.checks[0].subject = "ba9876543210";
  EXPECT_EQ(FindCode(yesterday, today), 0);
}

Report MakeInvalidWrite(Report report) {
  report.checks[0].outcome = Outcome::kCouldNotMeasure;
  report.checks[0].symptom = Symptom::kInvalidFigure;
  report.checks[0].gbps = 260;
  report.findings = {MakeFinding("measurement-invalid", Outcome::kCouldNotMeasure)};
  return report;
}

TEST(CompareReports, AFigureThatCannotBeTrueCountsAsNotMeasured) {
  const Report invalid = MakeInvalidWrite(MakeYesterday());
  EXPECT_EQ(FindCode(invalid, MakeToday()), 0);
  EXPECT_EQ(Compare(invalid, MakeToday()),
            "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC\n"
            "nothing got worse\n"
            "\n"
            "findings that are gone\n"
            "  could-not-measure measurement-invalid  spark-1, spark-2 on rail0\n"
            "\n"
            "4 figures are the same: bandwidths within 5 %, times within 20 %\n");
  const Report now_invalid = MakeInvalidWrite(MakeToday());
  EXPECT_EQ(FindCode(MakeYesterday(), now_invalid), 7);
  EXPECT_EQ(Compare(MakeYesterday(), now_invalid),
            "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC\n"
            "nothing got worse, as far as it was measured again\n"
            "\n"
            "findings that are new or worse since 2026-11-23 03:12 UTC\n"
            "  could-not-measure measurement-invalid: spark-1, spark-2 on rail0\n"
            "    13.2 Gb/s\n"
            "    a cause\n"
            "    a step\n"
            "\n"
            "no longer measured\n"
            "  latency of write-alone spark-1 to spark-2 on rail0\n"
            "  write-alone spark-1 to spark-2 on rail0\n"
            "\n"
            "4 figures are the same: bandwidths within 5 %, times within 20 %\n");
}

// With a test of NCCL that could not be measured, and the finding that says why.
Report MakeUnmeasuredTest(Report report, double busbw, const std::string& code,
                          Symptom symptom = Symptom::kNone) {
  report.nccl->figures[1].busbw = busbw;
  report.checks.push_back({.level = VerifyLevel::kNccl,
                           .what = "nccl-test",
                           .from = "spark-1",
                           .subject = report.nccl->figures[1].Name(),
                           .outcome = Outcome::kCouldNotMeasure,
                           .symptom = symptom});
  report.findings = {MakeFinding(code, Outcome::kCouldNotMeasure)};
  report.findings[0].rails.clear();
  return report;
}

TEST(CompareReports, ATestOfNcclThatCannotBeTrueCountsAsNotMeasured) {
  const auto invalid = [](Report report) {
    return MakeUnmeasuredTest(std::move(report), 48, "measurement-invalid",
                              Symptom::kInvalidFigure);
  };
  EXPECT_EQ(FindCode(invalid(MakeYesterday()), MakeToday()), 0);
  EXPECT_EQ(FindCode(MakeYesterday(), invalid(MakeToday())), 7);
  EXPECT_THAT(Compare(MakeYesterday(), invalid(MakeToday())),
              HasSubstr("no longer measured\n"
                        "  NCCL all_reduce 1 GiB float\n"
                        "\n"
                        "5 figures are the same: bandwidths within 5 %, times within 20 %\n"));
}

TEST(CompareReports, AFigureWithNothingToJudgeItByIsComparedAllTheSame) {
  const Report yesterday = MakeUnmeasuredTest(MakeYesterday(), 22, "links-unknown");
  const Report today = MakeUnmeasuredTest(MakeToday(), 11, "links-unknown");
  EXPECT_EQ(FindCode(yesterday, today), 6);
  EXPECT_THAT(Compare(yesterday, today),
              HasSubstr("  NCCL all_reduce 1 GiB float  22.0 → 11.0 GB/s  -50.0 %\n"));
}

TEST(CompareReports, AWriteThatCannotBeTrueLeavesTheFiguresOfNcclAsTheyAre) {
  Report today = MakeUnmeasuredTest(MakeToday(), 11, "links-unknown");
  today.checks[0].outcome = Outcome::kCouldNotMeasure;
  today.checks[0].symptom = Symptom::kInvalidFigure;
  today.findings.push_back(MakeFinding("measurement-invalid", Outcome::kCouldNotMeasure));
  EXPECT_THAT(Compare(MakeUnmeasuredTest(MakeYesterday(), 22, "links-unknown"), today),
              HasSubstr("  NCCL all_reduce 1 GiB float  22.0 → 11.0 GB/s  -50.0 %\n"));
}

TEST(CompareReports, WhatIsNoLongerMeasuredIsNoAnswer) {
  Report today = MakeToday();
  today.checks.pop_back();
  EXPECT_EQ(FindCode(MakeYesterday(), today), 7);
  EXPECT_THAT(Compare(MakeYesterday(), today),
              HasSubstr("nothing got worse, as far as it was measured again\n"
                        "\n"
                        "no longer measured\n"
                        "  latency of write-alone spark-1 to spark-2 on rail1\n"
                        "  write-alone spark-1 to spark-2 on rail1\n"));
  today = MakeToday();
  today.findings = {MakeFinding("no-answer", Outcome::kCouldNotMeasure)};
  EXPECT_EQ(FindCode(MakeYesterday(), today), 7);
}

TEST(CompareReports, FactsThatChangedAreNamedWithTheirNodes) {
  Report today = MakeToday();
  for (const char* node : {"spark-1", "spark-2"}) today.facts[node]["kernel"] = "6.17";
  today.facts["spark-1"]["libnccl"] = "2.29.1";
  today.nccl->ranks[0].version = "2.29.1+cuda13.0";
  const std::string text = Compare(MakeYesterday(), today);
  EXPECT_THAT(text,
              HasSubstr("facts that changed\n"
                        "  NCCL that ran  2.28.9+cuda13.0 → 2.29.1+cuda13.0  on spark-1\n"
                        "  kernel         6.11 → 6.17                        on spark-1, spark-2\n"
                        "  libnccl        not known → 2.29.1                 on spark-1\n"));
  EXPECT_EQ(FindCode(MakeYesterday(), today), 0);
  today.facts.clear();
  EXPECT_THAT(Compare(MakeYesterday(), today),
              HasSubstr("facts are compared only where both reports hold some\n"));
}

TEST(CompareReports, ReportsInTheWrongOrderAreNamed) {
  EXPECT_THAT(Compare(MakeToday(), MakeYesterday()),
              HasSubstr("the first report was made after the second one\n"));
  EXPECT_THAT(Compare(MakeYesterday(), MakeToday()), Not(HasSubstr("was made after")));
}

TEST(CompareReports, TwoClustersAreNotCompared) {
  Report other = MakeToday();
  other.cluster = "office";
  const auto comparison = CompareReports(MakeYesterday(), other);
  ASSERT_FALSE(comparison);
  EXPECT_EQ(FormatError(comparison.error()),
            "wanted two reports of one cluster, found homelab and office\n");
}

TEST(CompareReports, AsMarkdownItIsAListPerPart) {
  Report today = MakeToday();
  today.checks[0].gbps = 88;
  const Report yesterday = MakeYesterday();
  EXPECT_EQ(RenderComparisonMarkdown(yesterday, today, *CompareReports(yesterday, today)),
            "# homelab\\: 2026-11-24 03\\:12 UTC compared with 2026-11-23 03\\:12 UTC\n"
            "\n"
            "worse: 1 figure is slower\n"
            "\n"
            "## slower since 2026-11-23 03\\:12 UTC\n"
            "\n"
            "- write-alone spark-1 to spark-2 on rail0; 110.0 → 88.0 Gb/s; -20.0 %\n"
            "\n"
            "5 figures are the same\\: bandwidths within 5 %, times within 20 %\n");
}

}  // namespace
}  // namespace reconciler
