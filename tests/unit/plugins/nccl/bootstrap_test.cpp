#include "plugins/nccl/bootstrap/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

NcclScenario OnFabric() { return NcclScenario({{"bootstrap", test::Text("fabric")}}); }

// The pair, with the management address on Wi-Fi.
NcclScenario OnWifi(NcclScenario::Members section = {}) {
  NcclScenario scenario(std::move(section));
  auto link = scenario.facts.links.extract("enP7s7");
  link.key() = "wlP9s9";
  scenario.facts.links.insert(std::move(link));
  scenario.facts.session.interface = "wlP9s9";
  scenario.facts.health.wireless = std::vector<std::string>{"wlP9s9"};
  return scenario;
}

TEST(NcclBootstrap, EachLauncherMeetsOnManagementByDefault) {
  EXPECT_THAT(NcclScenario().Variables(),
              IsSupersetOf({"NCCL_SOCKET_IFNAME==enP7s7", "GLOO_SOCKET_IFNAME=enP7s7",
                            "TP_SOCKET_IFNAME=enP7s7", "OMPI_MCA_oob_tcp_if_include=enP7s7",
                            "OMPI_MCA_btl_tcp_if_include=enP7s7",
                            "UCX_NET_DEVICES=rocep1s0f1:1,roceP2p1s0f1:1,enP7s7"}));
}

TEST(NcclBootstrap, OnTheFabricItIsThePortOfTheFirstCommonRail) {
  NcclScenario scenario = OnFabric();
  EXPECT_THAT(
      scenario.Variables(),
      IsSupersetOf({"NCCL_SOCKET_IFNAME==enp1s0f1np1", "GLOO_SOCKET_IFNAME=enp1s0f1np1",
                    "TP_SOCKET_IFNAME=enp1s0f1np1", "OMPI_MCA_oob_tcp_if_include=enp1s0f1np1",
                    "OMPI_MCA_btl_tcp_if_include=enp1s0f1np1",
                    "UCX_NET_DEVICES=rocep1s0f1:1,roceP2p1s0f1:1,enp1s0f1np1"}));
  EXPECT_THAT(Get().check(scenario.cluster, scenario.fabric), IsEmpty());
}

TEST(NcclBootstrap, UcxHasNoHcasWhereCablesAreNetworksOfTheirOwn) {
  NcclScenario scenario;
  scenario.MakeRing();
  EXPECT_THAT(scenario.Variables(), Contains("UCX_NET_DEVICES=enP7s7"));
}

TEST(NcclBootstrap, ARingHasNoNetworkForAllNodes) {
  NcclScenario scenario = OnFabric();
  scenario.MakeRing();
  const Errors errors = Get().check(scenario.cluster, scenario.fabric);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].message,
            "nccl.bootstrap: wanted a rail that reaches every node, found none: each cable is a "
            "network of its two nodes alone");
  EXPECT_EQ(errors[0].hint, "write management, or remove it");
}

TEST(NcclBootstrap, AVariableOfTheManifestCountsMore) {
  NcclScenario scenario({{"env", Env({{"UCX_NET_DEVICES", test::Text("all")}})}});
  EXPECT_THAT(scenario.Variables(), Contains("UCX_NET_DEVICES=all"));
}

TEST(NcclBootstrap, WifiIsAvoidedByAWiredInterfaceOfTheSameSubnet) {
  NcclScenario scenario = OnWifi();
  scenario.facts.links["enP7s7"] = test::Bare("02:53:50:00:01:02");
  scenario.facts.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.51/24")};
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enP7s7"));
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("bootstrap: wlP9s9 has the management address and is wireless: the ranks "
                          "meet on enP7s7 instead: write the address of a wired port as the "
                          "address of spark-1, or nccl.bootstrap: fabric"));
  scenario.facts.links["enP7s7"].carrier = false;
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enp1s0f1np1"));
}

TEST(NcclBootstrap, WifiIsAvoidedByTheFabricWhereThatReachesEveryNode) {
  NcclScenario scenario = OnWifi();
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enp1s0f1np1"));
  EXPECT_THAT(scenario.Warnings(), ElementsAre(HasSubstr("meet on enp1s0f1np1 instead")));
}

// What another node says of itself: its management address is on Wi-Fi alone.
void PutOnWifi(NodeFacts& facts) {
  facts.session.interface = "wlP9s9";
  facts.links["wlP9s9"] = test::Bare("02:53:50:00:02:09");
  facts.health.wireless = std::vector<std::string>{"wlP9s9"};
}

TEST(NcclBootstrap, OneNodeOnWifiAloneTakesAllToTheFabric) {
  NcclScenario scenario;
  scenario.facts.health.wireless = std::vector<std::string>{};
  PutOnWifi(scenario.all.nodes["spark-2"]);
  EXPECT_THAT(scenario.Variables(),
              IsSupersetOf({"NCCL_SOCKET_IFNAME==enp1s0f1np1", "GLOO_SOCKET_IFNAME=enp1s0f1np1"}));
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("bootstrap: the management network of spark-2 is wireless: the ranks of "
                          "all nodes meet on the fabric instead, here on enp1s0f1np1: write the "
                          "address of a wired port as the address of spark-2, or nccl.bootstrap: "
                          "fabric"));
}

TEST(NcclBootstrap, APeerWithAWiredInterfaceBesideItsWifiChangesNothingHere) {
  NcclScenario scenario;
  scenario.facts.health.wireless = std::vector<std::string>{};
  NodeFacts& peer = scenario.all.nodes["spark-2"];
  PutOnWifi(peer);
  peer.links["wlP9s9"].ipv4 = {*ParseIpv4Prefix("192.168.1.22/24")};
  peer.links["enP7s7"] = test::Bare("02:53:50:00:02:02");
  peer.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.52/24")};
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enP7s7"));
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

TEST(NcclBootstrap, WhereAPeerWasNotReadTheNodeStaysOnTheFabricWithANote) {
  NcclScenario scenario;
  scenario.facts.health.wireless = std::vector<std::string>{};
  scenario.all.nodes.erase("spark-2");
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enP7s7"));
  scenario.facts.files[std::string(kServiceFile)] =
      FileState{.content = "NCCL_SOCKET_IFNAME==enp1s0f1np1\n"};
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enp1s0f1np1"));
  EXPECT_THAT(scenario.Notes(),
              Contains("bootstrap: the ranks of this node still meet on enp1s0f1np1: a node that "
                       "was not read may have no wired management network: plan all nodes at once, "
                       "which decides it for all"));
  EXPECT_THAT(scenario.ListDiagnostics(Severity::kWarns), IsEmpty());
  scenario.all.nodes["spark-2"].health.wireless = std::vector<std::string>{};
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enP7s7"));
  EXPECT_THAT(scenario.Notes(), IsEmpty());
}

TEST(NcclBootstrap, OnlyTheFileAsWeWouldWriteItKeepsANodeOnTheFabric) {
  NcclScenario scenario;
  scenario.facts.health.wireless = std::vector<std::string>{};
  scenario.all.nodes.erase("spark-2");
  scenario.facts.files[std::string(kServiceFile)] =
      FileState{.content = "NCCL_SOCKET_IFNAME==enp1s0f1np1.100\n"};
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==enP7s7"));
}

TEST(NcclBootstrap, WifiIsTakenWithAWarningWhereThereIsNothingElse) {
  NcclScenario scenario = OnWifi();
  scenario.MakeRing();
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_SOCKET_IFNAME==wlP9s9"));
  EXPECT_THAT(scenario.Warnings(),
              Contains("bootstrap: wlP9s9 is wireless, and no wired network is there for the ranks "
                       "to meet on: each loss of it ends a run: connect a wired port of spark-1, "
                       "and write its address as the node's address"));
}

TEST(NcclBootstrap, WifiThatTheManifestDoesNotUseIsNotNamed) {
  EXPECT_THAT(OnWifi({{"bootstrap", test::Text("fabric")}}).Warnings(), IsEmpty());
  EXPECT_THAT(OnWifi({{"env", Env({{"NCCL_SOCKET_IFNAME", test::Text("=wlP9s9")}})}}).Warnings(),
              IsEmpty());
}

TEST(NcclBootstrap, WhatIsWirelessMustBeKnown) {
  NcclScenario scenario;
  scenario.facts.health.wireless = Unknown{"no answer in 5 s"};
  EXPECT_THAT(scenario.Detail(Get(), std::string(kServiceFile)),
              HasSubstr("cannot determine which interfaces are wireless: no answer in 5 s"));
  NcclScenario fabric = OnFabric();
  fabric.facts.health.wireless = Unknown{"no answer in 5 s"};
  EXPECT_THAT(fabric.Variables(), Contains("NCCL_SOCKET_IFNAME==enp1s0f1np1"));
}

}  // namespace
}  // namespace reconciler::plugins::nccl
