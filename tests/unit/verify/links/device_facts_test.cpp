#include "reconciler/verify/links/device_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/found/found_addresses.h"
#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A pair of Sparks whose devices are as they should be.
Sample Pair() {
  Sample sample = OnSwitch(2);
  for (auto& [node, ports] : sample.fabric.ports) {
    NodeFacts& facts = sample.facts.nodes.at(node);
    facts.rdma.hcas = 2;
    for (RailPort& port : ports) {
      const bool second = port.rail == 1;
      port.hca = second ? "roceP2p1s0f1" : "rocep1s0f1";
      facts.hcas[port.hca] = {
          .netdev = port.netdev,
          .state = "ACTIVE",
          .physical_state = "LinkUp",
          .rate_mbps = 200000,
          .device = {second ? "0002:01:00.1" : "0000:01:00.1", 32000, 4, 32000, 16},
          .upstream = {second ? "0002:00:00.0" : "0000:00:00.0", 32000, 4, 32000, 4},
          .gids = {{0, "fe80:0000:0000:0000:0000:0000:0000:0001", "IB/RoCE v1", port.netdev},
                   {2, MakeMappedGid(port.address.address), "IB/RoCE v1", port.netdev},
                   {3, MakeMappedGid(port.address.address), "RoCE v2", port.netdev}}};
    }
  }
  return sample;
}

HcaFact& Second(Sample& sample) { return sample.facts.nodes.at("spark-2").hcas.at("roceP2p1s0f1"); }

std::vector<Check> Checks(const Sample& sample, VerifyLevel up_to = VerifyLevel::kRdma) {
  return CheckFacts(sample.cluster, sample.fabric, sample.facts, up_to);
}

// "node rail what outcome: measured or why" of what did not pass.
std::vector<std::string> DeviceOddities(const Sample& sample,
                                        VerifyLevel up_to = VerifyLevel::kRdma) {
  std::vector<std::string> texts;
  for (const Check& check : Checks(sample, up_to)) {
    if (check.outcome == Outcome::kPass) continue;
    texts.push_back(fmt::format(
        "{}{} {} {}: {}", check.from, check.rail ? " " + FormatRailName(*check.rail) : "",
        check.what, ToString(check.outcome), check.why.empty() ? check.measured : check.why));
  }
  return texts;
}

void ExpectFinding(const Sample& sample, const std::string& brief, const std::string& cause,
                   const std::string& next_step) {
  const auto findings = ListFindings(sample, Checks(sample));
  EXPECT_THAT(Brief(findings), ElementsAre(brief));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, cause);
  EXPECT_EQ(findings[0].next_step, next_step);
}

TEST(CheckDevices, HealthyDevicesPassAndSayWhatTheyAre) {
  const Sample sample = Pair();
  EXPECT_THAT(DeviceOddities(sample), IsEmpty());
  std::vector<std::string> texts;
  for (const Check& check : Checks(sample)) {
    if (check.from == "spark-2" && check.rail == 1 && check.what != "speed") {
      texts.push_back(check.expected + " | " + check.measured);
    }
  }
  ASSERT_EQ(texts.size(), 9u);
  EXPECT_THAT(
      std::vector(texts.begin() + 5, texts.end()),
      ElementsAre("roceP2p1s0f1 on enP2p1s0f1np1 | roceP2p1s0f1", "ACTIVE, LinkUp | ACTIVE, LinkUp",
                  "one RoCE v2 of 192.168.178.2 | index 3", "32 GT/s x4 | 32 GT/s x4"));
}

TEST(CheckDevices, LinksAloneRequireNothingOfANodeWithoutDevices) {
  Sample sample = Pair();
  sample.facts.nodes.at("spark-2").hcas.clear();
  EXPECT_THAT(DeviceOddities(sample, VerifyLevel::kSsh), IsEmpty());
  EXPECT_EQ(Checks(sample, VerifyLevel::kSsh).size() + 8, Checks(sample).size());
}

TEST(CheckDevices, WhatSysfsDidNotReportCouldNotBeMeasured) {
  Sample sample = Pair();
  sample.facts.nodes.at("spark-1").rdma.hcas = Unknown{"sysfs gave no answer in 5 s"};
  for (const std::string& oddity : DeviceOddities(sample)) {
    EXPECT_THAT(oddity, testing::EndsWith("could-not-measure: sysfs gave no answer in 5 s"));
  }
  EXPECT_EQ(DeviceOddities(sample).size(), 8u);
  EXPECT_THAT(DeviceOddities(sample, VerifyLevel::kSsh), IsEmpty());
}

TEST(CheckDevices, AMissingDeviceIsNamedOnce) {
  Sample sample = Pair();
  sample.facts.nodes.at("spark-2").hcas.erase("roceP2p1s0f1");
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-2 rail1 hca fail: no RDMA device on enP2p1s0f1np1",
                          "spark-2 rail1 rdma-port skipped: there is no RDMA device",
                          "spark-2 rail1 gid skipped: there is no RDMA device",
                          "spark-2 rail1 pcie skipped: there is no RDMA device"));
  ExpectFinding(
      sample, "hca-missing spark-2 rail1 x1",
      "the port has no RDMA device: the module mlx5_ib is not loaded, or the port has no RoCE HCA",
      "check `rdma link` and `lsmod` on spark-2; `modprobe mlx5_ib`");
}

TEST(CheckDevices, AnotherNameIsAWarning) {
  Sample sample = Pair();
  auto& hcas = sample.facts.nodes.at("spark-2").hcas;
  hcas["mlx5_3"] = hcas.at("roceP2p1s0f1");
  hcas.erase("roceP2p1s0f1");
  EXPECT_THAT(DeviceOddities(sample), ElementsAre("spark-2 rail1 hca warn: mlx5_3"));
  ExpectFinding(sample, "hca-name spark-2 rail1 x1",
                "the kernel calls the RDMA device otherwise than the hardware profile does; NCCL's "
                "variables have the node's own name, which a restart may give to another port "
                "where it only counts",
                "correct files of yours on spark-2 that have the profile's name; for names that "
                "stay, look for a rule that overrides 60-rdma-persistent-naming.rules (a vendor's "
                "driver brings one)");
}

TEST(CheckDevices, ADownPortWithItsLinkUpIsDown) {
  Sample sample = Pair();
  Second(sample).state = "DOWN";
  EXPECT_THAT(DeviceOddities(sample), ElementsAre("spark-2 rail1 rdma-port fail: DOWN, LinkUp"));
  ExpectFinding(sample, "hca-down spark-2 rail1 x1",
                "the interface has carrier and its RDMA port is not active",
                "check `rdma link` and dmesg of spark-2; set the port down and up again");
  sample.Link(2, 1).carrier = false;
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-2 rail1 carrier fail: no carrier",
                          "spark-2 rail1 rdma-port skipped: the port has no carrier"));
}

TEST(CheckDevices, AVersionOneGidIsNoGid) {
  Sample sample = Pair();
  Second(sample).gids.pop_back();
  const auto oddities = DeviceOddities(sample);
  EXPECT_THAT(oddities,
              ElementsAre("spark-2 rail1 gid fail: 0 fe80:0000:0000:0000:0000:0000:0000:0001 "
                          "IB/RoCE v1 enP2p1s0f1np1; 2 0000:0000:0000:0000:0000:ffff:c0a8:b202 "
                          "IB/RoCE v1 enP2p1s0f1np1"));
  ExpectFinding(
      sample, "gid-missing spark-2 rail1 x1",
      "the HCA's table has no RoCE v2 GID for the rail's address, although the interface has it",
      "set the port of spark-2 down and up again; the kernel makes the GID from the "
      "address");
  sample.Link(2, 1).ipv4.clear();
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-2 rail1 address fail: no address",
                          "spark-2 rail1 gid skipped: the rail's address is not on the port"));
}

TEST(CheckDevices, TheSameGidTwiceIsAFinding) {
  Sample sample = Pair();
  GidFact again = Second(sample).gids.back();
  again.index = 5;
  Second(sample).gids.push_back(again);
  ExpectFinding(
      sample, "gid-twice spark-2 rail1 x1", "the rail's address is twice in the HCA's table",
      "set the address on spark-2 on one interface only: check for VLANs and bridges over it");
}

TEST(CheckDevices, ANarrowPcieLinkIsNamedWithBothItsEnds) {
  Sample sample = Pair();
  Second(sample).device.lanes = Second(sample).upstream.lanes = 2;
  EXPECT_THAT(DeviceOddities(sample), ElementsAre("spark-2 rail1 pcie fail: 32 GT/s x2"));
  ExpectFinding(sample, "pcie-width spark-2 rail1 x1",
                "the HCA's PCIe link has fewer lanes than the hardware profile",
                "update the BIOS of spark-2 (fwupdmgr update; before 2026-04 some wired the second "
                "function with two lanes), then take its power away for a minute");
  EXPECT_THAT(ListFindings(sample, Checks(sample)).at(0).evidence,
              ElementsAre("spark-2 on rail1: the HCA 0002:01:00.1 can 32 GT/s x16",
                          "spark-2 on rail1: the port above it 0002:00:00.0 can 32 GT/s x4"));
}

// The BIOS is a Spark's: https://forums.developer.nvidia.com/t/367853.
TEST(CheckDevices, ANarrowSlotOfAWorkstationIsNoMatterOfASparksBios) {
  Sample sample = Pair();
  sample.cluster.nodes[1].hardware = "connectx5-workstation";
  for (auto& [name, hca] : sample.facts.nodes.at("spark-2").hcas) {
    hca.device.mts = 16000;
    hca.device.lanes = 16;
  }
  Second(sample).device.lanes = 8;
  ExpectFinding(sample, "pcie-width spark-2 rail1 x1",
                "the HCA's PCIe link has fewer lanes than the hardware profile",
                "reseat the card of spark-2, or put it into a slot with more lanes; some slots "
                "share theirs with another one, which the BIOS sets");
}

TEST(CheckDevices, ASlowPcieLinkIsAnotherCause) {
  Sample sample = Pair();
  Second(sample).device.mts = 16000;
  EXPECT_THAT(DeviceOddities(sample), ElementsAre("spark-2 rail1 pcie fail: 16 GT/s x4"));
  ExpectFinding(sample, "pcie-speed spark-2 rail1 x1",
                "the HCA's PCIe link was trained to a lower speed than the hardware's",
                "reboot spark-2; if it stays, take its power away for a minute, and at 2.5 GT/s "
                "update the firmware (`fwupdmgr update`): old ones of some makers stay at Gen1");
}

TEST(CheckDevices, AnHcaWithoutASpeedOfItsLinkIsNoPass) {
  Sample sample = Pair();
  Second(sample).device.lanes = 0;
  EXPECT_THAT(
      DeviceOddities(sample),
      ElementsAre(
          "spark-2 rail1 pcie could-not-measure: the kernel reports no speed for the PCIe link"));
  Second(sample).device = {};
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-2 rail1 pcie skipped: the device is made of software"));
}

TEST(CheckDevices, MoreFreeCmaThanThereIsIsAKernelsFault) {
  Sample sample = Pair();
  sample.facts.nodes.at("spark-1").rdma.cma = CmaMemory{65536, 65536};
  EXPECT_THAT(DeviceOddities(sample), IsEmpty());
  sample.facts.nodes.at("spark-1").rdma.cma = CmaMemory{0, 940604};
  ExpectFinding(sample, "cma-wrong spark-1 x1",
                "the kernel counts memory as CMA that it has not (a fault of kernels 7.0 with "
                "KHO): RDMA cannot register memory",
                "boot spark-1 with `kho=off`, or with a kernel 6.17");
}

TEST(CheckFacts, ServicesHaveALimitOfLockedMemoryOfTheirOwn) {
  Sample sample = Pair();
  MemlockFacts& memlock = sample.facts.nodes.at("spark-1").memlock;
  const MemoryLimit low{8388608};
  const MemoryLimit unlimited{MemoryLimit::kUnlimited};
  memlock.service = MemlockLimits{low, unlimited};
  memlock.user_service = Absent{};
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-1 memlock-service fail: 8192 KiB",
                          "spark-1 memlock-user-service skipped: no manager of the user's runs"));
  ExpectFinding(
      sample, "memlock-low spark-1 x1",
      "a service may lock too little memory: RDMA cannot register its buffers, and NCCL "
      "fails or falls back to sockets",
      "run `spark-reconcile plan`; a limit that is set already counts from the next start "
      "of a service on");
  memlock.service = MemlockLimits{unlimited, unlimited};
  memlock.user_service = MemlockLimits{low, low};
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-1 memlock-user-service skipped: the user's manager has 8192 KiB "
                          "until it is restarted"));
  memlock.user_service = Unknown{"systemctl gave no answer in 5 s"};
  EXPECT_THAT(DeviceOddities(sample), ElementsAre("spark-1 memlock-user-service could-not-measure: "
                                                  "systemctl gave no answer in 5 s"));
}

TEST(CheckDevices, TheGidOfALinkLocalRailIsThatOfTheAddressThatWasFound) {
  Sample sample = Pair();
  MakeLinkLocal(sample, 1);
  EXPECT_THAT(DeviceOddities(sample),
              ElementsAre("spark-1 rail1 gid skipped: the rail's address is not on the port",
                          "spark-2 rail1 gid skipped: the rail's address is not on the port"));
  sample.fabric = ApplyFoundAddresses(sample.fabric, sample.facts);
  Second(sample).gids[2].gid = MakeMappedGid(ParseIpv4("169.254.2.9").value());
  Second(sample).gids[2].type = "RoCE v2";
  std::vector<std::string> gids;
  for (const Check& check : Checks(sample)) {
    if (check.what != "gid" || check.rail != 1) continue;
    gids.push_back(fmt::format("{}: {}", check.expected, ToString(check.outcome)));
  }
  EXPECT_THAT(gids,
              ElementsAre("one RoCE v2 of 169.254.1.9: fail", "one RoCE v2 of 169.254.2.9: pass"));
}

}  // namespace
}  // namespace reconciler
