#include "reconciler/verify/report/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/report/markdown.h"

namespace reconciler {
namespace {

// A check of each outcome; what the nodes said is hostile.
Report MakeMixedReport() {
  Report report{.cluster = "lab", .level = VerifyLevel::kRdma};
  report.checks = {{.level = VerifyLevel::kFacts, .what = "mtu", .from = "spark-1", .rail = 0},
                   {.level = VerifyLevel::kPing,
                    .what = "jumbo-ping",
                    .from = "spark-1",
                    .to = "spark-2",
                    .rail = 1,
                    .outcome = Outcome::kFail,
                    .expected = "8972 bytes",
                    .measured = "<b>\"0\"</b> & | nothing\n"},
                   {.level = VerifyLevel::kPing,
                    .what = "jumbo-ping",
                    .from = "spark-2",
                    .to = "spark-1",
                    .rail = 1,
                    .outcome = Outcome::kCouldNotMeasure,
                    .why = "spark-2 could not be reached"},
                   {.level = VerifyLevel::kRdma,
                    .what = "write-alone",
                    .from = "spark-1",
                    .to = "spark-2",
                    .rail = 0,
                    .outcome = Outcome::kWarn,
                    .expected = "at least 105.1 Gb/s of 111.8 Gb/s",
                    .measured = "104.0 Gb/s"},
                   {.level = VerifyLevel::kRdma,
                    .what = "write-alone",
                    .from = "spark-2",
                    .to = "spark-1",
                    .rail = 0,
                    .outcome = Outcome::kSkipped,
                    .why = "spark-2 could not be reached"}};
  report.findings = {{.code = "path-mtu",
                      .outcome = Outcome::kFail,
                      .level = VerifyLevel::kPing,
                      .nodes = {"spark-1", "spark-2"},
                      .rails = {1},
                      .expected = "8972 bytes",
                      .measured = "<b>\"0\"</b> & | nothing\n",
                      .cause = "the way drops large packets",
                      .next_step = "check the switch's MTU",
                      .explains = 1}};
  return report;
}

TEST(RenderJunit, ACheckHasTheFindingOfWhatItSaw) {
  Report report{.cluster = "lab"};
  for (const auto& [what, symptom] :
       {std::pair("fec", Symptom::kFecWrong), std::pair("link-layer", Symptom::kInfiniBand)}) {
    report.checks.push_back({.what = what,
                             .from = "spark-1",
                             .outcome = Outcome::kFail,
                             .symptom = symptom,
                             .measured = what});
    report.findings.push_back({.code = std::string(ToString(symptom)),
                               .level = VerifyLevel::kFacts,
                               .nodes = {"spark-1"}});
  }
  const std::string text = RenderJunit(report);
  EXPECT_NE(text.find("<failure type=\"fec-wrong\" message=\"fec\">"), std::string::npos) << text;
  EXPECT_NE(text.find("<failure type=\"infiniband-link\" message=\"link-layer\">"),
            std::string::npos)
      << text;
}

TEST(RenderJunit, EachCheckIsATestCaseOfItsLevel) {
  EXPECT_EQ(
      RenderJunit(MakeMixedReport()),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"spark-reconcile verify lab\" tests=\"5\" failures=\"1\" errors=\"1\" "
      "skipped=\"1\">\n"
      "  <testsuite name=\"facts\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n"
      "    <testcase classname=\"lab.facts\" name=\"mtu spark-1 on rail0\"></testcase>\n"
      "  </testsuite>\n"
      "  <testsuite name=\"ping\" tests=\"2\" failures=\"1\" errors=\"1\" skipped=\"0\">\n"
      "    <testcase classname=\"lab.ping\" name=\"jumbo-ping spark-1 to spark-2 on rail1\">"
      "<failure type=\"path-mtu\" message=\"&lt;b&gt;&quot;0&quot;&lt;/b&gt; &amp; | "
      "nothing\\x0a\">"
      "expected: 8972 bytes\n"
      "measured: &lt;b&gt;&quot;0&quot;&lt;/b&gt; &amp; | nothing\\x0a\n"
      "cause: the way drops large packets\n"
      "next step: check the switch's MTU</failure></testcase>\n"
      "    <testcase classname=\"lab.ping\" name=\"jumbo-ping spark-2 to spark-1 on rail1\">"
      "<error type=\"could-not-measure\" message=\"spark-2 could not be reached\">"
      "measured: spark-2 could not be reached</error></testcase>\n"
      "  </testsuite>\n"
      "  <testsuite name=\"rdma\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
      "    <testcase classname=\"lab.rdma\" name=\"write-alone spark-1 to spark-2 on rail0\">"
      "<system-out>warn: expected: at least 105.1 Gb/s of 111.8 Gb/s\n"
      "measured: 104.0 Gb/s</system-out></testcase>\n"
      "    <testcase classname=\"lab.rdma\" name=\"write-alone spark-2 to spark-1 on rail0\">"
      "<skipped message=\"spark-2 could not be reached\"/></testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n");
}

TEST(RenderMarkdown, WhatANodeSaysIsNoLinkAndNoMention) {
  Report report{.cluster = "lab"};
  report.findings = {
      {.code = "one-way", .nodes = {"spark-1"}, .measured = "https://x.example @me"}};
  EXPECT_THAT(RenderMarkdown(report),
              testing::HasSubstr("- measured: https\\://x.example \\@me\n"));
}

TEST(RenderMarkdown, TheVerdictComesFirstAndWhatNodesSayIsText) {
  Report report = MakeMixedReport();
  report.not_measured = NotMeasured{VerifyLevel::kNccl, "spark-1 has no usable NVIDIA driver"};
  EXPECT_EQ(RenderMarkdown(report),
            "# Verification of lab: failed\n"
            "\n"
            "Up to level rdma; NCCL not run\\: spark-1 has no usable NVIDIA driver.\n"
            "\n"
            "## Findings\n"
            "\n"
            "### path-mtu: spark-1, spark-2 on rail1 (fail)\n"
            "\n"
            "- expected: 8972 bytes\n"
            "- measured: \\<b\\>\"0\"\\</b\\> \\& \\| nothing\\\\x0a\n"
            "- cause: the way drops large packets\n"
            "- next step: check the switch's MTU\n"
            "\n"
            "## RDMA writes\n"
            "\n"
            "| From | To | Rail | Measured | Outcome |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| spark-1 | spark-2 | rail0 | 104.0 Gb/s | warn |\n"
            "\n"
            "## Checks\n"
            "\n"
            "| Level | Passed | Warned | Failed | Could not be measured | Skipped |\n"
            "| --- | --- | --- | --- | --- | --- |\n"
            "| facts | 1 | 0 | 0 | 0 | 0 |\n"
            "| ping | 0 | 0 | 1 | 1 | 0 |\n"
            "| rdma | 0 | 1 | 0 | 0 | 1 |\n");
}

}  // namespace
}  // namespace reconciler
