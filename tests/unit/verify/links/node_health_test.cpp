#include "reconciler/verify/links/node_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/links/health_sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeHealthTest : public testing::Test {
 protected:
  NodeFacts& Node(int id = 2) { return sample_.facts.nodes.at("spark-" + std::to_string(id)); }
  HealthFacts& Health() { return Node().health; }
  void SetLog(std::vector<KernelEvent> log) { Health().kernel_log = std::move(log); }

  std::vector<Check> Checks(VerifyLevel up_to = VerifyLevel::kNccl) const {
    return CheckNodeHealth(sample_.cluster, sample_.fabric, sample_.facts, up_to);
  }
  std::vector<std::string> Found(VerifyLevel up_to = VerifyLevel::kNccl) const {
    const std::vector<Check> checks = Checks(up_to);
    for (const Check& check : checks) EXPECT_EQ(check.outcome, Outcome::kWarn);
    return DescribeFindings(sample_, checks);
  }
  Finding Only() const {
    const auto findings = Diagnose(sample_.cluster, sample_.fabric, sample_.facts, Checks(), {});
    EXPECT_EQ(findings.size(), 1U);
    return findings.empty() ? Finding{} : findings.front();
  }

  Sample sample_ = HealthyPair();
};

TEST_F(NodeHealthTest, HealthySparksHaveNoCheck) { EXPECT_THAT(Found(), IsEmpty()); }

TEST_F(NodeHealthTest, WhatWasNotReadHasNoCheck) {
  for (auto& [name, facts] : sample_.facts.nodes) facts.health = {};
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, WhatCouldNotBeReadIsNotWell) {
  Health().kernel_log = Unknown{"dmesg printed nothing"};
  const auto checks =
      CheckNodeHealth(sample_.cluster, sample_.fabric, sample_.facts, VerifyLevel::kSsh);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].outcome, Outcome::kSkipped);
  EXPECT_EQ(checks[0].from, "spark-2");
  EXPECT_EQ(checks[0].why, "dmesg printed nothing");
}

constexpr const char* kBlocked =
    "[UFW BLOCK] IN=enP7s7 OUT= MAC=00 SRC=192.168.1.21 DST=192.168.1.22 LEN=60 PROTO=TCP "
    "SPT=40404 DPT=45123 WINDOW=64240 RES=0x00 SYN URGP=0";

TEST_F(NodeHealthTest, AConnectionOfAPeerThatUfwDropsIsNamedWithTheRule) {
  SetLog({{KernelEventKind::kFirewall, 300, kBlocked}, {KernelEventKind::kFirewall, 20, kBlocked}});
  const Finding finding = Only();
  EXPECT_EQ(finding.code, "ufw-drops");
  EXPECT_THAT(finding.nodes, ElementsAre("spark-2"));
  EXPECT_EQ(finding.measured,
            "ufw dropped 2 connections from spark-1 (192.168.1.21) on enP7s7, the last 20 s ago to "
            "port 45123");
  EXPECT_EQ(finding.cause,
            "ufw drops connections of another node without an answer, so that NCCL and other "
            "programs wait for each other");
  EXPECT_EQ(finding.next_step, "run `ufw allow from 192.168.1.21` on spark-2");
}

TEST_F(NodeHealthTest, EachPeerThatUfwDropsHasItsRuleInOneFinding) {
  std::string fabric = kBlocked;
  fabric.replace(fabric.find("192.168.1.21"), 12, "192.168.177.1");
  SetLog({{KernelEventKind::kFirewall, 300, kBlocked}, {KernelEventKind::kFirewall, 20, fabric}});
  const Finding finding = Only();
  EXPECT_EQ(finding.explains, 2U);
  EXPECT_EQ(finding.measured,
            "ufw dropped 1 connection from spark-1 (192.168.1.21) on enP7s7, the last 5 min ago to "
            "port 45123; ufw dropped 1 connection from spark-1 (192.168.177.1) on enP7s7, the last "
            "20 s ago to port 45123");
  EXPECT_EQ(finding.next_step,
            "run `ufw allow from 192.168.1.21` on spark-2; run `ufw allow from 192.168.177.1` on "
            "spark-2");
}

TEST_F(NodeHealthTest, WhatUfwDroppedBeforeItWasDisabledIsNotSaid) {
  SetLog({{KernelEventKind::kFirewall, 300, kBlocked}});
  Node().rdma.ufw = false;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, AddressesOfTheFabricArePeersToo) {
  std::string text = kBlocked;
  text.replace(text.find("192.168.1.21"), 12, "192.168.177.1");
  SetLog({{KernelEventKind::kFirewall, 20, text}});
  EXPECT_EQ(Only().next_step, "run `ufw allow from 192.168.177.1` on spark-2");
}

TEST_F(NodeHealthTest, WhatRulesOfBeforeDroppedIsNotSaid) {
  SetLog({{KernelEventKind::kFirewall, 300, kBlocked}});
  Health().firewall_rules_age_s = 300;
  EXPECT_THAT(Found(), IsEmpty());
  Health().firewall_rules_age_s = Absent{};
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, MessagesOfTheLastDayAreNamedByWhatTheyMean) {
  using Kind = KernelEventKind;
  SetLog({{Kind::kPcie, 7300, "pcieport 0000:00:00.0: AER: Uncorrectable (Fatal) error"},
          {Kind::kGpu, 7200, "NVRM: Xid (PCI:000f:01:00): 79, GPU has fallen off the bus."},
          {Kind::kGpuMemory, 300, "NVRM: Check failed: Out of memory [NV_ERR_NO_MEMORY]"},
          {Kind::kOutOfMemory, 200, "Out of memory: Killed process 4242 (python3)"},
          {Kind::kLockup, 100, "watchdog: BUG: soft lockup - CPU#3 stuck for 22s!"},
          {Kind::kHca, 50, "mlx5_core 0000:01:00.0: device's health compromised"}});
  EXPECT_THAT(Found(), ElementsAre("pcie-error spark-2: 1 message of the kernel, the last 2 h ago",
                                   "gpu-error spark-2: 1 message of the kernel, the last 2 h ago",
                                   "gpu-memory-refused spark-2: 1 message of the kernel, the last "
                                   "5 min ago",
                                   "out-of-memory spark-2: 1 message of the kernel, the last 3 min "
                                   "ago",
                                   "processor-hung spark-2: 1 message of the kernel, the last "
                                   "100 s ago",
                                   "hca-unwell spark-2: 1 message of the kernel, the last 50 s "
                                   "ago"));
  for (KernelEvent& event : *std::get_if<std::vector<KernelEvent>>(&*Health().kernel_log)) {
    event.age_s = 24 * 60 * 60;
  }
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, AnXidThatAProgramCausedIsNoFaultOfTheGpu) {
  for (const int xid : {13, 31, 43, 45}) {
    SetLog({{KernelEventKind::kGpu, 5, fmt::format("NVRM: Xid (PCI:000f:01:00): {}, x", xid)}});
    EXPECT_THAT(Found(), IsEmpty()) << xid;
  }
  SetLog({{KernelEventKind::kGpu, 5, "NVRM: Xid nonsense"}});
  EXPECT_EQ(Only().code, "gpu-error");
}

TEST_F(NodeHealthTest, ALinkThatIsLostFiveTimesAnHourFlaps) {
  const KernelEvent down{KernelEventKind::kLinkDown, 60,
                         "mlx5_core 0000:01:00.1 enp1s0f1np1: Link down"};
  SetLog({down, down, down, down});
  EXPECT_THAT(Found(), IsEmpty());
  SetLog({down, down, down, down, down});
  const Finding finding = Only();
  EXPECT_EQ(finding.code, "link-flaps");
  EXPECT_EQ(finding.measured,
            "enp1s0f1np1 lost its link 5 times in the last hour, the last 60 s ago");
  EXPECT_THAT(finding.evidence,
              ElementsAre("spark-2 on rail0: mlx5_core 0000:01:00.1 enp1s0f1np1: Link down",
                          "spark-2 on rail0: carrier_down_count of enp1s0f1np1 is 21"));
}

TEST_F(NodeHealthTest, TheLimitOfALoginIsJudgedWithoutAKeyOfTheManifest) {
  Node().memlock.session = MemoryLimit{8 << 20};
  const Finding finding = Only();
  EXPECT_EQ(finding.code, "memlock-low");
  EXPECT_EQ(finding.outcome, Outcome::kWarn);
  EXPECT_EQ(finding.measured, "8192 KiB");
  EXPECT_EQ(finding.cause,
            "the user that logs in may lock too little memory: RDMA cannot register its buffers, "
            "and NCCL fails or falls back to sockets");
  EXPECT_EQ(finding.next_step, "write `memlock: unlimited` into the manifest and apply it");
  // An eighth of the memory, as systemd gives it.
  Node().memlock.session = MemoryLimit{std::int64_t{15} << 30};
  EXPECT_THAT(Found(), IsEmpty());
  Node().memlock.session = MemoryLimit{8 << 20};
  sample_.cluster.settings = Map({Entry("memlock", Text("unlimited"))});
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, AUserWithoutAccessToTheDevicesIsNamed) {
  Health().device_files =
      std::vector<DeviceFile>{{"/dev/infiniband/uverbs0", {0660}, "root", "rdma"}};
  EXPECT_THAT(Found(),
              ElementsAre("uverbs-denied spark-2: /dev/infiniband/uverbs0 is root:rdma with mode "
                          "0660"));
  Health().groups = std::set<std::string>{"rdma"};
  EXPECT_THAT(Found(), IsEmpty());
  Health().groups = Absent{};
  EXPECT_THAT(Found(), IsEmpty());
  Health().groups = std::set<std::string>{};
  sample_.cluster.nodes[1].access.user = "root";
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, WithoutDeviceFilesNoProgramCanUseTheHca) {
  Health().device_files = std::vector<DeviceFile>{};
  EXPECT_THAT(Found(), ElementsAre("uverbs-missing spark-2: no such file"));
  for (auto& [name, hca] : Node().hcas) hca.device.slot.clear();  // soft devices
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, ASessionOverWifiIsNamedWhereRanksWouldMeetThere) {
  Node().session.interface = "wlP9s9";
  EXPECT_THAT(Found(), ElementsAre("bootstrap-wifi spark-2: wlP9s9 is wireless"));
  EXPECT_THAT(Found(VerifyLevel::kSsh), IsEmpty());
  sample_.cluster.settings =
      Map({Entry("nccl", Map({Entry("env", Map({Entry("NCCL_SOCKET_IFNAME", Text("enP7s7"))}))}))});
  EXPECT_THAT(Found(), IsEmpty());
  // NCCL's variables have the first rail then.
  sample_.cluster.settings = Map({Entry("nccl", Map({Entry("mode", Text("auto"))}))});
  EXPECT_THAT(Found(), IsEmpty());
  sample_.fabric.segments.clear();
  EXPECT_THAT(Found(), ElementsAre("bootstrap-wifi spark-2: wlP9s9 is wireless"));
}

TEST_F(NodeHealthTest, HeatIsJudgedByTheLimitsOfTheSensors) {
  Health().sensors = std::vector<Sensor>{{"acpitz", 89999, 95000}, {"mlx5 3", 100000, 105000}};
  Health().throttled = std::vector<std::string>{"Processor 0: 2"};
  Health().gpu_slowdowns = std::vector<std::string>{"power"};
  EXPECT_THAT(Found(),
              ElementsAre("too-hot spark-2: mlx5 3 has 100 °C of 105 °C",
                          "throttled spark-2: Processor 0: 2", "gpu-throttled spark-2: power"));
}

TEST_F(NodeHealthTest, LittleMemoryCountsTogetherWithSwap) {
  Health().available_kib = 7 << 20;
  EXPECT_THAT(Found(),
              ElementsAre("memory-pressure spark-2: 7168 MiB of memory left, 2048 MiB in swap"));
  Health().swap_used_kib = 0;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, TwoContainersOfOneFaultAreBothNamed) {
  Health().containers = std::vector<ContainerFact>{{"aaaabbbbcccc", true, {8 << 20}},
                                                   {"ddddeeeeffff", true, {8 << 20}}};
  const Finding finding = Only();
  EXPECT_EQ(finding.code, "container-memlock");
  EXPECT_NE(finding.next_step.find("aaaabbbbcccc"), std::string::npos) << finding.next_step;
  EXPECT_NE(finding.next_step.find("ddddeeeeffff"), std::string::npos) << finding.next_step;
}

TEST_F(NodeHealthTest, ALimitOfRootsLoginIsNotJudged) {
  Node().memlock.session = MemoryLimit{8 << 20};
  EXPECT_EQ(Only().code, "memlock-low");
  sample_.cluster.nodes[1].access.user = "root";
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(NodeHealthTest, AContainerForNcclNeedsDevicesAndMemory) {
  Health().containers = std::vector<ContainerFact>{{"aaaabbbbcccc", false, {8 << 20}},
                                                   {"ddddeeeeffff", true, {8 << 20}}};
  const auto findings = Diagnose(sample_.cluster, sample_.fabric, sample_.facts, Checks(), {});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].code, "container-no-rdma");
  EXPECT_EQ(findings[0].next_step,
            "start container aaaabbbbcccc of spark-2 with `--device /dev/infiniband` or "
            "`--privileged`");
  EXPECT_EQ(findings[1].code, "container-memlock");
  EXPECT_EQ(findings[1].measured, "container ddddeeeeffff: 8192 KiB");
  EXPECT_EQ(findings[1].next_step,
            "start container ddddeeeeffff of spark-2 with `--ulimit memlock=-1`");
}

TEST_F(NodeHealthTest, ClocksMayDifferByTheTimeOfAConnection) {
  Health().clock = *Known(Node(1).health.clock) + 120;
  EXPECT_THAT(Found(), IsEmpty());
  Health().clock = *Known(Node(1).health.clock) + 3600;
  EXPECT_THAT(Found(), ElementsAre("clocks-differ spark-1: spark-1 is 3600 s behind spark-2"));
}

}  // namespace
}  // namespace reconciler
