#include "reconciler/verify/nccl/evidence/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/nccl/evidence/figures.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

using test::HealthyNccl;
using test::NcclScenario;
using testing::ElementsAre;
using testing::IsEmpty;

RankPath FindFirstPath(const NcclScenario& scenario) {
  return ListPaths(scenario.run, scenario.fabric, scenario.facts).at(0);
}

// Nothing on the node is read, as where it has no HCA: what NCCL prints is all there is.
RankPath Believed(const std::string& log) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.facts.clear();
  scenario.Rank(1).log = log;
  return FindFirstPath(scenario);
}

TEST(NcclTransport, CountersOfBothRailsProveRdma) {
  const RankPath path = FindFirstPath(HealthyNccl(2));
  EXPECT_EQ(path.path, NcclPath::kRdma);
  EXPECT_TRUE(path.counted);
  EXPECT_NEAR(path.rails.at(0).sent, path.wanted / 2, 1e3);
  EXPECT_THAT(path.idle, IsEmpty());
  EXPECT_EQ(path.said, "NET/IB/0, NET/IB/1");
}

TEST(NcclTransport, CountersThatStandStillBeatWhatNcclSays) {
  NcclScenario scenario = HealthyNccl(2);
  test::StandStill(scenario.Rank(1));
  EXPECT_EQ(FindFirstPath(scenario).path, NcclPath::kSocket);
  EXPECT_EQ(FindFirstPath(scenario).said, "NET/IB/0, NET/IB/1");
}

// The writes before have shown that they do not count RDMA, HCA by HCA.
TEST(NcclTransport, CountersThatDidNotCountTheWritesProveNothing) {
  NcclScenario scenario = HealthyNccl(2);
  test::StandStill(scenario.Rank(1));
  const RankPath path = ListPaths(scenario.run, scenario.fabric, scenario.facts, {"spark-1"}).at(0);
  EXPECT_EQ(path.path, NcclPath::kRdma);
  EXPECT_FALSE(path.counted);
  EXPECT_THAT(path.idle, IsEmpty());
  scenario.Rank(1).log = "NCCL INFO Using network Socket\n";
  EXPECT_EQ(ListPaths(scenario.run, scenario.fabric, scenario.facts, {"spark-1"}).at(0).path,
            NcclPath::kSocket);
}

TEST(NcclTransport, CountersThatGrowBeatWhatNcclSays) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.Rank(1).log = "NCCL INFO Using network Socket\n";
  EXPECT_EQ(FindFirstPath(scenario).path, NcclPath::kRdma);
}

TEST(NcclTransport, CountersOfOneRailThatCannotBeReadProveNothing) {
  NcclScenario scenario = HealthyNccl(2);
  auto& counters = scenario.Rank(1).results.at(0).counters;
  counters.at("rocep1s0f1").at("port_xmit_data") = 0;  // all went over the other
  counters.erase("roceP2p1s0f1");
  const RankPath path = FindFirstPath(scenario);
  EXPECT_FALSE(path.counted);
  EXPECT_EQ(path.path, NcclPath::kRdma);  // as NCCL says
}

TEST(NcclTransport, SoftRoceCountsPackets) {
  NcclScenario scenario = HealthyNccl(2);
  for (auto& [hca, counters] : scenario.Rank(1).results.at(0).counters) {
    counters = {{"sent_pkts", counters.at("port_xmit_data") / 1024},
                {"rcvd_pkts", counters.at("port_rcv_data") / 1024}};
  }
  EXPECT_EQ(FindFirstPath(scenario).path, NcclPath::kRdma);
}

TEST(NcclTransport, ARailThatRestsBesideItsTwinIsIdle) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.Rank(1).results.at(0).counters.at("rocep1s0f1").at("port_xmit_data") *= 2;
  test::StandStill(scenario.Rank(1), "roceP2p1s0f1");
  EXPECT_THAT(FindFirstPath(scenario).idle, ElementsAre(1));
}

TEST(NcclTransport, ACageThatRestsOnARingIsNotIdle) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.cluster =
      test::Cluster(Topology::kRing, {test::Node(1), test::Node(2), test::Node(3)}, 6);
  scenario.fabric = *ExpandFabric(scenario.cluster);
  for (const RailPort& port : scenario.fabric.ports.at("spark-1"))
    scenario.facts["spark-1"][port.hca] = {};
  EXPECT_EQ(FindFirstPath(scenario).path, NcclPath::kRdma);
  EXPECT_THAT(FindFirstPath(scenario).idle, IsEmpty());
}

TEST(NcclTransport, SmallTestsProveNothing) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.Rank(1).results.at(0).bytes = 1024;
  const RankPath path = FindFirstPath(scenario);
  EXPECT_FALSE(path.counted);
  EXPECT_EQ(path.path, NcclPath::kRdma);  // as NCCL says
}

TEST(NcclTransport, WithoutCountersNcclIsBelieved) {
  EXPECT_EQ(Believed(test::HealthyLog()).path, NcclPath::kRdma);
  EXPECT_THAT(Believed(test::HealthyLog()).idle, IsEmpty());
  EXPECT_EQ(Believed("x via NET/IB/0\nx via NET/Socket/0\n").path, NcclPath::kSocket);
  EXPECT_EQ(Believed("NCCL INFO Using network Socket\n").path, NcclPath::kSocket);
  EXPECT_EQ(Believed("NCCL INFO Using network AWS\n").path, NcclPath::kOther);
  EXPECT_EQ(Believed("").path, NcclPath::kUnknown);
}

TEST(NcclTransport, ADeviceWithoutChannelsIsIdle) {
  std::string log = test::HealthyLog();
  log.replace(log.find("NET/IB/1"), 8, "NET/IB/0");
  EXPECT_THAT(Believed(log).idle, ElementsAre(1));
}

TEST(NcclTransport, GpuDirectIsReportedAndNeitherWantedNorForbidden) {
  const RankPath path = Believed("x via NET/IB/0/GDRDMA\n");
  EXPECT_EQ(path.path, NcclPath::kRdma);
  EXPECT_EQ(path.said, "NET/IB/0/GDRDMA");
}

TEST(NcclFigures, AreTheMeanOfTheRanks) {
  NcclScenario scenario = HealthyNccl(2, 20);
  scenario.Rank(2).results.at(0).time_us *= 3;
  scenario.Rank(2).results.at(0).p95_us = 1e6;
  scenario.Rank(2).results.at(0).wrong = 4;
  const std::vector<NcclFigure> figures = ListFigures(scenario.run);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_NEAR(figures[0].busbw, 10, 1e-9);
  EXPECT_EQ(figures[0].p95_us, 1e6);
  EXPECT_EQ(figures[0].wrong, 4u);
  EXPECT_THAT(figures[0].wrong_on, ElementsAre("spark-2"));
  EXPECT_EQ(figures[0].Name(), "all_reduce 1 GiB float");
}

TEST(NcclFigures, ATestThatOneRankDidNotEndIsLeftOut) {
  NcclScenario scenario = HealthyNccl(2);
  scenario.Rank(2).results.clear();
  EXPECT_THAT(ListFigures(scenario.run), IsEmpty());
}

TEST(FormatSize, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(FormatSize(8), "8 B");
  EXPECT_EQ(FormatSize(1536u << 10), "1536 KiB");
  EXPECT_EQ(FormatSize(std::uint64_t{16} << 30), "16 GiB");
  EXPECT_EQ(FormatSize(0), "0 B");
}

}  // namespace
}  // namespace reconciler
