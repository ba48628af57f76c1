#include "reconciler/verify/rdma_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reconciler/fabric/roofline.h"
#include "reconciler/verify/roofline.h"

namespace reconciler {
namespace {

constexpr spark_verify::Limits kHealthy = {
    .link_mbps = 200000, .pcie_width = 4, .pcie_max_width = 16, .pcie_gts = 32};

RailWrite Rail(int rail, double gbps) {
  const std::string domain = rail == 0 ? "p1s0f1" : "P2p1s0f1";
  return {.rail = rail,
          .from_hca = "roce" + domain,
          .to_hca = "roce" + domain,
          .from_netdev = "en" + domain + "np1",
          .to_netdev = "en" + domain + "np1",
          .from_mtu = 4096,
          .to_mtu = 4096,
          .from_limits = kHealthy,
          .to_limits = kHealthy,
          .gbps = gbps};
}

Transfer Write(std::vector<RailWrite> rails) {
  return {.from = "spark-1", .to = "spark-2", .rails = std::move(rails)};
}

struct Said {
  std::string code;
  Outcome outcome;
  std::string cause;
  std::string next_step;
};

void ExpectOne(const std::vector<Transfer>& transfers, const Said& said) {
  const RdmaJudgement judged = JudgeRdma(transfers);
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].code, said.code);
  EXPECT_EQ(judged.findings[0].outcome, said.outcome);
  EXPECT_EQ(judged.findings[0].cause, said.cause);
  EXPECT_EQ(judged.findings[0].next_step, said.next_step);
}

Transfer Failed(std::string node, std::string code, std::string text) {
  Transfer transfer = Write({Rail(0, 0)});
  transfer.trouble_node = std::move(node);
  transfer.trouble = {.code = std::move(code), .hca = "rocep1s0f1", .text = std::move(text)};
  return transfer;
}

TEST(Roofline, ReproducesWhatSparksWereMeasuredAt) {
  EXPECT_NEAR(LinkGbps(200, 4096), 196.1, 0.05);  // both rails of a cable: 196.08
  EXPECT_NEAR(LinkGbps(200, 1024), 185.2, 0.05);
  EXPECT_NEAR(PcieGbps(4, 32), 114.4, 0.1);  // one rail alone: 111.9
  EXPECT_NEAR(*Roofline(kHealthy, kHealthy, 4096, 1), 114.4, 0.1);
  EXPECT_NEAR(*Roofline(kHealthy, kHealthy, 4096, 2), 98.0, 0.05);
  EXPECT_EQ(Roofline(kHealthy, {}, 4096, 1), std::nullopt);
}

TEST(RdmaMtu, IsWhatTheKernelMakesOfTheInterfaces) {
  for (const auto& [interface_mtu, mtu] :
       {std::pair(1500, 1024), {2200, 2048}, {4096, 2048}, {4200, 4096}, {9000, 4096}}) {
    EXPECT_EQ(RdmaMtu(interface_mtu), mtu) << interface_mtu;
  }
}

TEST(JudgeRdma, AHealthyPairHasNoFinding) {
  const RdmaJudgement judged = JudgeRdma(
      {Write({Rail(0, 111.8)}), Write({Rail(1, 111.9)}), Write({Rail(0, 98), Rail(1, 98)})});
  EXPECT_TRUE(judged.findings.empty());
  ASSERT_EQ(judged.checks.size(), 4u);
  EXPECT_EQ(judged.checks[0].what, "write-alone");
  EXPECT_EQ(judged.checks[0].expected, "at least 103.0 Gb/s of 114.4 Gb/s");
  EXPECT_EQ(judged.checks[0].measured, "111.8 Gb/s");
  EXPECT_EQ(judged.checks[3].what, "write-together");
}

TEST(JudgeRdma, WithoutASpeedOfTheLinkOnlyTheDataIsJudged) {
  RailWrite rail = Rail(0, 0.2);
  rail.from_limits = rail.to_limits = {};
  const RdmaJudgement judged = JudgeRdma({Write({rail})});
  EXPECT_TRUE(judged.findings.empty());
  EXPECT_EQ(judged.checks.at(0).expected, "all data acknowledged and right");
  EXPECT_EQ(judged.checks.at(0).measured, "0.2 Gb/s");
}

TEST(JudgeRdma, NothingMeasuredIsNeverAPass) {
  for (const double gbps : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), 140.0}) {
    ExpectOne({Write({Rail(0, gbps)})}, {"measurement-invalid", Outcome::kCouldNotMeasure,
                                         "the figure for rail0 cannot be true",
                                         "run verify again while nothing else uses the fabric"});
  }
}

TEST(JudgeRdma, NarrowPcieIsNamedAlthoughItsOwnRooflineIsReached) {
  RailWrite rail = Rail(1, 55);
  rail.to_limits.pcie_width = 2;
  ExpectOne(
      {Write({rail})},
      {"pcie-width", Outcome::kFail, "roceP2p1s0f1 of spark-2 runs at PCIe x2 where it could x4",
       "update the BIOS of spark-2 (before 2026-04 some wired the second function with two "
       "lanes), then take its power away for a minute"});
}

TEST(JudgeRdma, ADegradedNicIsKnownByItsSpeedOnAHealthyLink) {
  for (const double gbps : {8.0, 13.2, 24.0}) {
    ExpectOne({Write({Rail(0, gbps)})},
              {"nic-degraded", Outcome::kFail,
               "a ConnectX of spark-1 or spark-2 is degraded: the link is healthy and no counter "
               "grows",
               "shut both down, take their power away for a minute, and update the firmware"});
  }
}

TEST(JudgeRdma, WhatACpuForwardsIsADetour) {
  ExpectOne({Write({Rail(0, 4.7)})},
            {"detour", Outcome::kFail, "rail0 takes a detour: this is what a CPU forwards",
             "look for a bridge over the fabric's interfaces (bridge link) and for a port that a "
             "switch blocks (STP)"});
}

TEST(JudgeRdma, ASmallMtuIsNamedByTheEndThatHasIt) {
  RailWrite rail = Rail(0, 104);
  rail.to_mtu = 1024;
  ExpectOne({Write({rail})},
            {"rdma-mtu", Outcome::kFail,
             "rocep1s0f1 of spark-2 has an RDMA MTU of 1024, for its interface's MTU is too small",
             "apply the manifest, which sets the MTU of enp1s0f1np1 on spark-2"});
}

TEST(JudgeRdma, LostPacketsAreAFindingEvenAtFullSpeed) {
  Transfer transfer = Write({Rail(0, 111)});
  transfer.to_counters = {{"rocep1s0f1", {{"out_of_sequence", 82}, {"rx_write_requests", 5000}}}};
  ExpectOne(
      {transfer},
      {"packets-lost", Outcome::kFail, "packets are lost on rail0 between spark-1 and spark-2",
       "reseat or change the cable; on a switch look at drops, and turn on flow control or "
       "ECN"});
  EXPECT_THAT(JudgeRdma({transfer}).findings.at(0).evidence,
              testing::ElementsAre("spark-2 rocep1s0f1: out_of_sequence +82"));
}

TEST(JudgeRdma, ARailThatIsIdleBesideTheOtherIsNamed) {
  ExpectOne({Write({Rail(0, 111)}), Write({Rail(1, 111)}), Write({Rail(0, 97), Rail(1, 2)})},
            {"one-rail", Outcome::kFail,
             "rail1 carries nothing while the other rail is at work, and all its speed alone",
             "look at routes and ARP (arp_ignore, arp_announce): both rails must not share a "
             "subnet"});
}

TEST(JudgeRdma, OneSlowDirectionIsAnAsymmetry) {
  Transfer back = Write({Rail(0, 111)});
  std::swap(back.from, back.to);
  ExpectOne({Write({Rail(0, 60)}), back},
            {"asymmetry", Outcome::kFail, "rail0 is slow from spark-1 to spark-2 only",
             "look at load and flow control of spark-1, which sends, and of spark-2, which "
             "receives"});
}

TEST(JudgeRdma, SlowWithoutASignSaysSo) {
  ExpectOne(
      {Write({Rail(0, 80)})},
      {"rdma-slow", Outcome::kFail, "rail0 is slower than its link, and nothing measured says why",
       "run verify again while nothing else uses the fabric or the processors"});
}

TEST(JudgeRdma, AMissingLibraryIsNoFaultOfTheFabric) {
  ExpectOne({Failed("spark-2", "no-libibverbs", "wanted libibverbs.so.1, the loader says: x")},
            {"no-libibverbs", Outcome::kCouldNotMeasure, "spark-2 has no usable libibverbs",
             "install rdma-core on spark-2 (apt install rdma-core)"});
}

TEST(JudgeRdma, AMissingGidIsNamedWithItsInterface) {
  ExpectOne(
      {Failed("spark-2", "open", "wanted a RoCE v2 GID for 192.168.177.2 on rocep1s0f1, found x")},
      {"gid-missing", Outcome::kFail, "rocep1s0f1 of spark-2 has no RoCE v2 GID for its address",
       "look at `ip addr show enp1s0f1np1` on spark-2; the kernel makes the GID from the address"});
}

TEST(JudgeRdma, ARailThatBreaksIsNamed) {
  ExpectOne({Failed("spark-1", "transfer",
                    "wanted writes of rocep1s0f1 acknowledged by 192.168.177.2, found 'transport "
                    "retry counter exceeded'")},
            {"no-acknowledgement", Outcome::kFail,
             "what spark-1 writes on rocep1s0f1 is not acknowledged: the rail broke, or loses "
             "everything",
             "look at `ip link show enp1s0f1np1` on both ends, at the cable, and at a switch's MTU "
             "and VLAN"});
}

TEST(JudgeRdma, TheSameCauseInBothDirectionsIsOneFinding) {
  Transfer back = Failed("spark-2", "open", "wanted the RDMA device rocep1s0f1, found none");
  std::swap(back.from, back.to);
  const RdmaJudgement judged =
      JudgeRdma({Failed("spark-2", "open", "wanted the RDMA device rocep1s0f1, found none"), back});
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].explains, 2u);
  EXPECT_EQ(judged.findings[0].code, "no-hca");
}

TEST(JudgeRdma, WhatWasSkippedIsNoFinding) {
  Transfer transfer = Write({Rail(0, 0)});
  transfer.skipped = "pings between them fail on rail0";
  const RdmaJudgement judged = JudgeRdma({transfer});
  EXPECT_TRUE(judged.findings.empty());
  EXPECT_EQ(judged.checks.at(0).outcome, Outcome::kSkipped);
}

}  // namespace
}  // namespace reconciler
