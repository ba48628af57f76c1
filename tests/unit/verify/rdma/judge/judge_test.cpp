#include "reconciler/verify/rdma/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "reconciler/fabric/roofline.h"
#include "reconciler/verify/rdma/judge/roofline.h"
#include "tests/unit/verify/severities.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

constexpr spark_verify::Limits kHealthy = {
    .hardware = true, .link_mbps = 200000, .pcie_width = 4, .pcie_max_width = 16, .pcie_gts = 32};

RailWrite Rail(int rail, double gbps) {
  const std::string domain = rail == 0 ? "p1s0f1" : "P2p1s0f1";
  const RailEnd end{.hca = "roce" + domain,
                    .netdev = "en" + domain + "np1",
                    .cage = "p1",
                    .pcie = rail == 0 ? "0000:01:00" : "0002:01:00",
                    .active_mtu = 4096,
                    .limits = kHealthy};
  return {.rail = rail, .from = end, .to = end, .gbps = gbps, .bytes = 10'000'000'000};
}

// With the counters that such a transfer leaves: octets by four, and a bit of headers.
Transfer Write(std::vector<RailWrite> rails) {
  Transfer transfer{.from = "spark-1", .to = "spark-2"};
  for (const RailWrite& rail : rails) {
    transfer.from_counters[rail.from.hca]["port_xmit_data"] = 2'550'000'000;
    transfer.to_counters[rail.to.hca]["port_rcv_data"] = 2'550'000'000;
  }
  transfer.rails = std::move(rails);
  return transfer;
}

RdmaJudgement Judged(const std::vector<Transfer>& transfers) {
  RdmaJudgement judged = JudgeRdma(transfers);
  test::CheckSeverities(judged.findings);
  return judged;
}

struct Verdict {
  std::string code;
  Outcome outcome;
  std::string cause;
  std::string next_step;
};

void ExpectVerdict(const std::vector<Transfer>& transfers, const Verdict& said) {
  const RdmaJudgement judged = Judged(transfers);
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].code, said.code);
  EXPECT_EQ(judged.findings[0].outcome, said.outcome);
  EXPECT_EQ(judged.findings[0].cause, said.cause);
  EXPECT_EQ(judged.findings[0].next_step, said.next_step);
}

Transfer Failed(std::string node, std::string code, std::string text) {
  Transfer transfer = Write({Rail(0, 0)});
  transfer.failed_node = std::move(node);
  transfer.run_error = {.code = std::move(code), .hca = "rocep1s0f1", .text = std::move(text)};
  return transfer;
}

TEST(Roofline, IsWhatTheRailsInUseLeaveOfCableAndPcieLink) {
  const auto of = [](std::vector<RailWrite> rails) {
    const Transfer transfer = Write(std::move(rails));
    return *ComputeRoofline(transfer, transfer.rails.front());
  };
  EXPECT_NEAR(of({Rail(0, 0)}), 111.8, 0.1);              // one rail alone: 111.9
  EXPECT_NEAR(of({Rail(0, 0), Rail(1, 0)}), 98.0, 0.05);  // both of a cable: 196.08
  RailWrite other_cage = Rail(0, 0);
  other_cage.rail = 2;
  other_cage.from.cage = other_cage.to.cage = "p0";
  EXPECT_NEAR(of({Rail(0, 0), other_cage}), 55.9, 0.1);  // one PCIe link behind two cables
  RailWrite small = Rail(0, 0);
  small.to.active_mtu = 1024;
  small.to.limits.pcie_width = 16;
  small.from.limits.pcie_width = 16;
  EXPECT_NEAR(of({small}), 185.2, 0.05);
  RailWrite narrow = Rail(1, 0);
  narrow.to.limits.pcie_width = 2;
  EXPECT_NEAR(of({narrow}), 55.9, 0.1);
}

TEST(Roofline, IsNoMoreThanTheCablesBetweenTwoSwitchesCarry) {
  Transfer transfer = Write({Rail(0, 0), Rail(1, 0)});
  transfer.uplink_gbps = 98;
  EXPECT_NEAR(*ComputeRoofline(transfer, transfer.rails[1]), 49, 0.1);
}

TEST(Roofline, NeedsTheSpeedOfBothLinks) {
  Transfer transfer = Write({Rail(0, 0)});
  transfer.rails[0].to.limits = {};
  EXPECT_EQ(ComputeRoofline(transfer, transfer.rails[0]), std::nullopt);
}

TEST(ComputeRdmaMtu, IsWhatTheKernelMakesOfTheInterfaces) {
  for (const auto& [interface_mtu, mtu] :
       {std::pair(1500, 1024), {2200, 2048}, {4096, 2048}, {4200, 4096}, {9000, 4096}}) {
    EXPECT_EQ(ComputeRdmaMtu(interface_mtu), mtu) << interface_mtu;
  }
}

TEST(JudgeRdma, AHealthyPairHasNoFinding) {
  const RdmaJudgement judged =
      Judged({Write({Rail(0, 111.8)}), Write({Rail(1, 111.9)}), Write({Rail(0, 98), Rail(1, 98)})});
  EXPECT_TRUE(judged.findings.empty());
  ASSERT_EQ(judged.checks.size(), 4u);
  EXPECT_EQ(judged.checks[0].what, "write-alone");
  EXPECT_EQ(judged.checks[0].expected, "at least 105.1 Gb/s of 111.8 Gb/s");
  EXPECT_EQ(judged.checks[0].measured, "111.8 Gb/s");
  EXPECT_EQ(judged.checks[3].what, "write-together");
}

TEST(JudgeRdma, OfDevicesMadeOfSoftwareOnlyTheDataIsJudged) {
  RailWrite rail = Rail(0, 0.2);
  rail.from.limits = rail.to.limits = {};
  rail.latency_us = 41.26;
  Transfer transfer = Write({rail});
  // 10 GB in packets of 4096 bytes; what soft-RoCE counts.
  transfer.from_counters = {{"rocep1s0f1", {{"sent_pkts", 2441407}, {"rcvd_seq_err", 3}}}};
  transfer.to_counters = {{"rocep1s0f1", {{"rcvd_pkts", 2441407}}}};
  const RdmaJudgement judged = Judged({transfer});
  EXPECT_TRUE(judged.findings.empty());
  EXPECT_EQ(judged.checks.at(0).outcome, Outcome::kPass);
  EXPECT_EQ(judged.checks.at(0).expected, "all data acknowledged and right");
  EXPECT_EQ(judged.checks.at(0).measured, "0.2 Gb/s, 41.3 µs");
  EXPECT_THAT(judged.checks.at(0).evidence,
              testing::ElementsAre("spark-1 rocep1s0f1: rcvd_seq_err +3"));
}

TEST(JudgeRdma, AnHcaThatReportsNoSpeedIsNoPass) {
  RailWrite rail = Rail(0, 111);
  rail.to.limits.link_mbps = 0;
  ExpectVerdict({Write({rail})}, {"speed-unknown", Outcome::kCouldNotMeasure,
                                  "enp1s0f1np1 of spark-2 does not report the speed of its link, "
                                  "so the expected value is unknown",
                                  "check `ethtool enp1s0f1np1` on spark-2"});
}

TEST(JudgeRdma, AnotherHcasBytesAreAFindingWhateverTheSpeed) {
  Transfer transfer = Write({Rail(0, 111)});
  transfer.to_counters = {{"roceP2p1s0f1", {{"port_rcv_data", 2'550'000'000}}}};
  ExpectVerdict({transfer},
                {"wrong-rail", Outcome::kFail, "roceP2p1s0f1 of spark-2 carried the data of rail0",
                 "check `rdma link` on spark-2: which HCA belongs to enp1s0f1np1"});
  EXPECT_EQ(Judged({transfer}).checks.at(0).measured,
            "0.0 MB of 10000.0 MB by the counters of rocep1s0f1 on spark-2");

  Transfer both = Write({Rail(0, 98), Rail(1, 98)});
  both.from_counters = {{"roceP2p1s0f1", {{"port_xmit_data", 5'000'000'000}}}};
  ExpectVerdict({both},
                {"wrong-rail", Outcome::kFail, "roceP2p1s0f1 of spark-1 carried the data of rail0",
                 "check `rdma link` on spark-1: which HCA belongs to enp1s0f1np1"});
}

TEST(JudgeRdma, WithoutCountersNothingIsProven) {
  Transfer transfer = Write({Rail(0, 111)});
  transfer.from_counters = {};
  ExpectVerdict({transfer}, {"rail-unproven", Outcome::kCouldNotMeasure,
                             "no counter of spark-1 shows that rail0 carried the data",
                             "check /sys/class/infiniband/rocep1s0f1/ports/1/counters on spark-1"});
}

// Both rails alone and together, in one direction. mlx5 counts a function's RDMA:
// https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html
std::vector<Transfer> WriteAll(double together) {
  return {Write({Rail(0, 111)}), Write({Rail(1, 111)}),
          Write({Rail(0, together), Rail(1, together)})};
}

// As where a driver counts what the cage carried, for each function of it.
std::vector<Transfer> CountByCage(std::vector<Transfer> transfers) {
  for (Transfer& transfer : transfers) {
    const std::uint64_t words = 2'550'000'000 * transfer.rails.size();
    for (const char* hca : {"rocep1s0f1", "roceP2p1s0f1"}) {
      transfer.from_counters[hca]["port_xmit_data"] = words;
      transfer.to_counters[hca]["port_rcv_data"] = words;
    }
  }
  return transfers;
}

TEST(JudgeRdma, CountersOfACageProveItsDataAndMakeNoOneBusy) {
  const RdmaJudgement judged = Judged(CountByCage(WriteAll(98)));
  EXPECT_THAT(judged.findings, testing::IsEmpty());
  EXPECT_THAT(judged.uncounted, testing::ElementsAre("spark-1", "spark-2"));
  // 170 of 196 Gb/s together are a warning, and by no one else's use.
  const RdmaJudgement slow = Judged(CountByCage(WriteAll(87)));
  ASSERT_FALSE(slow.findings.empty());
  for (const Finding& finding : slow.findings) EXPECT_EQ(finding.code, "rdma-slow");
}

TEST(JudgeRdma, UseByOthersIsFoundByCountersOfACageToo) {
  std::vector<Transfer> transfers = CountByCage(WriteAll(87));
  for (const char* hca : {"rocep1s0f1", "roceP2p1s0f1"}) {
    transfers[2].to_counters[hca]["port_rcv_data"] *= 2;
  }
  const RdmaJudgement judged = Judged(transfers);
  ASSERT_FALSE(judged.findings.empty());
  EXPECT_EQ(judged.findings[0].code, "fabric-busy");
}

TEST(JudgeRdma, CountersThatCountNoRdmaAreAWarning) {
  std::vector<Transfer> transfers = WriteAll(98);
  for (Transfer& transfer : transfers) {
    for (auto* counters : {&transfer.from_counters, &transfer.to_counters}) {
      for (auto& [hca, growth] : *counters) {
        for (auto& [name, count] : growth) count = 0;
      }
    }
  }
  const RdmaJudgement judged = Judged(transfers);
  for (const Check& check : judged.checks) EXPECT_EQ(check.outcome, Outcome::kWarn);
  ASSERT_FALSE(judged.findings.empty());
  for (const Finding& finding : judged.findings) {
    EXPECT_EQ(finding.code, "rail-unproven");
    EXPECT_EQ(finding.outcome, Outcome::kWarn);
  }
  transfers[0].rails[0].gbps = 60;
  EXPECT_EQ(Judged(transfers).checks[0].outcome, Outcome::kFail);
}

TEST(JudgeRdma, HcasThatAreMixedUpAreAFindingAndNotCountersOfACage) {
  std::vector<Transfer> transfers = WriteAll(98);
  std::swap(transfers[0].to_counters, transfers[1].to_counters);
  const RdmaJudgement judged = Judged(transfers);
  ASSERT_EQ(judged.findings.size(), 2u);
  for (const Finding& finding : judged.findings) EXPECT_EQ(finding.code, "wrong-rail");
  EXPECT_THAT(judged.uncounted, testing::IsEmpty());
}

TEST(JudgeRdma, ASlowRailThatOthersUseIsBusy) {
  Transfer transfer = Write({Rail(0, 60)});
  transfer.to_counters["rocep1s0f1"]["port_rcv_data"] = 5'000'000'000;
  ExpectVerdict({transfer}, {"fabric-busy", Outcome::kFail,
                             "something else uses rocep1s0f1 of spark-2 at the same time",
                             "check which process that is (`rdma resource show qp` on spark-2), "
                             "and run verify again without it"});
}

TEST(JudgeRdma, NothingMeasuredIsNeverAPass) {
  for (const double gbps : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), 140.0}) {
    ExpectVerdict(
        {Write({Rail(0, gbps)})},
        {"measurement-invalid", Outcome::kCouldNotMeasure, "the figure for rail0 cannot be true",
         "run verify again while nothing else uses the fabric"});
    const auto checks = Judged({Write({Rail(0, gbps)})}).checks;
    EXPECT_TRUE(std::any_of(checks.begin(), checks.end(), [](const Check& check) {
      return check.symptom == Symptom::kInvalidFigure;
    }));
  }
}

TEST(JudgeRdma, AFigureThatCannotBeTrueIsNotCalledMeasured) {
  const RdmaJudgement judged = Judged({Write({Rail(0, 140)})});
  EXPECT_EQ(judged.checks.at(0).measured, "");
  EXPECT_EQ(judged.checks.at(0).why, "140.0 Gb/s is more than the link can carry");
  EXPECT_EQ(judged.findings.at(0).measured, judged.checks.at(0).why);
}

TEST(JudgeRdma, NarrowPcieIsNamedAlthoughItsOwnRooflineIsReached) {
  RailWrite rail = Rail(1, 55);
  rail.to.limits.pcie_width = 2;
  ExpectVerdict({Write({rail})}, {"pcie-width", Outcome::kFail,
                                  "roceP2p1s0f1 of spark-2 runs at PCIe x2 where it could x4",
                                  "update the BIOS of spark-2 (fwupdmgr update; before 2026-04 "
                                  "some wired the second function with two "
                                  "lanes), then take its power away for a minute"});
}

TEST(JudgeRdma, NarrowPcieOfAWorkstationIsItsSlots) {
  RailWrite rail = Rail(1, 55);
  rail.to.limits.pcie_width = 2;
  rail.to.hardware = "connectx5-workstation";
  ExpectVerdict(
      {Write({rail})},
      {"pcie-width", Outcome::kFail, "roceP2p1s0f1 of spark-2 runs at PCIe x2 where it could x4",
       "reseat the card of spark-2, or put it into a slot with more lanes; some slots share theirs "
       "with another one, which the BIOS sets"});
}

TEST(JudgeRdma, ADegradedNicIsKnownByItsSpeedOnAHealthyLink) {
  for (const double gbps : {8.0, 13.2, 24.0}) {
    ExpectVerdict(
        {Write({Rail(0, gbps)})},
        {"hca-degraded", Outcome::kFail,
         "a ConnectX of spark-1 or spark-2 is degraded: the link is healthy and no counter "
         "grows",
         "shut both down, take their power away for a minute, and update the firmware"});
  }
}

// Each pair of four nodes in both directions; what `slow` sends or receives has `gbps`.
std::vector<Transfer> WriteAll(const NodeName& slow, double gbps) {
  std::vector<Transfer> transfers;
  for (const char* from : {"spark-1", "spark-2", "spark-3", "spark-4"}) {
    for (const char* to : {"spark-1", "spark-2", "spark-3", "spark-4"}) {
      if (std::string_view(from) == to) continue;
      const bool is_slow = from == slow || to == slow;
      transfers.push_back(Write({Rail(0, is_slow ? gbps : 108)}));
      transfers.back().from = from;
      transfers.back().to = to;
    }
  }
  return transfers;
}

TEST(JudgeRdma, WhatAllPairsOfOneNodeHaveIsOneFindingAboutIt) {
  const RdmaJudgement judged = Judged(WriteAll("spark-3", 13.2));
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].code, "hca-degraded");
  EXPECT_THAT(judged.findings[0].nodes, ElementsAre("spark-3"));
  EXPECT_EQ(judged.findings[0].explains, 6u);
  EXPECT_EQ(judged.findings[0].cause,
            "the ConnectX of spark-3 is degraded: its links are healthy, no counter grows, and the "
            "nodes without it are fast");
  EXPECT_EQ(judged.findings[0].next_step,
            "shut spark-3 down, take its power away for a minute, and update the firmware");
}

TEST(JudgeRdma, EachFaultOfOneNodeHasItsText) {
  std::vector<std::string> texts;
  for (const double gbps : {4.0, 60.0}) {
    const RdmaJudgement judged = Judged(WriteAll("spark-2", gbps));
    ASSERT_EQ(judged.findings.size(), 1u);
    texts.push_back(judged.findings[0].code + ": " + judged.findings[0].cause + "; " +
                    judged.findings[0].next_step);
  }
  std::vector<Transfer> lossy = WriteAll("", 0);
  for (Transfer& transfer : lossy) {
    if (transfer.to == "spark-2") transfer.to_counters["rocep1s0f1"]["out_of_sequence"] = 82;
  }
  const RdmaJudgement judged = Judged(lossy);
  ASSERT_EQ(judged.findings.size(), 1u);
  texts.push_back(judged.findings[0].code + ": " + judged.findings[0].cause + "; " +
                  judged.findings[0].next_step);
  EXPECT_THAT(
      texts,
      ElementsAre(
          "detour: what spark-2 sends or receives takes a detour, and nothing else does: this is "
          "what a CPU forwards; check for a bridge over the fabric's interfaces of spark-2 (bridge "
          "link), and its port of the switch: blocked (STP), or a split cage that must be reset",
          "rdma-slow: the rails of spark-2 are slower than their links, and those between the "
          "others not; check load, temperature and PCIe of spark-2, and run verify again",
          "packet-loss: packets are lost between spark-2 and its peers, and not between the "
          "others; reseat or change the cable of spark-2; on a switch check the drops of its "
          "port, and turn on flow control or ECN"));
}

TEST(JudgeRdma, WhatAllPairsHaveIsNoFaultOfOneNode) {
  std::vector<Transfer> transfers = WriteAll("", 0);
  for (Transfer& transfer : transfers) transfer.rails[0].gbps = 13.2;
  EXPECT_EQ(Judged(transfers).findings.size(), 6u);
}

TEST(JudgeRdma, ASlowLinkIsNoDetourWhenItIsAsSlowAsThat) {
  Transfer transfer = Write({Rail(0, 5.0)});
  for (RailEnd* end : {&transfer.rails[0].from, &transfer.rails[0].to}) {
    end->limits.link_mbps = 10'000;
  }
  EXPECT_EQ(Judged({transfer}).findings.at(0).code, "rdma-slow");
}

// Two switches with a cable of 10 Gb/s between them.
TEST(JudgeRdma, ASlowUplinkIsNeitherADegradedNicNorADetour) {
  for (const double gbps : {8.0, 4.0}) {
    Transfer transfer = Write({Rail(0, gbps)});
    transfer.uplink_gbps = 9.8;
    EXPECT_EQ(Judged({transfer}).findings.at(0).code, "rdma-slow") << gbps;
  }
  Transfer fast = Write({Rail(0, 13.2)});
  fast.uplink_gbps = 98;
  EXPECT_EQ(Judged({fast}).findings.at(0).code, "hca-degraded");
}

TEST(JudgeRdma, WhatACpuForwardsIsADetour) {
  ExpectVerdict({Write({Rail(0, 4.7)})},
                {"detour", Outcome::kFail, "rail0 takes a detour: this is what a CPU forwards",
                 "check for a bridge over the fabric's interfaces (bridge link) and for a port "
                 "that a switch blocks (STP); where a cage of the switch is split, reset its "
                 "port"});
}

TEST(JudgeRdma, WhatACpuForwardsIsADetourAlsoWhereItDropsPackets) {
  Transfer transfer = Write({Rail(0, 4.7)});
  transfer.from_counters["rocep1s0f1"]["packet_seq_err"] = 5500;
  ExpectVerdict({transfer},
                {"detour", Outcome::kFail, "rail0 takes a detour: this is what a CPU forwards",
                 "check for a bridge over the fabric's interfaces (bridge link) and for a port "
                 "that a switch blocks (STP); where a cage of the switch is split, reset its "
                 "port"});
  EXPECT_THAT(Judged({transfer}).findings.at(0).evidence,
              testing::ElementsAre("spark-1 rocep1s0f1: packet_seq_err +5500"));
}

TEST(JudgeRdma, ASmallMtuIsNamedByTheEndThatHasIt) {
  RailWrite rail = Rail(0, 104);
  rail.to.active_mtu = 1024;
  ExpectVerdict(
      {Write({rail})},
      {"mtu-wrong", Outcome::kFail,
       "rocep1s0f1 of spark-2 has an RDMA MTU of 1024, for its interface's MTU is too small",
       "apply the manifest, which sets the MTU of enp1s0f1np1 on spark-2"});
}

TEST(JudgeRdma, LostPacketsAreAFindingEvenAtFullSpeed) {
  Transfer transfer = Write({Rail(0, 111)});
  transfer.to_counters["rocep1s0f1"]["out_of_sequence"] = 82;
  transfer.to_counters["rocep1s0f1"]["rx_write_requests"] = 5000;
  ExpectVerdict(
      {transfer},
      {"packet-loss", Outcome::kFail, "packets are lost on rail0 between spark-1 and spark-2",
       "reseat or change the cable; on a switch check drops, and turn on flow control or ECN"});
  EXPECT_THAT(Judged({transfer}).findings.at(0).evidence,
              testing::ElementsAre("spark-2 rocep1s0f1: out_of_sequence +82"));
}

TEST(JudgeRdma, MarksOfASwitchExplainASlowRailAndNoOther) {
  Transfer transfer = Write({Rail(0, 13)});
  transfer.from_counters["rocep1s0f1"]["rp_cnp_handled"] = 700;
  ExpectVerdict({transfer}, {"congestion", Outcome::kFail,
                             "a switch marks packets on rail0, so that spark-1 sends slower",
                             "check what else passes that switch, and its ECN thresholds"});
  EXPECT_THAT(Judged({transfer}).findings.at(0).evidence,
              testing::ElementsAre("spark-1 rocep1s0f1: rp_cnp_handled +700"));
  transfer.rails[0].gbps = 111;
  EXPECT_TRUE(Judged({transfer}).findings.empty());
}

TEST(JudgeRdma, ARailThatIsIdleBesideTheOtherIsNamed) {
  ExpectVerdict(
      {Write({Rail(0, 111)}), Write({Rail(1, 111)}), Write({Rail(0, 97), Rail(1, 2)})},
      {"one-rail", Outcome::kFail,
       "rail1 carries nothing while the other rail is in use, and full speed alone",
       "check routes and ARP (arp_ignore, arp_announce): both rails must not share a subnet"});
}

// Published of healthy pairs: twins divide their cable unevenly, and NVIDIA's guide has 92.57
// and 97.28 at MTU 1500.
TEST(JudgeRdma, UnequalTwinsThatFillTheirCableAreHealthy) {
  const std::vector<Transfer> alone = {Write({Rail(0, 111)}), Write({Rail(1, 109)})};
  const auto judge = [&](std::vector<RailWrite> rails) {
    std::vector<Transfer> transfers = alone;
    transfers.push_back(Write(std::move(rails)));
    return Judged(transfers);
  };
  EXPECT_TRUE(judge({Rail(0, 108), Rail(1, 88)}).findings.empty());
  EXPECT_TRUE(judge({Rail(0, 80), Rail(1, 107)}).findings.empty());
  std::vector<RailWrite> small = {Rail(0, 92.57), Rail(1, 97.28)};
  for (RailWrite& rail : small) {
    rail.wanted_mtu = rail.from.active_mtu = rail.to.active_mtu = 1024;
  }
  EXPECT_TRUE(judge(small).findings.empty());
}

TEST(JudgeRdma, TwinsThatCarryMoreThanTheirCableAreMeasuredWrongly) {
  const RdmaJudgement judged = Judged({Write({Rail(0, 108), Rail(1, 100)})});
  EXPECT_FALSE(judged.findings.empty());
  for (const Finding& finding : judged.findings) EXPECT_EQ(finding.code, "measurement-invalid");
}

TEST(JudgeRdma, BetweenPassAndFailIsAWarning) {
  const auto outcomes = [](std::vector<RailWrite> rails) {
    std::vector<Outcome> all;
    for (const Check& check : Judged({Write(std::move(rails))}).checks) {
      all.push_back(check.outcome);
    }
    return all;
  };
  using testing::Each;
  EXPECT_THAT(outcomes({Rail(0, 106)}), Each(Outcome::kPass));
  EXPECT_THAT(outcomes({Rail(0, 104)}), Each(Outcome::kWarn));
  EXPECT_THAT(outcomes({Rail(0, 90)}), Each(Outcome::kWarn));
  EXPECT_THAT(outcomes({Rail(0, 89)}), Each(Outcome::kFail));
  EXPECT_THAT(outcomes({Rail(0, 93), Rail(1, 93)}), Each(Outcome::kPass));
  EXPECT_THAT(outcomes({Rail(0, 91), Rail(1, 85)}), Each(Outcome::kWarn));
  EXPECT_THAT(outcomes({Rail(0, 84), Rail(1, 84)}), Each(Outcome::kFail));
  ExpectVerdict(
      {Write({Rail(0, 104)})},
      {"rdma-slow", Outcome::kWarn, "rail0 is slower than its link, and no measurement explains it",
       "run verify again while nothing else uses the fabric or the processors"});
}

TEST(JudgeRdma, OneSlowDirectionIsAnAsymmetry) {
  Transfer back = Write({Rail(0, 111)});
  std::swap(back.from, back.to);
  ExpectVerdict(
      {Write({Rail(0, 60)}), back},
      {"asymmetry", Outcome::kFail, "rail0 is slow from spark-1 to spark-2 only",
       "check load and flow control of spark-1, which sends, and of spark-2, which receives"});
}

TEST(JudgeRdma, RailsThatAreSlowTogetherInBothDirectionsAreNoAsymmetry) {
  std::vector<Transfer> transfers;
  for (const auto& rails :
       {std::vector{Rail(0, 111)}, {Rail(1, 111)}, {Rail(0, 60), Rail(1, 60)}}) {
    transfers.push_back(Write(rails));
    transfers.push_back(Write(rails));
    std::swap(transfers.back().from, transfers.back().to);
  }
  const RdmaJudgement judged = Judged(transfers);
  ASSERT_FALSE(judged.findings.empty());
  for (const Finding& finding : judged.findings) EXPECT_EQ(finding.code, "rdma-slow");
}

TEST(JudgeRdma, SlowWithoutASignSaysSo) {
  ExpectVerdict(
      {Write({Rail(0, 80)})},
      {"rdma-slow", Outcome::kFail, "rail0 is slower than its link, and no measurement explains it",
       "run verify again while nothing else uses the fabric or the processors"});
}

TEST(JudgeRdma, AMissingLibraryIsNoFaultOfTheFabric) {
  ExpectVerdict({Failed("spark-2", "no-libibverbs", "wanted libibverbs.so.1, the loader says: x")},
                {"no-libibverbs", Outcome::kCouldNotMeasure, "spark-2 has no usable libibverbs",
                 "install rdma-core on spark-2 (apt install rdma-core)"});
}

TEST(JudgeRdma, AMissingGidIsNamedWithItsInterface) {
  ExpectVerdict(
      {Failed("spark-2", "open", "wanted a RoCE v2 GID for 192.168.177.2 on rocep1s0f1, found x")},
      {"gid-missing", Outcome::kFail, "rocep1s0f1 of spark-2 has no RoCE v2 GID for its address",
       "check `ip addr show enp1s0f1np1` on spark-2; the kernel makes the GID from the address"});
}

TEST(JudgeRdma, ARailThatBreaksIsNamed) {
  ExpectVerdict(
      {Failed("spark-1", "transfer",
              "wanted writes of rocep1s0f1 acknowledged by 192.168.177.2, found 'transport "
              "retry counter exceeded'")},
      {"no-acknowledgement", Outcome::kFail,
       "what spark-1 writes on rocep1s0f1 is not acknowledged: the rail broke, or loses "
       "everything",
       "check `ip link show enp1s0f1np1` on both ends, the cable and a switch's MTU and VLAN"});
}

TEST(JudgeRdma, DataThatArrivesDamagedIsNamedWithItsHca) {
  ExpectVerdict(
      {Failed("spark-2", "transfer",
              "wanted the pattern at byte 4096 of rocep1s0f1, found another byte")},
      {"data-damaged", Outcome::kFail, "data that arrived at spark-2 on rocep1s0f1 was wrong",
       "take rocep1s0f1 of spark-2 out of use, and check cable, firmware and memory"});
}

TEST(JudgeRdma, ARailThatBreaksBesideAnotherIsTheOnlyOneToBlame) {
  Transfer transfer = Write({Rail(0, 0), Rail(1, 0)});
  transfer.failed_node = "spark-1";
  transfer.run_error = {.code = "transfer",
                        .hca = "roceP2p1s0f1",
                        .text =
                            "wanted writes of roceP2p1s0f1 acknowledged by 192.168.178.2, found "
                            "'transport retry counter exceeded'"};
  const RdmaJudgement judged = Judged({transfer});
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].code, "no-acknowledgement");
  EXPECT_EQ(judged.findings[0].outcome, Outcome::kFail);
  EXPECT_EQ(judged.findings[0].rails, std::set<int>{1});
  EXPECT_EQ(judged.findings[0].explains, 2u);
  EXPECT_EQ(judged.checks.at(0).outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(judged.checks.at(1).outcome, Outcome::kFail);
}

TEST(JudgeRdma, TheSameCauseInBothDirectionsIsOneFinding) {
  Transfer back = Failed("spark-2", "open", "wanted the RDMA device rocep1s0f1, found none");
  std::swap(back.from, back.to);
  const RdmaJudgement judged =
      Judged({Failed("spark-2", "open", "wanted the RDMA device rocep1s0f1, found none"), back});
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_EQ(judged.findings[0].explains, 2u);
  EXPECT_EQ(judged.findings[0].code, "hca-missing");
}

TEST(JudgeRdma, WhatWasSkippedIsNoFinding) {
  Transfer transfer = Write({Rail(0, 0)});
  transfer.skipped = "pings between them fail on rail0";
  const RdmaJudgement judged = Judged({transfer});
  EXPECT_TRUE(judged.findings.empty());
  EXPECT_EQ(judged.checks.at(0).outcome, Outcome::kSkipped);
}

}  // namespace
}  // namespace reconciler
