#include "reconciler/verify/nccl/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/verify/nccl_sample.h"
#include "tests/unit/verify/severities.h"

namespace reconciler {
namespace {

using test::HealthyNccl;
using test::kGib;
using test::NcclScenario;
using testing::ElementsAre;
using testing::IsEmpty;

NcclEvidence MakeEvidence(const NcclScenario& scenario) {
  return {.cluster = scenario.cluster,
          .fabric = scenario.fabric,
          .facts = scenario.facts,
          .run = scenario.run};
}

NcclJudgement Judged(const NcclEvidence& evidence) {
  NcclJudgement judged = JudgeNccl(evidence);
  test::CheckSeverities(judged.findings);
  return judged;
}

NcclJudgement Judged(const NcclScenario& scenario) { return Judged(MakeEvidence(scenario)); }

const Check& FindCheck(const NcclJudgement& judged, std::string_view what) {
  for (const Check& check : judged.checks) {
    if (check.what == what) return check;
  }
  throw std::out_of_range(std::string(what));
}

struct Said {
  std::string code;
  Outcome outcome;
  std::vector<NodeName> nodes;
  std::string cause;
  std::string next_step;
};

void ExpectOne(const NcclEvidence& evidence, const Said& said) {
  const NcclJudgement judged = Judged(evidence);
  ASSERT_EQ(judged.findings.size(), 1u);
  const Finding& finding = judged.findings[0];
  EXPECT_EQ(finding.code, said.code);
  EXPECT_EQ(finding.outcome, said.outcome);
  EXPECT_EQ(finding.nodes, said.nodes);
  EXPECT_EQ(finding.cause, said.cause);
  EXPECT_EQ(finding.next_step, said.next_step);
  std::size_t bad = 0;
  for (const Check& check : judged.checks) bad += check.outcome != Outcome::kPass;
  EXPECT_EQ(finding.explains, bad);
}

const std::vector<NodeName> kBoth = {"spark-1", "spark-2"};

TEST(JudgeNccl, AHealthyPairHasNoFinding) {
  const NcclJudgement judged = Judged(HealthyNccl(2));
  EXPECT_THAT(judged.findings, IsEmpty());
  EXPECT_FALSE(judged.Failed());
  EXPECT_EQ(judged.checks.size(), 5u);
  EXPECT_EQ(FindCheck(judged, "nccl-run").measured, "1 test in 0.0 s");
  EXPECT_EQ(FindCheck(judged, "nccl-version").measured, "2.28.9");
  const Check& transport = FindCheck(judged, "nccl-transport");
  EXPECT_EQ(transport.expected, "RDMA over rocep1s0f1, roceP2p1s0f1");
  EXPECT_EQ(transport.measured,
            "10.74 of 10.74 GB by the rails' counters (50 % rocep1s0f1, 50 % roceP2p1s0f1)");
  EXPECT_THAT(transport.evidence, ElementsAre("NCCL says NET/IB/0, NET/IB/1"));
  const Check& test = FindCheck(judged, "nccl-test");
  EXPECT_EQ(test.subject, "all_reduce 1 GiB float");
  EXPECT_EQ(test.expected, "at least 17.6 GB/s: 0.90 of 0.80 (its size) × 24.5 GB/s (the links)");
  EXPECT_EQ(test.measured, "21.5 GB/s");
  EXPECT_EQ(judged.summary.ranks.at(0).version, "2.28.9+cuda13.0");
}

TEST(JudgeNccl, TheThresholdsAre90And75PercentOfWhatTheSizeReaches) {
  const double expected = 0.80 * 24.51;
  for (const auto& [part, outcome] : {std::pair(0.905, Outcome::kPass),
                                      {0.895, Outcome::kWarn},
                                      {0.755, Outcome::kWarn},
                                      {0.745, Outcome::kFail}}) {
    const NcclJudgement judged = Judged(HealthyNccl(2, part * expected));
    EXPECT_EQ(FindCheck(judged, "nccl-test").outcome, outcome) << part;
    EXPECT_EQ(judged.findings.size(), outcome == Outcome::kPass ? 0u : 1u) << part;
  }
}

// Half of the data of each node meet those of its neighbour in the cable between the switches.
TEST(JudgeNccl, AllToAllIsJudgedByTheCablesBetweenSwitchesAndARingByTheLinks) {
  NcclScenario scenario = test::HealthyNcclOverAnUplink();
  const auto set = [&](spark_verify::Collective collective, double busbw) {
    for (NcclRank& rank : scenario.run.ranks) {
      spark_verify::NcclResult& result = rank.results.at(0);
      result.collective = collective;
      const double factor = spark_verify::ComputeBusFactor(collective, 4);
      result.time_us = static_cast<double>(result.bytes) * factor / busbw * 1e-3;
    }
  };
  set(spark_verify::Collective::kAllToAll, 14);
  const NcclJudgement judged = Judged(scenario);
  EXPECT_THAT(judged.findings, IsEmpty());
  EXPECT_EQ(FindCheck(judged, "nccl-test").expected,
            "at least 13.2 GB/s: 0.90 of 0.80 (its size) × 18.4 GB/s (the cables between "
            "switches)");
  set(spark_verify::Collective::kAllToAll, 12);
  EXPECT_EQ(FindCheck(Judged(scenario), "nccl-test").outcome, Outcome::kWarn);
  for (const auto collective :
       {spark_verify::Collective::kSendRecv, spark_verify::Collective::kAllReduce}) {
    set(collective, 14);
    EXPECT_EQ(FindCheck(Judged(scenario), "nccl-test").outcome, Outcome::kFail);
    EXPECT_EQ(FindCheck(Judged(scenario), "nccl-test").expected,
              "at least 17.6 GB/s: 0.90 of 0.80 (its size) × 24.5 GB/s (the links)");
  }
}

TEST(JudgeNccl, SlowForNoReasonSaysSo) {
  const NcclScenario scenario = HealthyNccl(2, 12);
  ExpectOne(MakeEvidence(scenario),
            {"nccl-slow", Outcome::kFail, kBoth,
             "NCCL is slower than the links, and no measurement explains it",
             "run verify again while nothing else uses the nodes; compare with `verify --level "
             "rdma`"});
}

TEST(JudgeNccl, SmallSizesAreNotJudgedBySpeed) {
  NcclScenario scenario = HealthyNccl(2);
  for (const int node : {1, 2}) {
    scenario.Rank(node).results.push_back(
        test::MakeResult(0.01, 1 << 20, 2, scenario.fabric.ports.at("spark-1")));
  }
  EXPECT_THAT(Judged(scenario).findings, IsEmpty());
}

TEST(JudgeNccl, ASpeedThatNothingCanBeComparedWithIsNoPass) {
  NcclScenario scenario = HealthyNccl(2, 0.5);
  scenario.facts.clear();
  ExpectOne(MakeEvidence(scenario),
            {"links-unknown", Outcome::kCouldNotMeasure, kBoth,
             "not all links of these nodes report their speed, so the expected value is unknown",
             "check their speed with ethtool, or set verify.min_busbw in the manifest"});
  EXPECT_EQ(FindCheck(Judged(scenario), "nccl-test").why,
            "0.5 GB/s, and not all links report their speed");
}

TEST(JudgeNccl, ResultsThatAreMissingOrOfOtherTestsAreNoPass) {
  const Said said = {"measurement-invalid", Outcome::kCouldNotMeasure, kBoth,
                     "results of some rank are missing or cannot be read",
                     "run verify again; the same program and libraries must be on all nodes"};
  NcclScenario none = HealthyNccl(2);
  for (const int node : {1, 2}) none.Rank(node).results.clear();
  ExpectOne(MakeEvidence(none), said);
  NcclScenario one = HealthyNccl(2);
  one.Rank(2).results.clear();
  ExpectOne(MakeEvidence(one), said);
  NcclScenario other = HealthyNccl(2);
  other.Rank(2).results.at(0).in_place = true;
  ExpectOne(MakeEvidence(other), said);
  EXPECT_EQ(FindCheck(Judged(other), "nccl-run").symptom, Symptom::kInvalidFigure);
}

TEST(JudgeNccl, WithoutFactsOfTheLinksOnlyTheDataOfSmallSizesIsJudged) {
  NcclScenario scenario = HealthyNccl(2);
  for (const int node : {1, 2}) {
    scenario.Rank(node).results = {
        test::MakeResult(0.5, 1 << 20, 2, scenario.fabric.ports.at("spark-1"))};
  }
  scenario.facts.clear();
  const NcclJudgement judged = Judged(scenario);
  EXPECT_THAT(judged.findings, IsEmpty());
  EXPECT_EQ(FindCheck(judged, "nccl-test").expected, "every result right");
  EXPECT_EQ(FindCheck(judged, "nccl-transport").measured, "NET/IB/0, NET/IB/1");
}

TEST(JudgeNccl, MoreThanTheLinksCarryWasNotMeasured) {
  for (const double busbw : {25.4, 51.0, std::numeric_limits<double>::infinity()}) {
    const NcclScenario scenario = HealthyNccl(2, busbw);
    ExpectOne(MakeEvidence(scenario),
              {"measurement-invalid", Outcome::kCouldNotMeasure, kBoth,
               "the figure cannot be true: no link of these nodes can carry as much",
               "run verify again while nothing else uses the fabric; check the nodes' clocks"});
    EXPECT_EQ(FindCheck(Judged(scenario), "nccl-test").symptom, Symptom::kInvalidFigure);
  }
  EXPECT_THAT(Judged(HealthyNccl(2, 25.1)).findings, IsEmpty());  // within 3 %
}

TEST(JudgeNccl, WhereNoLinkReportsItsSpeedTheManifestSaysWhatCannotBe) {
  NcclScenario scenario = HealthyNccl(2, 51.0);
  scenario.facts.clear();
  const NcclJudgement judged = Judged(scenario);
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].code, "measurement-invalid");
  EXPECT_EQ(judged.findings[0].expected, "at most 24.5 GB/s, which the links carry");
}

TEST(JudgeNccl, AWrongResultFailsAtAnySpeed) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.Rank(2).results.at(0).wrong = 3;
  ExpectOne(
      MakeEvidence(scenario),
      {"wrong-data",
       Outcome::kFail,
       {"spark-2"},
       "results that arrived on spark-2 are wrong",
       "run it with NCCL_PROTO: ^LL128 in nccl.env; wrong all the same: memory, cable or HCA"});
}

TEST(JudgeNccl, SocketsFailEvenWhenTheyAreFast) {
  NcclScenario scenario = HealthyNccl(2);
  for (const int node : {1, 2}) {
    test::StandStill(scenario.Rank(node));
    scenario.Rank(node).log = "NCCL INFO Using network Socket\nx via NET/Socket/0\n";
  }
  ExpectOne(
      MakeEvidence(scenario),
      {"nccl-socket", Outcome::kFail, kBoth,
       "NCCL uses TCP sockets instead of RDMA on spark-1, spark-2",
       "check `rdma link`, libibverbs1, NCCL_IB_HCA and NCCL_IB_DISABLE on spark-1, spark-2"});
}

TEST(JudgeNccl, AVariableOrALogExplainsSockets) {
  const auto explain = [](const std::string& lines, const std::string& ib_disable) {
    NcclScenario scenario = HealthyNccl(2);
    for (const int node : {1, 2}) {
      test::StandStill(scenario.Rank(node));
      scenario.Rank(node).log = "NCCL INFO Using network Socket\nx via NET/Socket/0\n";
    }
    scenario.Rank(2).log += lines;
    if (!ib_disable.empty()) scenario.Rank(2).hello->env["NCCL_IB_DISABLE"] = ib_disable;
    const NcclJudgement judged = Judged(scenario);
    return judged.findings.at(0).cause + " | " + judged.findings.at(0).next_step;
  };
  const std::string begin = "NCCL uses TCP sockets instead of RDMA on spark-1, spark-2: ";
  EXPECT_EQ(explain("", "1"),
            begin + "NCCL_IB_DISABLE=1 on spark-2 | remove NCCL_IB_DISABLE on spark-2");
  EXPECT_EQ(explain("n NCCL INFO NCCL_NET set by environment to Socket\n", "0"),
            begin + "NCCL_NET=Socket on spark-2 (a file nccl.conf) | remove NCCL_NET on spark-2");
  EXPECT_EQ(explain("n NCCL INFO Failed to open libibverbs.so[.1]\n", ""),
            begin + "NCCL on spark-2 finds no libibverbs | install libibverbs1 on spark-2");
  EXPECT_EQ(
      explain("n NCCL INFO NET/IB : No device found.\nn NCCL INFO NCCL_IB_HCA set to mlx5\n", ""),
      begin +
          "NCCL finds no HCA for NCCL_IB_HCA=mlx5 on spark-2 (a file nccl.conf), which has "
          "roceP2p1s0f1, rocep1s0f1 | name these in NCCL_IB_HCA, or remove it; check `rdma "
          "link` on spark-2");
}

TEST(JudgeNccl, ALibraryThatLiesIsFoundByTheCounters) {
  NcclScenario scenario = HealthyNccl(2, 2);
  for (const int node : {1, 2}) test::StandStill(scenario.Rank(node));
  ExpectOne(MakeEvidence(scenario),
            {"nccl-socket", Outcome::kFail, kBoth,
             "NCCL reports RDMA on spark-1, spark-2, but the counters of the rails grew by less",
             "check NCCL_IB_HCA on spark-1, spark-2: other ports than the manifest's were used"});
}

TEST(JudgeNccl, OneRailIsTheCauseOfHalfTheSpeed) {
  NcclScenario scenario = HealthyNccl(2, 12.5);
  for (const int node : {1, 2}) {
    scenario.Rank(node).results.at(0).counters.at("rocep1s0f1").at("port_xmit_data") *= 2;
    test::StandStill(scenario.Rank(node), "roceP2p1s0f1");
  }
  ExpectOne(
      MakeEvidence(scenario),
      {"one-rail", Outcome::kFail, kBoth, "NCCL leaves rail1 idle on spark-1, spark-2",
       "check NCCL_IB_HCA and that rail's GIDs on spark-1, spark-2 (`rdma link`, `ip addr`)"});
  EXPECT_THAT(Judged(scenario).findings[0].rails, ElementsAre(1));
}

TEST(JudgeNccl, AnHcaThatAVariableLeavesOutIsNamed) {
  NcclScenario scenario = HealthyNccl(2, 12.5);
  for (const int node : {1, 2}) {
    scenario.Rank(node).results.at(0).counters.at("rocep1s0f1").at("port_xmit_data") *= 2;
    test::StandStill(scenario.Rank(node), "roceP2p1s0f1");
    scenario.Rank(node).log = "n NCCL INFO NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB x\n";
  }
  scenario.Rank(1).hello->env["NCCL_IB_HCA"] = "=rocep1s0f1";
  ExpectOne(
      MakeEvidence(scenario),
      {"one-rail", Outcome::kFail, kBoth,
       "NCCL leaves rail1 idle on spark-1, spark-2: NCCL_IB_HCA==rocep1s0f1 on spark-1 leaves "
       "out roceP2p1s0f1",
       "name the HCAs of both rails in NCCL_IB_HCA, or remove it"});
}

TEST(JudgeNccl, ADeadlineInATestOverSocketsIsTheSockets) {
  NcclScenario scenario = HealthyNccl(2);
  for (const int node : {1, 2}) {
    NcclRank& rank = scenario.Rank(node);
    test::StandStill(rank);
    rank.results.at(0).bytes = 32u << 20;
    rank.log = "NCCL INFO Using network Socket\nx via NET/Socket/0\n";
    rank.fate = NcclFate::kAborted;
    rank.phase = "all_reduce of 17179869184 bytes";
  }
  scenario.Rank(1).fate = NcclFate::kFailed;
  scenario.Rank(1).failure = {
      .code = "deadline", .phase = "all_reduce of 17179869184 bytes", .text = "wanted it in 30 s"};
  ExpectOne(
      MakeEvidence(scenario),
      {"nccl-socket", Outcome::kFail, kBoth,
       "NCCL uses TCP sockets instead of RDMA on spark-1, spark-2",
       "check `rdma link`, libibverbs1, NCCL_IB_HCA and NCCL_IB_DISABLE on spark-1, spark-2"});
}

TEST(JudgeNccl, NarrowPcieIsNamedAlthoughItsOwnRooflineIsReached) {
  NcclScenario scenario = HealthyNccl(2, 12.5);
  scenario.Rail(2, "roceP2p1s0f1").limits.pcie_width = 2;
  ExpectOne(MakeEvidence(scenario), {"pcie-width",
                                     Outcome::kFail,
                                     {"spark-2"},
                                     "roceP2p1s0f1 of spark-2 runs at PCIe x2 where it could x4",
                                     "update the BIOS of spark-2 (fwupdmgr update; before 2026-04 "
                                     "some wired the second function with two "
                                     "lanes), then take its power away for a minute"});
}

TEST(JudgeNccl, AnHcaThatCollectivesDoNotUseIsNoCause) {
  spark_verify::Limits other{.link_mbps = 10'000, .pcie_width = 1};
  other.pcie_max_width = 8;
  NcclScenario healthy = HealthyNccl(2);
  healthy.facts["spark-2"]["mlx5_9"] = {.limits = other};
  EXPECT_THAT(Judged(healthy).findings, testing::IsEmpty());
  NcclScenario slow = HealthyNccl(2, 1.6);
  slow.facts["spark-2"]["mlx5_9"] = {.limits = other};
  EXPECT_EQ(Judged(slow).findings.at(0).code, "nccl-slow");
}

TEST(JudgeNccl, ADegradedHcaThatTheWritesFoundExplainsSlowCollectives) {
  const NcclScenario scenario = HealthyNccl(2, 1.6);
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.hca_is_degraded = true;
  ExpectOne(evidence,
            {"hca-degraded", Outcome::kFail, kBoth,
             "a ConnectX of spark-1 or spark-2 is degraded: both rails work and their links are "
             "healthy",
             "shut them down, take their power away for a minute, and update the firmware"});
}

TEST(JudgeNccl, WithoutTheWritesAgreementNoHcaIsCalledDegraded) {
  EXPECT_EQ(Judged(HealthyNccl(2, 1.6)).findings.at(0).code, "nccl-slow");
}

// A development branch did 3.04 GB/s where the release did 23.74, on the same nodes.
TEST(JudgeNccl, ADevelopmentBuildIsCalledThatAndNoDegradedHca) {
  NcclScenario scenario = HealthyNccl(2, 3.04);
  scenario.Rank(2).log += "NCCL INFO NCCL git version dgxspark-3node-ring fab1850\n";
  EXPECT_EQ(Judged(scenario).findings.at(0).code, "nccl-development-build");
}

TEST(JudgeNccl, PairsNameTheSlowNodeByMajority) {
  const NcclScenario scenario = HealthyNccl(3, 10);
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.pairs = {{"spark-1", "spark-2", true, "21.4 GB/s"},
                    {"spark-1", "spark-3", false, "10.1 GB/s"},
                    {"spark-2", "spark-3", false, "10.0 GB/s"}};
  ExpectOne(evidence, {"slow-node",
                       Outcome::kFail,
                       {"spark-3"},
                       "every run with spark-3 is slow, and those without are not",
                       "run `verify --level rdma`; check load, temperature and PCIe of spark-3"});
  EXPECT_THAT(
      Judged(evidence).findings[0].evidence,
      ElementsAre("spark-1 with spark-2 alone: 21.4 GB/s", "spark-1 with spark-3 alone: 10.1 GB/s",
                  "spark-2 with spark-3 alone: 10.0 GB/s"));
}

TEST(JudgeNccl, DifferentVersionsAreAWarningUntilTheyCostSomething) {
  for (const double busbw : {21.5, 12.0}) {
    NcclScenario scenario = HealthyNccl(2, busbw);
    scenario.Rank(2).hello->nccl_version = 23007;
    ExpectOne(MakeEvidence(scenario),
              {"nccl-versions", busbw > 20 ? Outcome::kWarn : Outcome::kFail, kBoth,
               "the nodes have loaded different versions of NCCL: 2.28.9 on spark-1; 2.30.7 on "
               "spark-2",
               "install the same libnccl2 on all nodes, or name one file in nccl.library"});
  }
}

TEST(JudgeNccl, ABuildThatIsNoReleaseExplainsSlowness) {
  NcclScenario scenario = HealthyNccl(2, 12);
  scenario.Rank(2).log += "NCCL INFO NCCL git version dgxspark-3node-ring fab1850\n";
  ExpectOne(MakeEvidence(scenario),
            {"nccl-development-build",
             Outcome::kFail,
             {"spark-2"},
             "the libnccl of spark-2 is no release: 2.28.9+cuda13.0 of branch dgxspark-3node-ring",
             "try a release of NVIDIA's on all nodes"});
  for (const int node : {1, 2}) scenario.Rank(node).results = HealthyNccl(2).Rank(1).results;
  EXPECT_THAT(Judged(scenario).findings, IsEmpty());
}

TEST(JudgeNccl, APromiseIsTheGate) {
  const NcclScenario scenario = HealthyNccl(2, 19);
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.minimum = {.busbw = 20, .where = {"cluster.yaml", {31, 16}}};
  const NcclJudgement judged = Judged(evidence);
  const Check& test = FindCheck(judged, "nccl-test");
  EXPECT_EQ(test.outcome, Outcome::kFail);
  EXPECT_EQ(test.expected, "at least 20.0 GB/s (cluster.yaml:31:16); these links carry 24.5 GB/s");
  EXPECT_EQ(judged.findings.at(0).code, "minimum-too-high");
  EXPECT_EQ(judged.findings.at(0).cause,
            "the minimum is more than 1 GiB reaches on these links, healthy as they are");
  EXPECT_EQ(judged.findings.at(0).next_step,
            "set verify.min_busbw to at most 17.6 GB/s at this size, or take a larger verify.size");
  evidence.minimum.busbw = 18;
  EXPECT_EQ(FindCheck(Judged(evidence), "nccl-test").outcome, Outcome::kPass);
}

TEST(JudgeNccl, WhatIsPromisedIsEnoughButSlownessIsReported) {
  const NcclScenario scenario = HealthyNccl(2, 10);
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.minimum = {.busbw = 9, .where = {"cluster.yaml", {31, 16}}};
  EXPECT_EQ(FindCheck(Judged(evidence), "nccl-test").outcome, Outcome::kWarn);
}

TEST(JudgeNccl, TransportThatNothingReportsIsNotAPass) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.facts.clear();
  scenario.Rank(2).log.clear();
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.minimum = {.busbw = 9, .where = {"cluster.yaml", {31, 16}}};
  ExpectOne(evidence,
            {"transport-unknown",
             Outcome::kCouldNotMeasure,
             {"spark-2"},
             "it is unknown how NCCL's data left spark-2",
             "check NCCL_NET_PLUGIN, and whether this build prints anything with NCCL_DEBUG=INFO"});
}

TEST(JudgeNccl, ASecondRunThatIsGoodMakesTheFirstFlaky) {
  const NcclScenario scenario = HealthyNccl(2);
  NcclEvidence evidence = MakeEvidence(scenario);
  evidence.first_attempt = "spark-2: wanted it in 20 s";
  ExpectOne(evidence,
            {"flaky", Outcome::kWarn, kBoth, "the first run was not good, and the second one was",
             "run verify again; when it comes back, check cables and dmesg"});
  EXPECT_EQ(FindCheck(Judged(evidence), "nccl-run").measured,
            "the first of two runs: spark-2: wanted it in 20 s");
}

TEST(JudgeNccl, NoRanksNoJudgement) { EXPECT_THAT(Judged({}).checks, IsEmpty()); }

}  // namespace
}  // namespace reconciler
