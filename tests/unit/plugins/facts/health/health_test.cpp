#include "plugins/facts/health/health.h"

#include <gmock/gmock.h>

#include "plugins/facts/health/kernel_log.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::health {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HealthFacts Parse(const std::string& out, int status = 0) {
  ProbeReply reply;
  reply.commands["health.state"] = {.exit_code = status, .out = out};
  NodeFacts facts;
  Get().parse(reply, facts);
  return facts.health;
}

TEST(Health, EachLineBecomesItsFact) {
  const HealthFacts facts = Parse(
      "clock 1790000000\n"
      "sensor 45000 105000 mlx5 3\n"
      "sensor -5000 95000 acpitz\n"
      "throttled Processor 0: 2\n"
      "device 666 root root /dev/infiniband/uverbs0\n"
      "groups nvidia sudo rdma\n"
      "container 0123456789abcdef no 8388608\n"
      "loaded 0123456789abcdef /proc/7/map_files/b-c /usr/lib/libnccl.so.2.27.7\n"
      "loaded 0123456789abcdef /proc/7/map_files/a-b /opt/a b/libnccl.so.2 (deleted)\n"
      "= versions\n"
      "/proc/7/map_files/a-b:NCCL version 2.28.9\n"
      "/proc/7/map_files/b-c:NCCL_IB_SUBNET_AWARE_ROUTING\n"
      "/proc/7/map_files/b-c:NCCL version 2.30.7\n"
      "= files\n"
      "/proc/meminfo:MemAvailable:   23476808 kB\n"
      "/proc/meminfo:SwapTotal:      16777212 kB\n"
      "/proc/meminfo:SwapFree:       16777200 kB\n"
      "/run/NetworkManager/system-connections/netplan-cx7.nmconnection:interface-name=enp1s0f1np1\n"
      "/run/NetworkManager/system-connections/by hand.nmconnection:interface-name=enp1s0f0np0\n"
      "/etc/network/interfaces:auto lo\n"
      "= rules\n"
      "rules 1789999000\n"
      "= log\n"
      "uptime 1000.50\n"
      "[  990.100000] [UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.22 DPT=45123 SYN URGP=0\n");
  EXPECT_EQ(*Known(facts.clock), 1790000000);
  EXPECT_THAT(*Known(facts.sensors),
              ElementsAre(Sensor{"mlx5 3", 45000, 105000}, Sensor{"acpitz", -5000, 95000}));
  EXPECT_THAT(*Known(facts.throttled), ElementsAre("Processor 0: 2"));
  EXPECT_THAT(*Known(facts.device_files),
              ElementsAre(DeviceFile{"/dev/infiniband/uverbs0", {0666}, "root", "root"}));
  EXPECT_THAT(*Known(facts.groups), ElementsAre("nvidia", "rdma", "sudo"));
  EXPECT_THAT(*Known(facts.containers),
              ElementsAre(ContainerFact{"0123456789ab", false, {8388608}}));
  EXPECT_THAT(
      *Known(facts.loaded_nccl),
      ElementsAre(LoadedNccl{"0123456789ab", "/opt/a b/libnccl.so.2", "2.28.9", false},
                  LoadedNccl{"0123456789ab", "/usr/lib/libnccl.so.2.27.7", "2.30.7", true}));
  EXPECT_EQ(*Known(facts.available_kib), 23476808);
  EXPECT_EQ(*Known(facts.swap_used_kib), 12);
  EXPECT_THAT(*Known(facts.runtime_profiles),
              ElementsAre(RuntimeProfile{
                  "/run/NetworkManager/system-connections/by hand.nmconnection", "enp1s0f0np0"}));
  EXPECT_FALSE(*Known(facts.ifupdown));
  EXPECT_EQ(*Known(facts.firewall_rules_age_s), 1000);
  EXPECT_THAT(
      *Known(facts.kernel_log),
      ElementsAre(KernelEvent{KernelEventKind::kFirewall, 10,
                              "[UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.22 DPT=45123 SYN URGP=0"}));
}

TEST(Health, WirelessInterfacesAreKnownAloneSinceAPlanNeedsThem) {
  const auto parse = [](CommandReply reply) {
    ProbeReply replies;
    replies.commands["health.wireless"] = std::move(reply);
    NodeFacts facts;
    Get().parse(replies, facts);
    EXPECT_EQ(facts.health.device_files, std::nullopt);
    return *facts.health.wireless;
  };
  EXPECT_THAT(*Known(parse({.out = "wireless wlP9s9\nwireless wlP9s9\n"})), ElementsAre("wlP9s9"));
  EXPECT_THAT(*Known(parse({})), IsEmpty());
  EXPECT_EQ(parse({.exit_code = 124}),
            Observed<std::vector<std::string>>(Unknown{"sh gave no answer in 5 s"}));
}

TEST(Health, WhatIsNotThereIsAbsentOrAnEmptyList) {
  const HealthFacts facts = Parse("");
  EXPECT_THAT(*Known(facts.device_files), IsEmpty());
  EXPECT_EQ(facts.groups, Observed<std::set<std::string>>(Absent{}));
  EXPECT_EQ(facts.firewall_rules_age_s, Observed<std::int64_t>(Absent{}));
  EXPECT_EQ(facts.clock, std::nullopt);
  EXPECT_EQ(facts.kernel_log, Observed<std::vector<KernelEvent>>(Unknown{"dmesg printed nothing"}));
}

TEST(Health, AScriptThatFailsIsNotTakenForAHealthyNode) {
  EXPECT_EQ(Parse("clock 1\n", 124).kernel_log,
            Observed<std::vector<KernelEvent>>(Unknown{"sh gave no answer in 5 s"}));
  EXPECT_EQ(Parse("clock 1\n", 124).clock, std::nullopt);
  NodeFacts facts;
  Get().parse({}, facts);
  EXPECT_EQ(facts.health, HealthFacts{});
}

TEST(Health, LinesOfAnotherFormLeaveNoTrace) {
  const HealthFacts facts = Parse(
      "\nclock x\nclock -5\nsensor\nsensor 1\nsensor 1 0 a\nsensor 1 -3 a\nsensor 99999999 5 a\n"
      "device 9 a b /dev/infiniband/uverbs0\ndevice 77777 a b c\ndevice 666 a b\n"
      "container a yes x\ncontainer a yes -1\ncontainer a yes\n\x1b[2J\n"
      "= files\n/proc/meminfo:\n/proc/meminfo:MemAvailable: 5 MB\n/proc/meminfo:SwapTotal: 1 kB\n"
      "/proc/meminfo:SwapFree: 2 kB\n/run/NetworkManager/system-connections/x\n"
      "= rules\nrules -1\nrules\n= log\nuptime nan\nuptime 99999999999999\nuptime 5\n[x] a\n");
  EXPECT_THAT(*Known(facts.sensors), IsEmpty());
  EXPECT_THAT(*Known(facts.device_files), IsEmpty());
  EXPECT_THAT(*Known(facts.containers), IsEmpty());
  EXPECT_THAT(*Known(facts.runtime_profiles), IsEmpty());
  EXPECT_EQ(facts.clock, std::nullopt);
  EXPECT_EQ(facts.available_kib, std::nullopt);
  EXPECT_EQ(facts.swap_used_kib, std::nullopt);
  EXPECT_THAT(*Known(facts.kernel_log), IsEmpty());
}

TEST(Health, LinesOfTheKernelAreKnownByWhatTheySay) {
  // As people printed them in public threads.
  const std::vector<std::string> lines = {
      "[    5.100000] mlx5_core 0000:01:00.0: Detected insufficient power on the PCIe slot (27W).",
      "[   10.000000] pcieport 0000:00:00.0: AER: Uncorrectable (Fatal) error message received",
      "[   11.000000] pcieport 0000:00:00.0: AER: Corrected error message received",
      "[   12.000000] NVRM: Xid (PCI:000f:01:00): 79, pid=123, GPU has fallen off the bus.",
      "[   13.000000] NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY]",
      "[   14.000000] Out of memory: Killed process 4242 (python3)",
      "[   15.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [irq/52-aerdrv:91]",
      "[   16.000000] mlx5_core 0000:01:00.0: poll_health:800: device's health compromised",
      "[   17.000000] mlx5_core 0000:01:00.1 enp1s0f1np1: Link down",
      "[   18.000000] mlx5_core 0000:01:00.1 enp1s0f1np1: Link up"};
  std::vector<KernelEventKind> kinds;
  for (const KernelEvent& event : ParseKernelLog(lines, 20)) kinds.push_back(event.kind);
  EXPECT_THAT(
      kinds, ElementsAre(KernelEventKind::kPcie, KernelEventKind::kGpu, KernelEventKind::kGpuMemory,
                         KernelEventKind::kOutOfMemory, KernelEventKind::kLockup,
                         KernelEventKind::kHca, KernelEventKind::kLinkDown));
}

TEST(Health, ALineOfTheKernelCannotMoveTheCursorOrTheTime) {
  const auto events = ParseKernelLog(
      {"[  99.0] NVRM: Xid \x1b[2J" + std::string(5000, 'x'), "[-5.0] NVRM: Xid", "[nan] NVRM: Xid",
       "[inf] NVRM: Xid", "[1e300] NVRM: Xid", "NVRM: Xid", "[5.0 NVRM: Xid", "["},
      50);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].age_s, 0);
  EXPECT_EQ(events[0].text.find('\x1b'), std::string::npos);
  EXPECT_LT(events[0].text.size(), 400U);
}

Observed<std::vector<std::string>> Slowdowns(CommandReply reply) {
  ProbeReply replies;
  replies.commands["health.gpu"] = std::move(reply);
  NodeFacts facts;
  Get().parse(replies, facts);
  return *facts.health.gpu_slowdowns;
}

TEST(Health, NvidiaSmiNamesWhyTheGpuIsSlow) {
  using Words = Observed<std::vector<std::string>>;
  EXPECT_EQ(Slowdowns({.out = "Not Active, Not Active, Not Active, Not Active\n"}),
            Words(std::vector<std::string>{}));
  EXPECT_EQ(Slowdowns({.out = "Active, Not Active, Active, Not Active\n"}),
            Words(std::vector<std::string>{"slowdown", "power"}));
  EXPECT_EQ(Slowdowns({.exit_code = 127}), Words(Absent{}));
  EXPECT_EQ(Slowdowns({.out = "[N/A]\n"}), Words(Unknown{"nvidia-smi printed something else"}));
  EXPECT_EQ(Slowdowns({.exit_code = 9, .err = "couldn't communicate with the NVIDIA driver"}),
            Words(Unknown{"nvidia-smi failed: couldn't communicate with the NVIDIA driver"}));
}

TEST(Health, NvidiaSmiIsRunWhereTheManifestNamesALevelThatMeasures) {
  ClusterSpec cluster;
  cluster.nodes.push_back({.name = "spark-1", .id = 1});
  EXPECT_EQ(Get().probe(cluster, {}, cluster.nodes.front()).size(), 2U);
  cluster.settings = test::Map({{"verify", test::Map({{"level", test::Text("rdma")}})}});
  EXPECT_EQ(Get().probe(cluster, {}, cluster.nodes.front()).size(), 3U);
}

// Where the mapped file cannot be read, as without CAP_SYS_ADMIN.
TEST(Health, ALibraryThatCannotBeReadHasTheVersionOfItsName) {
  const HealthFacts facts = Parse(
      "clock 1\n"
      "loaded aaaa /proc/7/map_files/a-b /usr/lib/libnccl.so.2.27.7\n"
      "loaded bbbb /proc/8/map_files/a-b /opt/libnccl.so.2\n"
      "loaded cccc\nloaded cccc /proc/9/map_files/a-b\n"
      "= versions\n"
      "no colon\n");
  EXPECT_THAT(*Known(facts.loaded_nccl),
              ElementsAre(LoadedNccl{"aaaa", "/usr/lib/libnccl.so.2.27.7", "2.27.7", false}));
}

}  // namespace
}  // namespace reconciler::plugins::health
