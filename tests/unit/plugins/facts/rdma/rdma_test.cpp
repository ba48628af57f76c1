#include "plugins/facts/rdma/rdma.h"

#include <gmock/gmock.h>

#include "plugins/facts/rdma/devices.h"
#include "reconciler/base/text.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::rdma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kHca = "/sys/class/infiniband/roceP2p1s0f1/";

// What a Spark with a narrow second controller says (values as people reported them).
ProbeReply Spark() {
  ProbeReply reply;
  const auto set = [&](const char* path, const char* text) { reply.values[kHca + path] = text; };
  set("fw_ver", "28.45.4028");
  set("board_id", "NVD0000000087");
  set("hca_type", "MT4129");
  set("node_guid", "fc4c:ea03:00f9:4235");
  set("sys_image_guid", "fc4c:ea03:00f9:4230");
  set("ports/1/state", "4: ACTIVE");
  set("ports/1/phys_state", "5: LinkUp");
  set("ports/1/rate", "200 Gb/sec (2X NDR)");
  set("ports/1/link_layer", "Ethernet");
  set("device/iommu_group/type", "DMA-FQ");
  set("device/current_link_speed", "32.0 GT/s PCIe");
  set("device/current_link_width", "2");
  set("device/max_link_speed", "32.0 GT/s PCIe");
  set("device/max_link_width", "16");
  set("device/../current_link_speed", "32.0 GT/s PCIe");
  set("device/../current_link_width", "2");
  set("device/../max_link_speed", "32.0 GT/s PCIe");
  set("device/../max_link_width", "4");
  set("ports/1/hw_counters/out_of_sequence", "82");
  set("ports/1/hw_counters/lifespan", "10");
  set("ports/1/counters/port_xmit_data", "123456789012");
  reply.commands["rdma.tables"] = {.out =
                                       R"(roceP2p1s0f1/device/net/enP2p1s0f1np1
roceP2p1s0f1/device/uevent:PCI_SLOT_NAME=0002:01:00.1
roceP2p1s0f1/device/../uevent:PCI_SLOT_NAME=0002:00:00.0
roceP2p1s0f1/ports/1/gids/0:fe80:0000:0000:0000:fe4c:eaff:fef9:4217
roceP2p1s0f1/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:c0a8:b201
roceP2p1s0f1/ports/1/gid_attrs/types/0:IB/RoCE v1
roceP2p1s0f1/ports/1/gid_attrs/types/3:RoCE v2
roceP2p1s0f1/ports/1/gid_attrs/types/7:RoCE v2
roceP2p1s0f1/ports/1/gid_attrs/ndevs/0:enP2p1s0f1np1
roceP2p1s0f1/ports/1/gid_attrs/ndevs/3:enP2p1s0f1np1
)"};
  return reply;
}

NodeFacts Facts(const ProbeReply& reply) {
  NodeFacts facts;
  Get().parse(reply, facts);
  return facts;
}

TEST(Rdma, ADeviceOfASparkIsReadWhole) {
  const NodeFacts facts = Facts(Spark());
  const PcieEnd device{
      .slot = "0002:01:00.1", .mts = 32000, .lanes = 2, .max_mts = 32000, .max_lanes = 16};
  const PcieEnd upstream{
      .slot = "0002:00:00.0", .mts = 32000, .lanes = 2, .max_mts = 32000, .max_lanes = 4};
  HcaFact wanted{
      .netdev = "enP2p1s0f1np1",
      .firmware = "28.45.4028",
      .board_id = "NVD0000000087",
      .model = "MT4129",
      .node_guid = "fc4c:ea03:00f9:4235",
      .system_guid = "fc4c:ea03:00f9:4230",
      .state = "ACTIVE",
      .physical_state = "LinkUp",
      .link_layer = "Ethernet",
      .rate_mbps = 200000,
      .device = device,
      .upstream = upstream,
      .gids = {{0, "fe80:0000:0000:0000:fe4c:eaff:fef9:4217", "IB/RoCE v1", "enP2p1s0f1np1"},
               {3, "0000:0000:0000:0000:0000:ffff:c0a8:b201", "RoCE v2", "enP2p1s0f1np1"}},
      .counters = {{"out_of_sequence", 82}, {"port_xmit_data", 123456789012}}};
  wanted.iommu = "DMA-FQ";
  ASSERT_EQ(facts.hcas.size(), 1u);
  EXPECT_EQ(facts.hcas.at("roceP2p1s0f1"), wanted);
  EXPECT_EQ(wanted.gids[1].gid, MakeMappedGid(ParseIpv4Prefix("192.168.178.1/24")->address));
  EXPECT_EQ(facts.rdma.hcas, Observed<int>(1));
}

TEST(Rdma, ASoftDeviceHasItsInterfaceAndNoPcieLink) {
  ProbeReply reply;
  const std::string hca = "/sys/class/infiniband/rocep1s0f1/";
  reply.values[hca + "parent"] = "enp1s0f1np1";
  reply.values[hca + "board_id"] = "";
  reply.values[hca + "ports/1/state"] = "1: DOWN";
  reply.values[hca + "ports/1/rate"] = "2.5 Gb/sec (1X SDR)";
  reply.values["/sys/class/infiniband/*/device/max_link_width"] = Absent{};
  reply.commands["rdma.tables"] = {};
  const HcaFact hca_fact = Facts(reply).hcas.at("rocep1s0f1");
  EXPECT_EQ(hca_fact.netdev, "enp1s0f1np1");
  EXPECT_EQ(hca_fact.state, "DOWN");
  EXPECT_EQ(hca_fact.rate_mbps, 2500);
  EXPECT_EQ(hca_fact.device, PcieEnd{});
}

TEST(Rdma, WhatSysfsDidNotReportIsUnknownWithItsReason) {
  const auto count = [](int status) {
    ProbeReply reply;
    reply.commands["rdma.tables"] = {.exit_code = status};
    return Facts(reply).rdma.hcas;
  };
  EXPECT_EQ(count(0), Observed<int>(0));
  EXPECT_EQ(count(124), Observed<int>(Unknown{"sysfs gave no answer in 5 s"}));
  EXPECT_EQ(count(2), Observed<int>(Unknown{"sh ended with status 2"}));
  EXPECT_EQ(Facts({}).rdma, RdmaFacts{});
}

TEST(Rdma, LinesThatAreNoneOfOursLeaveNoTrace) {
  ProbeReply reply;
  reply.commands["rdma.tables"] = {.out = "\n/\nx\n/y:z\nmlx5_0/ports/1/gids\nmlx5_0/odd:text\n"};
  const NodeFacts facts = Facts(reply);
  ASSERT_EQ(facts.hcas.size(), 1u);
  EXPECT_EQ(facts.hcas.at("mlx5_0"), HcaFact{});
}

NodeFacts SystemFacts(const std::string& lines, int exit_code = 2) {
  ProbeReply reply;
  reply.commands["common.lines"] = {.exit_code = exit_code, .out = lines};
  return Facts(reply);
}

TEST(Rdma, MemoryModulesAndUfwComeFromTheirFiles) {
  const NodeFacts facts = SystemFacts(
      "/run/systemd/netif/links/2:ADMIN_STATE=configured\n"
      "/proc/meminfo:CmaTotal:        0 kB\n/proc/meminfo:CmaFree:    940604 kB\n"
      "/proc/modules:rdma_ucm 32768 0 - Live 0x0000000000000000\n"
      "/proc/modules:mlx5_ib 462848 0 - Live 0x0000000000000000\n/etc/ufw/ufw.conf:ENABLED=yes\n"
      "/usr/sbin/ufw:#! /usr/bin/python3\n");
  EXPECT_EQ(facts.rdma.cma, Observed<CmaMemory>(CmaMemory{0, 940604}));
  EXPECT_THAT(*Known(facts.rdma.modules), ElementsAre("mlx5_ib", "rdma_ucm"));
  EXPECT_EQ(facts.rdma.ufw, Observed<bool>(true));
  const NodeFacts bare = SystemFacts("");
  EXPECT_EQ(bare.rdma.cma, Observed<CmaMemory>(Absent{}));
  EXPECT_THAT(*Known(bare.rdma.modules), IsEmpty());
  EXPECT_EQ(bare.rdma.ufw, Observed<bool>(Absent{}));
}

TEST(Rdma, AnUfwThatWasRemovedIsAbsentAlthoughItsFilesStay) {
  EXPECT_EQ(SystemFacts("/etc/ufw/ufw.conf:ENABLED=yes\n").rdma.ufw, Observed<bool>(Absent{}));
}

TEST(Rdma, LinesOfAReadThatWasCutOffAreUnknown) {
  const std::string lines = "/etc/ufw/ufw.conf:ENABLED=yes\n";  // that of its program is missing
  const NodeFacts late = SystemFacts(lines, 124);
  const Unknown why{"grep gave no answer in 5 s"};
  EXPECT_EQ(late.rdma.ufw, Observed<bool>(why));
  EXPECT_EQ(late.rdma.cma, Observed<CmaMemory>(why));
  EXPECT_EQ(late.rdma.modules, Observed<std::vector<std::string>>(why));
  EXPECT_EQ(SystemFacts(lines, 137).rdma.ufw, Observed<bool>(Unknown{"grep failed: exit 137"}));
}

TEST(Rdma, MemoryThatIsNotCountedInKbIsUnknownWithTheLine) {
  EXPECT_EQ(SystemFacts("/proc/meminfo:CmaTotal: 64 MB\n/proc/meminfo:CmaFree: much\n").rdma.cma,
            Observed<CmaMemory>(Unknown{"/proc/meminfo: wanted numbers in kB, found CmaTotal "
                                        "'64 MB', CmaFree 'much'"}));
}

TEST(Rdma, TheDriversFlavourAndTheMlx5ThatIsNotTheKernels) {
  ProbeReply reply;
  reply.values["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  "
      "(dvs-builder@U22)";
  reply.values["/sys/module/mlx5_core/version"] = "24.10-1.1.4 ";
  EXPECT_EQ(Facts(reply).gpudirect.driver,
            Observed<NvidiaDriver>(NvidiaDriver{.open = true, .version = "580.142"}));
  EXPECT_EQ(Facts(reply).rdma.ofed, Observed<std::string>("24.10-1.1.4"));
  reply.values["/proc/driver/nvidia/version"] = Absent{};
  reply.values["/sys/module/mlx5_core/version"] = Absent{};
  EXPECT_EQ(Facts(reply).gpudirect.driver, Observed<NvidiaDriver>(Absent{}));
  EXPECT_EQ(Facts(reply).rdma.ofed, Observed<std::string>(Absent{}));
}

using Chains = std::vector<FirewallChain>;

Fact<Chains> Firewall(CommandReply nft) {
  ProbeReply reply;
  reply.commands["rdma.firewall"] = std::move(nft);
  return Facts(reply).rdma.firewall;
}

TEST(Rdma, TheFirewallIsWhatTakesPacketsToTheNode) {
  EXPECT_EQ(Firewall({.out = R"({"nftables": [{"metainfo": {"version": "1.0.9"}},
      {"chain": {"family": "ip", "table": "filter", "name": "FORWARD", "hook": "forward",
                 "policy": "drop"}},
      {"chain": {"family": "ip", "table": "filter", "name": "ufw-user-input", "handle": 9}},
      {"chain": {"family": "ip", "table": "filter", "name": "INPUT", "type": "filter",
                 "hook": "input", "prio": 0, "policy": "drop"}}]})"}),
            Observed<Chains>(Chains{{"ip", "filter", "INPUT", "drop"}}));
  EXPECT_EQ(Firewall({.out = R"({"nftables": []})"}), Observed<Chains>(Absent{}));
  EXPECT_EQ(Firewall({.exit_code = 127}), Observed<Chains>(Unknown{"nft is not installed"}));
  EXPECT_EQ(Firewall({.exit_code = 124}), Observed<Chains>(Unknown{"nft gave no answer in 5 s"}));
  EXPECT_EQ(Firewall({.exit_code = 1, .err = "Operation not permitted\n"}),
            Observed<Chains>(Unknown{"nft failed: Operation not permitted"}));
  EXPECT_EQ(Firewall({.out = "[]"}),
            Observed<Chains>(Unknown{"nft printed something other than JSON"}));
}

TEST(Rdma, TheFirewallIsQueriedOnlyWhereRdmaIsToBeMeasured) {
  const auto programs = [](const char* level) {
    ClusterSpec cluster;
    cluster.settings = test::Map({{"verify", test::Map({{"level", test::Text(level)}})}});
    std::vector<std::string> names;
    for (const Read& read : Get().probe(cluster, {}, {})) {
      if (const auto* run = std::get_if<RunProbe>(&read)) names.push_back(run->argv.front());
    }
    return names;
  };
  EXPECT_THAT(programs("link"), ElementsAre("sh", "grep"));
  EXPECT_THAT(programs("rdma"), ElementsAre("sh", "grep", "nft"));
}

}  // namespace
}  // namespace reconciler::plugins::rdma
