#include "reconciler/verify/report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/text.h"
#include "reconciler/verify/links/port_errors.h"
#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

Report MakeReport(const Sample& sample, const std::vector<Check>& checks) {
  Report report{.cluster = "homelab", .checks = checks};
  report.findings = ListFindings(sample, checks);
  return report;
}

TEST(Render, AHealthyPair) {
  const Sample sample = OnSwitch(2);
  EXPECT_EQ(RenderReport(MakeReport(sample, PassedChecks(sample))),
            "homelab · verify up to link\n"
            "\n"
            "facts: 26 passed, 0 failed, 0 could not be measured, 0 skipped\n"
            "\n"
            "jumbo ping, from row to column (rail0 rail1)\n"
            "           spark-1  spark-2\n"
            "  spark-1  -        ok ok\n"
            "  spark-2  ok ok    -\n"
            "\n"
            "ssh, from row to column (rail0 rail1)\n"
            "           spark-1  spark-2\n"
            "  spark-1  -        ok ok\n"
            "  spark-2  ok ok    -\n"
            "\n"
            "34 checks: 34 passed, 0 failed, 0 could not be measured, 0 skipped\n");
}

TEST(Render, WarningsAreFindingsAndAreCountedWhereThereAreAny) {
  Sample sample = OnSwitch(3);
  sample.facts.nodes.at("spark-3").network.ports["enp1s0f1np1"].lanes = 2;
  sample.facts.nodes.at("spark-3").network.ports["enP2p1s0f1np1"].lanes = 4;
  std::vector<Check> checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  NodeProbes probes{.from = "spark-1", .pings = {{.to = "spark-2", .rail = 1, .netdev = "e1"}}};
  for (const Check& check :
       JudgeErrors(probes, "e1 rx_crc_errors_phy 1", "e1 rx_crc_errors_phy 4")) {
    checks.push_back(check);
  }
  EXPECT_EQ(
      RenderReport(MakeReport(sample, checks)),
      "homelab · verify up to link\n"
      "\n"
      "facts: 40 passed, 0 failed, 0 could not be measured, 0 skipped, 2 warnings\n"
      "\n"
      "findings\n"
      "  warn errors-grew: spark-1 on rail1\n"
      "    expected   no error counter of e1 grows while verify runs\n"
      "    measured   rx_crc_errors_phy grew by 3 to 4\n"
      "    cause      the port counted bad or dropped frames, or lost its link, while verify ran: "
      "its cable\n"
      "               or a plug, another FEC at the other end, or frames that come faster "
      "than the node\n"
      "               takes them\n"
      "    next step  reseat the cable of spark-1 at both ends and run verify again; if it stays, "
      "try\n"
      "               another cable\n"
      "\n"
      "  warn cable-lanes-differ: spark-3 on rail0\n"
      "    expected   4 lanes on enp1s0f1np1, as its cable has\n"
      "    measured   2 lanes\n"
      "    cause      the port has another number of lanes than the other ports of its cable: the "
      "port at\n"
      "               the other end is split or set otherwise, or a lane of the cable is broken\n"
      "    next step  compare `ethtool` on both ends of the cable of spark-3 and reseat it;\n"
      "               `spark-reconcile graph` says how a switch's ports must be set\n"
      "\n"
      "42 checks: 40 passed, 0 failed, 0 could not be measured, 0 skipped, 2 warnings; 2 causes\n");
}

TEST(Render, WritesAreALinePerDirectionAndWhatIsNotAPassIsMarked) {
  const auto write = [](std::string what, std::string from, std::string to, int rail,
                        Outcome outcome, std::string measured) {
    return Check{.level = VerifyLevel::kRdma,
                 .what = std::move(what),
                 .from = std::move(from),
                 .to = std::move(to),
                 .rail = rail,
                 .outcome = outcome,
                 .measured = std::move(measured)};
  };
  using enum Outcome;
  const Report report{
      .cluster = "homelab",
      .level = VerifyLevel::kRdma,
      .checks = {write("write-alone", "spark-1", "spark-2", 0, kPass, "111.4 Gb/s, 2.1 µs"),
                 write("write-alone", "spark-2", "spark-1", 0, kFail, "13.2 Gb/s, 2.3 µs"),
                 write("write-alone", "spark-1", "spark-2", 1, kCouldNotMeasure, ""),
                 write("write-together", "spark-1", "spark-2", 0, kPass, "97.9 Gb/s"),
                 write("write-together", "spark-1", "spark-2", 1, kSkipped, "")}};
  EXPECT_EQ(RenderReport(report),
            "homelab · verify up to rdma\n"
            "\n"
            "rdma write\n"
            "  spark-1 → spark-2  rail0 111.4 Gb/s, 2.1 µs  rail1 could-not-measure"
            "  rail0 with the others 97.9 Gb/s  rail1 with the others skipped\n"
            "  spark-2 → spark-1  rail0 13.2 Gb/s, 2.3 µs ✗\n"
            "\n"
            "5 checks: 2 passed, 1 failed, 1 could not be measured, 1 skipped\n");
}

TEST(Render, FailuresAndWhatIsNotKnown) {
  const Sample sample = OnSwitch(3);
  auto checks = PassedChecks(sample);
  std::erase_if(checks, [](const Check& check) { return check.level != VerifyLevel::kPing; });
  Break(checks, VerifyLevel::kPing, "3>0@1", Symptom::kJumboLost,
        "2 packets transmitted, 0 received");
  Break(checks, VerifyLevel::kPing, "0>3@1", Symptom::kJumboLost,
        "2 packets transmitted, 0 received");
  checks[0].outcome = Outcome::kCouldNotMeasure;
  checks[0].symptom = Symptom::kNoAnswer;
  checks[0].why = "the script ended with 1 without an answer for this";
  EXPECT_EQ(
      RenderReport(MakeReport(sample, checks)),
      "homelab · verify up to link\n"
      "\n"
      "jumbo ping, from row to column (rail0 rail1)\n"
      "           spark-1    spark-2    spark-3\n"
      "  spark-1  -          ?    ok    ok   FAIL\n"
      "  spark-2  ok   ok    -          ok   FAIL\n"
      "  spark-3  ok   FAIL  ok   FAIL  -\n"
      "\n"
      "findings\n"
      "  ? no-answer: spark-1 on rail0\n"
      "    expected   packets of 9000 bytes come back unfragmented\n"
      "    cause      the script ended with 1 without an answer for this\n"
      "    next step  run verify again; if it stays, check the node's load and space in its /tmp\n"
      "\n"
      "  FAIL path-mtu: spark-3 on rail1\n"
      "    expected   packets of 9000 bytes come back unfragmented\n"
      "    measured   jumbo-lost\n"
      "    evidence   spark-1 to spark-3 on rail1: 2 packets transmitted, 0 received\n"
      "    evidence   spark-2 to spark-3 on rail1: 2 packets transmitted, 0 received\n"
      "    evidence   spark-3 to spark-1 on rail1: 2 packets transmitted, 0 received\n"
      "    evidence   spark-3 to spark-2 on rail1: 2 packets transmitted, 0 received\n"
      "    evidence   spark-3: enP2p1s0f1np1 has mtu 9000\n"
      "    cause      both ends have the right MTU, and only packets to and from spark-3 are lost "
      "on rail1:\n"
      "               the MTU of its switch port is too small\n"
      "    next step  set the L2 MTU (l2mtu, jumbo frames) of the switch port of spark-3 above the "
      "fabric's\n"
      "    explains   4 checks\n"
      "\n"
      "12 checks: 7 passed, 4 failed, 1 could not be measured, 0 skipped; 2 causes\n");
}

// Terminal columns: the text is ASCII but for "·".
std::size_t WidestLine(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : SplitLines(text)) {
    const auto continuation = [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
    };
    const auto bytes =
        static_cast<std::size_t>(std::count_if(line.begin(), line.end(), continuation));
    widest = std::max(widest, line.size() - bytes);
  }
  return widest;
}

TEST(Render, EightBrokenNodesFitIn100Columns) {
  const Sample sample = OnSwitch(8);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "0>0@*", Symptom::kNothingBack,
        "2 packets transmitted, 0 received");
  const std::string text = RenderReport(MakeReport(sample, checks));
  EXPECT_THAT(text, testing::HasSubstr("FAIL FAIL"));
  EXPECT_LE(WidestLine(text), 100u);
}

TEST(Render, LongNamesBecomeNumbers) {
  Sample sample = OnSwitch(8);
  auto checks = PassedChecks(sample);
  for (Check& check : checks) {
    check.from = "machine-room-" + check.from;
    if (!check.to.empty()) check.to = "machine-room-" + check.to;
  }
  const std::string text = RenderReport({.cluster = "homelab", .checks = checks});
  EXPECT_LE(WidestLine(text), 100u);
  EXPECT_THAT(text, testing::HasSubstr("  2 machine-room-spark-2  ok ok  -      ok ok"));
}

TEST(Render, TheMatrixOfJumboPingsShowsNoOtherCheckOfItsLevel) {
  const auto make = [](std::string what, std::string from, std::string to, Outcome outcome) {
    return Check{.level = VerifyLevel::kPing,
                 .what = std::move(what),
                 .from = std::move(from),
                 .to = std::move(to),
                 .rail = 0,
                 .outcome = outcome};
  };
  const Report report{.cluster = "homelab",
                      .checks = {make("jumbo-ping", "spark-1", "spark-2", Outcome::kFail),
                                 make("neighbour", "spark-1", "spark-2", Outcome::kWarn),
                                 make("jumbo-ping", "spark-2", "spark-1", Outcome::kPass),
                                 make("neighbour", "spark-2", "spark-1", Outcome::kFail)}};
  EXPECT_EQ(RenderReport(report),
            "homelab · verify up to link\n"
            "\n"
            "jumbo ping, from row to column (rail0)\n"
            "           spark-1  spark-2\n"
            "  spark-1  -        FAIL\n"
            "  spark-2  ok       -\n"
            "\n"
            "4 checks: 1 passed, 2 failed, 0 could not be measured, 0 skipped, 1 warning\n");
}

TEST(Render, ARingShowsTheRailsOfEachPair) {
  const Sample sample = Ring();
  EXPECT_THAT(RenderReport(MakeReport(sample, PassedChecks(sample))),
              testing::HasSubstr("  spark-1  -        ok ok    ok ok\n"));
}

TEST(Render, FindingsKeepToTheWidthOfANarrowTerminal) {
  Report report{.cluster = "homelab", .level = VerifyLevel::kRdma};
  report.findings = {{.code = "hca-missing",
                      .nodes = {"spark-1", "spark-2"},
                      .cause = "the port has no RDMA device: the module mlx5_ib is not loaded",
                      .next_step = "check it"}};
  EXPECT_THAT(RenderReport(report, 40), testing::HasSubstr("  FAIL hca-missing: spark-1, spark-2\n"
                                                           "    cause      the port has no RDMA\n"
                                                           "               device: the module\n"
                                                           "               mlx5_ib is not loaded\n"
                                                           "    next step  check it\n"));
  EXPECT_EQ(RenderReport(report, 200), RenderReport(report));
}

}  // namespace
}  // namespace reconciler
