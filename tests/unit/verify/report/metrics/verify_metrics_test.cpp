#include "reconciler/verify/report/metrics/verify_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

Report MakeMeasuredReport() {
  Report report{.cluster = "lab", .level = VerifyLevel::kRdma};
  report.run = {.began = "2026-11-24T03:12:05Z", .seconds = 61.2342, .program = "0.1.0"};
  report.checks = {{.level = VerifyLevel::kFacts, .what = "mtu", .from = "spark-1", .rail = 0},
                   {.level = VerifyLevel::kRdma,
                    .what = "write-alone",
                    .from = "spark-1",
                    .to = "spark-2",
                    .rail = 1,
                    .outcome = Outcome::kFail,
                    .gbps = 105.1,
                    .latency_us = 2.5}};
  report.findings = {{.code = "slow-link", .outcome = Outcome::kFail},
                     {.code = "slow-link", .outcome = Outcome::kFail}};
  report.nccl = NcclSummary{};
  report.nccl->figures = {{.bytes = 1 << 30, .busbw = 22.5}};
  return report;
}

TEST(FormatVerifyMetrics, AReportHasItsCodeItsTimeItsCountsAndWhatWasMeasured) {
  EXPECT_EQ(
      FormatVerifyMetrics(MakeMeasuredReport()),
      "# HELP spark_reconcile_verify_exit_code Exit code of the last verification: 0 passed, 3 a "
      "node was not read, 6 failed, 7 not measured.\n"
      "# TYPE spark_reconcile_verify_exit_code gauge\n"
      "spark_reconcile_verify_exit_code{cluster=\"lab\"} 6\n"
      "# HELP spark_reconcile_verify_timestamp_seconds When the last verification ended, in "
      "seconds since 1970.\n"
      "# TYPE spark_reconcile_verify_timestamp_seconds gauge\n"
      "spark_reconcile_verify_timestamp_seconds{cluster=\"lab\"} 1795489986\n"
      "# HELP spark_reconcile_verify_duration_seconds How long the last verification took.\n"
      "# TYPE spark_reconcile_verify_duration_seconds gauge\n"
      "spark_reconcile_verify_duration_seconds{cluster=\"lab\"} 61.234\n"
      "# HELP spark_reconcile_verify_checks Checks of the last verification, by level and "
      "outcome.\n"
      "# TYPE spark_reconcile_verify_checks gauge\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"facts\",outcome=\"pass\"} 1\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"facts\",outcome=\"warn\"} 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"facts\",outcome=\"fail\"} 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"facts\",outcome=\"could-not-measure\"}"
      " 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"facts\",outcome=\"skipped\"} 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"rdma\",outcome=\"pass\"} 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"rdma\",outcome=\"warn\"} 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"rdma\",outcome=\"fail\"} 1\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"rdma\",outcome=\"could-not-measure\"}"
      " 0\n"
      "spark_reconcile_verify_checks{cluster=\"lab\",level=\"rdma\",outcome=\"skipped\"} 0\n"
      "# HELP spark_reconcile_verify_findings Findings of the last verification, by code and "
      "outcome.\n"
      "# TYPE spark_reconcile_verify_findings gauge\n"
      "spark_reconcile_verify_findings{cluster=\"lab\",code=\"slow-link\",outcome=\"fail\"} 2\n"
      "# HELP spark_reconcile_verify_bandwidth_bits_per_second Payload that a check of a link "
      "carried.\n"
      "# TYPE spark_reconcile_verify_bandwidth_bits_per_second gauge\n"
      "spark_reconcile_verify_bandwidth_bits_per_second{cluster=\"lab\",check=\"write-alone\","
      "from=\"spark-1\",to=\"spark-2\",rail=\"rail1\"} 105100000000\n"
      "# HELP spark_reconcile_verify_latency_seconds One-way latency that a check of a link "
      "measured.\n"
      "# TYPE spark_reconcile_verify_latency_seconds gauge\n"
      "spark_reconcile_verify_latency_seconds{cluster=\"lab\",check=\"write-alone\","
      "from=\"spark-1\",to=\"spark-2\",rail=\"rail1\"} 2.5e-06\n"
      "# HELP spark_reconcile_verify_nccl_bus_bandwidth_bytes_per_second Bus bandwidth of an NCCL "
      "test.\n"
      "# TYPE spark_reconcile_verify_nccl_bus_bandwidth_bytes_per_second gauge\n"
      "spark_reconcile_verify_nccl_bus_bandwidth_bytes_per_second{cluster=\"lab\",test=\""
      "all_reduce 1 GiB float\"} 22500000000\n");
}

TEST(FormatVerifyMetrics, AFigureThatCannotBeTrueIsLeftOut) {
  Report report = MakeMeasuredReport();
  report.checks[1].outcome = Outcome::kCouldNotMeasure;
  report.checks.push_back({.level = VerifyLevel::kNccl,
                           .what = "nccl-test",
                           .from = "spark-1",
                           .subject = report.nccl->figures[0].Name(),
                           .outcome = Outcome::kCouldNotMeasure});
  EXPECT_THAT(FormatVerifyMetrics(report), HasSubstr("check=\"write-alone\""));
  EXPECT_THAT(FormatVerifyMetrics(report), HasSubstr("test=\"all_reduce 1 GiB float\""));
  report.checks[1].symptom = Symptom::kInvalidFigure;
  report.checks.back().symptom = Symptom::kInvalidFigure;
  EXPECT_THAT(FormatVerifyMetrics(report), Not(HasSubstr("check=\"write-alone\"")));
  EXPECT_THAT(FormatVerifyMetrics(report), Not(HasSubstr("test=\"all_reduce 1 GiB float\"")));
}

TEST(FormatVerifyMetrics, AReportWithoutATimeHasNoTimeOfItsOwn) {
  Report report = MakeMeasuredReport();
  report.run->began = "yesterday";
  EXPECT_THAT(FormatVerifyMetrics(report), Not(HasSubstr("timestamp")));
  EXPECT_THAT(FormatVerifyMetrics(report), HasSubstr("duration"));
  report.run.reset();
  EXPECT_THAT(FormatVerifyMetrics(report), Not(HasSubstr("duration")));
}

}  // namespace
}  // namespace reconciler
