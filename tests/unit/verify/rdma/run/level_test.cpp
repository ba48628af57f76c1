#include "reconciler/verify/rdma/run/level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/found/found_addresses.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

Finding Found(std::string code, std::vector<NodeName> nodes, VerifyLevel level) {
  return {.code = std::move(code), .level = level, .nodes = std::move(nodes), .explains = 2};
}

ClusterFacts Facts(const std::string& firmware, const std::string& other_firmware) {
  ClusterFacts facts;
  for (const auto& [node, text] : {std::pair("spark-1", firmware), {"spark-2", other_firmware}}) {
    facts.nodes[node].hcas["rocep1s0f1"] = {.firmware = text, .board_id = "NVD0000000087"};
    facts.nodes[node].hcas["roceP2p1s0f1"] = {.firmware = text, .board_id = "NVD0000000087"};
    facts.nodes[node].host = HostFact{.kernel = "6.17.0-1014-nvidia"};
  }
  return facts;
}

TEST(AddRdmaFindings, WhatALevelBelowHasFoundIsNotFoundAgain) {
  Report report;
  report.findings = {Found("pcie-width", {"spark-2"}, VerifyLevel::kFacts)};
  AddRdmaFindings(report,
                  {.findings = {Found("pcie-width", {"spark-2"}, VerifyLevel::kRdma),
                                Found("pcie-width", {"spark-1"}, VerifyLevel::kRdma)}},
                  {});
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].level, VerifyLevel::kFacts);
  EXPECT_EQ(report.findings[0].explains, 4u);
  EXPECT_EQ(report.findings[1].nodes, std::vector<NodeName>{"spark-1"});
}

TEST(AddRdmaFindings, WhatALevelBelowHasFoundAlsoHoldsForTheRailsOfThisOne) {
  Report report;
  report.findings = {Found("pcie-width", {"spark-2"}, VerifyLevel::kFacts)};
  report.findings[0].rails = {0};
  report.findings[0].outcome = Outcome::kCouldNotMeasure;
  Finding more = Found("pcie-width", {"spark-2"}, VerifyLevel::kRdma);
  more.rails = {1};
  AddRdmaFindings(report, {.findings = {more}}, {});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rails, (std::set<int>{0, 1}));
  EXPECT_EQ(report.findings[0].outcome, Outcome::kFail);
}

TEST(AddRdmaFindings, TwoRailsOfTheSamePairAreTwoFindings) {
  Report report;
  Finding one = Found("packet-loss", {"spark-1", "spark-2"}, VerifyLevel::kRdma);
  one.cause = "packets are lost on rail0";
  Finding other = one;
  other.cause = "packets are lost on rail1";
  AddRdmaFindings(report, {.findings = {one, other}}, {});
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[1].cause, other.cause);
}

TEST(AddRdmaFindings, WhatDiffersBetweenTheEndsIsEvidence) {
  const auto evidence = [](const ClusterFacts& facts, std::vector<NodeName> nodes) {
    Report report;
    AddRdmaFindings(
        report, {.findings = {Found("rdma-slow", std::move(nodes), VerifyLevel::kRdma)}}, facts);
    return report.findings.at(0).evidence;
  };
  EXPECT_THAT(evidence(Facts("28.45.4028", "28.43.2026"), {"spark-1", "spark-2"}),
              testing::ElementsAre("firmware differs: spark-1 28.45.4028, spark-2 28.43.2026"));
  EXPECT_THAT(evidence(Facts("28.45.4028", "28.45.4028"), {"spark-1", "spark-2"}),
              testing::IsEmpty());
  EXPECT_THAT(evidence(Facts("28.45.4028", ""), {"spark-1", "spark-2"}), testing::IsEmpty());
  EXPECT_THAT(evidence(Facts("1", "2"), {"spark-1"}), testing::IsEmpty());
}

// The programs of its ends are not even copied: no node is connected to.
TEST(RunRdmaLevel, ALinkLocalRailWithoutAnAddressIsNotWrittenTo) {
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 0);
  MakeLinkLocal(sample, 1);
  sample.Link(1, 0).ipv4.clear();
  sample.Link(2, 1).ipv4.clear();
  const Fabric found = ApplyFoundAddresses(sample.fabric, sample.facts);
  FakeNetwork network({});
  NodePool pool(network.Dialer());
  Report report;
  RunRdmaLevel(report, sample.cluster, found, sample.facts, pool, {});
  std::set<std::string> reasons;
  for (const Check& check : report.checks) {
    EXPECT_EQ(check.outcome, Outcome::kSkipped);
    if (check.rail) reasons.insert(check.why);
  }
  EXPECT_THAT(reasons, testing::ElementsAre("spark-1 has no link-local address on rail0",
                                            "spark-2 has no link-local address on rail1"));
  EXPECT_THAT(report.findings, testing::IsEmpty());
}

// Rails without an address are written to by no one; they are what is left to be named.
TEST(RunRdmaLevel, ANeighbourThatIsOnlyAWarningKeepsNoRailFromBeingWrittenTo) {
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 0);
  MakeLinkLocal(sample, 1);
  for (const int rail : {0, 1}) sample.Link(1, rail).ipv4.clear();
  const Fabric found = ApplyFoundAddresses(sample.fabric, sample.facts);
  const auto reasons = [&](Outcome outcome) {
    FakeNetwork network({});
    NodePool pool(network.Dialer());
    Report report;
    report.checks = {{.level = VerifyLevel::kPing,
                      .what = "neighbour",
                      .from = "spark-1",
                      .to = "spark-2",
                      .rail = 0,
                      .outcome = outcome}};
    RunRdmaLevel(report, sample.cluster, found, sample.facts, pool, {});
    std::set<std::string> whys;
    for (const Check& check : report.checks) {
      if (check.level == VerifyLevel::kRdma && check.rail) whys.insert(check.why);
    }
    return whys;
  };
  EXPECT_THAT(reasons(Outcome::kWarn),
              testing::ElementsAre("spark-1 has no link-local address on rail0",
                                   "spark-1 has no link-local address on rail1"));
  EXPECT_THAT(reasons(Outcome::kFail),
              testing::Contains("pings between spark-1 and spark-2 did not pass on rail0"));
}

}  // namespace
}  // namespace reconciler
