#include "reconciler/verify/nccl/evidence/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/nccl/evidence/figures.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

using test::HealthyNccl;
using test::NcclWorld;
using testing::ElementsAre;
using testing::IsEmpty;

RankPath PathOfFirst(const NcclWorld& world) {
  return PathsOf(world.run, world.fabric, world.facts).at(0);
}

// Nothing on the node is read, as where it has no adapter: what NCCL prints is all there is.
RankPath Believed(const std::string& log) {
  NcclWorld world = HealthyNccl(2);
  world.facts.clear();
  world.Rank(1).log = log;
  return PathOfFirst(world);
}

TEST(NcclTransport, CountersOfBothRailsProveRdma) {
  const RankPath path = PathOfFirst(HealthyNccl(2));
  EXPECT_EQ(path.path, NcclPath::kRdma);
  EXPECT_TRUE(path.counted);
  EXPECT_NEAR(path.rails.at(0).sent, path.wanted / 2, 1e3);
  EXPECT_THAT(path.idle, IsEmpty());
  EXPECT_EQ(path.said, "NET/IB/0, NET/IB/1");
}

TEST(NcclTransport, CountersThatStandStillBeatWhatNcclSays) {
  NcclWorld world = HealthyNccl(2);
  test::StandStill(world.Rank(1));
  EXPECT_EQ(PathOfFirst(world).path, NcclPath::kSocket);
  EXPECT_EQ(PathOfFirst(world).said, "NET/IB/0, NET/IB/1");
}

TEST(NcclTransport, CountersThatGrowBeatWhatNcclSays) {
  NcclWorld world = HealthyNccl(2);
  world.Rank(1).log = "NCCL INFO Using network Socket\n";
  EXPECT_EQ(PathOfFirst(world).path, NcclPath::kRdma);
}

TEST(NcclTransport, CountersOfOneRailThatCannotBeReadProveNothing) {
  NcclWorld world = HealthyNccl(2);
  auto& counters = world.Rank(1).results.at(0).counters;
  counters.at("rocep1s0f1").at("port_xmit_data") = 0;  // all went over the other
  counters.erase("roceP2p1s0f1");
  const RankPath path = PathOfFirst(world);
  EXPECT_FALSE(path.counted);
  EXPECT_EQ(path.path, NcclPath::kRdma);  // as NCCL says
}

TEST(NcclTransport, SoftRoceCountsPackets) {
  NcclWorld world = HealthyNccl(2);
  for (auto& [hca, counters] : world.Rank(1).results.at(0).counters) {
    counters = {{"sent_pkts", counters.at("port_xmit_data") / 1024},
                {"rcvd_pkts", counters.at("port_rcv_data") / 1024}};
  }
  EXPECT_EQ(PathOfFirst(world).path, NcclPath::kRdma);
}

TEST(NcclTransport, ARailThatRestsBesideItsTwinIsIdle) {
  NcclWorld world = HealthyNccl(2);
  world.Rank(1).results.at(0).counters.at("rocep1s0f1").at("port_xmit_data") *= 2;
  test::StandStill(world.Rank(1), "roceP2p1s0f1");
  EXPECT_THAT(PathOfFirst(world).idle, ElementsAre(1));
}

TEST(NcclTransport, ACageThatRestsOnARingIsNotIdle) {
  NcclWorld world = HealthyNccl(2);
  world.cluster = test::Cluster(Topology::kRing, {test::Node(1), test::Node(2), test::Node(3)}, 6);
  world.fabric = *ExpandFabric(world.cluster);
  for (const RailPort& port : world.fabric.ports.at("spark-1"))
    world.facts["spark-1"][port.hca] = {};
  EXPECT_EQ(PathOfFirst(world).path, NcclPath::kRdma);
  EXPECT_THAT(PathOfFirst(world).idle, IsEmpty());
}

TEST(NcclTransport, SmallTestsProveNothing) {
  NcclWorld world = HealthyNccl(2);
  world.Rank(1).results.at(0).bytes = 1024;
  const RankPath path = PathOfFirst(world);
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

TEST(NcclTransport, GpuDirectIsToldAndNeitherWantedNorForbidden) {
  const RankPath path = Believed("x via NET/IB/0/GDRDMA\n");
  EXPECT_EQ(path.path, NcclPath::kRdma);
  EXPECT_EQ(path.said, "NET/IB/0/GDRDMA");
}

TEST(NcclFigures, AreTheMeanOfTheRanks) {
  NcclWorld world = HealthyNccl(2, 20);
  world.Rank(2).results.at(0).time_us *= 3;
  world.Rank(2).results.at(0).p95_us = 1e6;
  world.Rank(2).results.at(0).wrong = 4;
  const std::vector<NcclFigure> figures = FiguresOf(world.run);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_NEAR(figures[0].busbw, 10, 1e-9);
  EXPECT_EQ(figures[0].p95_us, 1e6);
  EXPECT_EQ(figures[0].wrong, 4u);
  EXPECT_THAT(figures[0].wrong_on, ElementsAre("spark-2"));
  EXPECT_EQ(figures[0].Name(), "all_reduce 1 GiB float");
}

TEST(NcclFigures, ATestThatOneRankDidNotEndIsLeftOut) {
  NcclWorld world = HealthyNccl(2);
  world.Rank(2).results.clear();
  EXPECT_THAT(FiguresOf(world.run), IsEmpty());
}

TEST(SizeText, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(SizeText(8), "8 B");
  EXPECT_EQ(SizeText(1536u << 10), "1536 KiB");
  EXPECT_EQ(SizeText(std::uint64_t{16} << 30), "16 GiB");
  EXPECT_EQ(SizeText(0), "0 B");
}

}  // namespace
}  // namespace reconciler
