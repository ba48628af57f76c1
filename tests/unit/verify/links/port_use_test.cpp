#include "reconciler/verify/links/port_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/links/health_sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPort = "enp1s0f1np1";

class PortUseTest : public testing::Test {
 protected:
  NodeFacts& Node() { return sample_.facts.nodes.at("spark-2"); }
  std::vector<std::string> Found() const {
    return DescribeFindings(sample_, CheckPortUse(sample_.cluster, sample_.fabric, sample_.facts));
  }

  Sample sample_ = HealthyPair();
};

TEST_F(PortUseTest, PortsOfHealthySparksHaveNoCheck) { EXPECT_THAT(Found(), IsEmpty()); }

TEST_F(PortUseTest, ADefaultRouteOverTheFabricIsNamed) {
  Node().network.default_route = std::vector<std::string>{"enP7s7", kPort};
  EXPECT_THAT(Found(), ElementsAre("default-route-on-fabric spark-2: a default route leads over "
                                   "enp1s0f1np1"));
}

TEST_F(PortUseTest, ADhcpClientOnTheFabricIsNamed) {
  Node().network.leases[kPort] = {"192.168.1.77"};
  EXPECT_THAT(Found(), ElementsAre("dhcp-on-fabric spark-2: enp1s0f1np1 has 192.168.1.77 from a "
                                   "DHCP server"));
}

TEST_F(PortUseTest, AnAddressBesideTheRailsOwnIsNamed) {
  std::vector<Ipv4Prefix>& addresses = Node().links.at(kPort).ipv4;
  addresses.insert(addresses.begin(), *ParseIpv4Prefix("10.9.9.9/24"));
  EXPECT_THAT(Found(), ElementsAre("address-extra spark-2: enp1s0f1np1 has 10.9.9.9/24 too"));
  addresses.push_back(*ParseIpv4Prefix("169.254.7.9/16"));
  const auto checks = CheckPortUse(sample_.cluster, sample_.fabric, sample_.facts);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks.front().expected, "enp1s0f1np1 has 192.168.177.2/24 and no other address");
  EXPECT_EQ(checks.front().measured, "enp1s0f1np1 has 10.9.9.9/24, 169.254.7.9/16 too");
  const std::vector<Finding> findings = ListFindings(sample_, checks);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().next_step,
            "run `spark-reconcile plan`: it names the address, which an apply removes, or what "
            "else configures the port of spark-2");
}

TEST_F(PortUseTest, AnAddressThatHasAFindingOfItsOwnIsNoOtherAddress) {
  std::vector<Ipv4Prefix>& addresses = Node().links.at(kPort).ipv4;
  addresses.push_back(*ParseIpv4Prefix("192.168.1.77/24"));
  Node().network.leases[kPort] = {"192.168.1.77"};
  EXPECT_THAT(Found(), ElementsAre("dhcp-on-fabric spark-2: enp1s0f1np1 has 192.168.1.77 from a "
                                   "DHCP server"));
  Node().network.leases.erase(kPort);
  addresses.erase(addresses.begin());  // address-missing shows what is there
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(PortUseTest, OnALinkLocalRailASecondLinkLocalAddressIsNamed) {
  MakeLinkLocal(sample_, 0);
  EXPECT_THAT(Found(), IsEmpty());
  Node().links.at(kPort).ipv4.push_back(*ParseIpv4Prefix("169.254.8.9/16"));
  EXPECT_THAT(Found(), ElementsAre("address-extra spark-2: enp1s0f1np1 has 169.254.8.9/16 too"));
}

TEST_F(PortUseTest, APortInABondIsNamedWithItsCommonHca) {
  Node().links.at(kPort).master = "bond0";
  Node().hcas["mlx5_bond_0"] = {};
  const auto checks = CheckPortUse(sample_.cluster, sample_.fabric, sample_.facts);
  EXPECT_THAT(DescribeFindings(sample_, checks),
              ElementsAre("port-in-bond spark-2: enp1s0f1np1 is a member of bond0"));
  EXPECT_THAT(checks.front().evidence,
              ElementsAre("mlx5_bond_0 stands for several ports (RoCE LAG)"));
}

TEST_F(PortUseTest, AnotherInterfaceInARailsSubnetIsNamed) {
  Node().links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.177.44/24")};
  Node().network.rp_filter[kPort] = 1;
  EXPECT_THAT(Found(), ElementsAre("subnet-twice spark-2: enp1s0f1np1 has 192.168.177.2/24, and "
                                   "enP7s7 has 192.168.177.44/24"));
}

TEST_F(PortUseTest, AStrictRpFilterIsEvidenceWhereASubnetIsThereTwice) {
  Node().links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.177.44/24")};
  const auto evidence = [&] {
    const auto checks = CheckPortUse(sample_.cluster, sample_.fabric, sample_.facts);
    EXPECT_EQ(ToString(checks.front().symptom), "subnet-twice");
    return checks.front().evidence;
  };
  EXPECT_THAT(evidence(), IsEmpty());
  Node().network.rp_filter = {{"all", 0}, {kPort, 1}};
  EXPECT_THAT(evidence(), ElementsAre("rp_filter of enp1s0f1np1 is 1: what comes in over the other "
                                      "interface is dropped"));
}

TEST_F(PortUseTest, APortThatSpeaksInfiniBandFails) {
  Node().hcas.at("rocep1s0f1").link_layer = "InfiniBand";
  Node().hcas.at("rocep1s0f1").netdev.clear();
  const auto checks = CheckPortUse(sample_.cluster, sample_.fabric, sample_.facts);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks.front().outcome, Outcome::kFail);
  EXPECT_THAT(Found(), ElementsAre("infiniband-link spark-2: rocep1s0f1: InfiniBand"));
}

TEST_F(PortUseTest, AnInfiniBandDeviceIsKnownByItsPlaceWhateverItsName) {
  auto device = Node().hcas.extract("rocep1s0f1");
  device.key() = "ibp1s0f1";
  device.mapped().netdev = "ibp1s0f1";
  device.mapped().link_layer = "InfiniBand";
  device.mapped().device.slot = "0000:01:00.1";
  Node().hcas.insert(std::move(device));
  EXPECT_THAT(Found(), ElementsAre("infiniband-link spark-2: ibp1s0f1: InfiniBand"));
}

TEST_F(PortUseTest, AnAddressThatNoManagerHasIsLostAtARestart) {
  Node().links.at(kPort).manager = LinkManager::kNone;
  EXPECT_THAT(Found(), ElementsAre("address-not-kept spark-2: neither networkd nor NetworkManager "
                                   "has enp1s0f1np1"));
  Node().health.ifupdown = true;
  EXPECT_THAT(Found(), IsEmpty());
  Node().health.ifupdown = false;
  Node().network.boot_services =
      std::vector<BootService>{{.name = "cx7.service", .files = {{.netdevs = {kPort}}}}};
  EXPECT_THAT(Found(), IsEmpty());
  Node().network.boot_services = Absent{};
  Node().ledger = Ledger{.cluster = "homelab", .entries = {{.kind = "file", .name = "/etc/x"}}};
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(PortUseTest, WhereManagersWereNotReadNothingIsSaidOfARestart) {
  Node().links.at(kPort).manager = LinkManager::kNone;
  EXPECT_EQ(Found().size(), 1U);
  Node().network.managers_unclear = "grep gave no answer in 5 s";
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(PortUseTest, AProfileBelowRunIsLostAtARestart) {
  Node().links.at(kPort).manager = LinkManager::kNetworkManager;
  EXPECT_THAT(Found(), IsEmpty());
  Node().health.runtime_profiles = std::vector<RuntimeProfile>{
      {"/run/NetworkManager/system-connections/cx7.nmconnection", kPort}};
  EXPECT_THAT(Found(), ElementsAre("address-not-kept spark-2: enp1s0f1np1 is set up by "
                                   "/run/NetworkManager/system-connections/cx7.nmconnection"));
}

}  // namespace
}  // namespace reconciler
