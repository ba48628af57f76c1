#include "reconciler/verify/links/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

NodeProbes MakeProbes(const Sample& sample, std::size_t node, VerifyLevel up_to) {
  return ListProbes(sample.cluster, sample.fabric, sample.cluster.nodes[node], up_to);
}

std::vector<std::string> Hosts(const NodeProbes& probes) {
  std::vector<std::string> hosts;
  for (const SshProbe& login : probes.logins) hosts.push_back(login.host);
  return hosts;
}

TEST(Probes, EveryPeerOnEveryRail) {
  const NodeProbes probes = MakeProbes(OnSwitch(3), 1, VerifyLevel::kSsh);
  std::vector<std::string> pings;
  for (const PingProbe& ping : probes.pings) {
    pings.push_back(fmt::format("{} {} {} {}", ping.to, ping.netdev, ping.address, ping.mtu));
  }
  EXPECT_THAT(pings, ElementsAre("spark-1 enp1s0f1np1 192.168.177.1 9000",
                                 "spark-1 enP2p1s0f1np1 192.168.178.1 9000",
                                 "spark-3 enp1s0f1np1 192.168.177.3 9000",
                                 "spark-3 enP2p1s0f1np1 192.168.178.3 9000"));
  EXPECT_THAT(Hosts(probes),
              ElementsAre("192.168.177.1", "spark-1-rail1", "spark-3-rail0", "192.168.178.3"));
}

TEST(Probes, MacsOfThePeersAreThoseThatWereRead) {
  Sample sample = OnSwitch(2);
  sample.Link(2, 1).mac = "4C:BB:47:00:00:02";
  const NodeProbes probes = ListProbes(sample.cluster, sample.fabric, sample.cluster.nodes[0],
                                       VerifyLevel::kPing, sample.facts);
  EXPECT_EQ(probes.pings.at(0).mac, "");
  EXPECT_EQ(probes.pings.at(1).mac, "4c:bb:47:00:00:02");
  ASSERT_EQ(probes.ports_by_mac.size(), 1u);
  EXPECT_EQ(probes.ports_by_mac.at("4c:bb:47:00:00:02").node, "spark-2");
  EXPECT_EQ(probes.ports_by_mac.at("4c:bb:47:00:00:02").netdev, "enP2p1s0f1np1");
}

// What one direction does not try, the other one does.
TEST(Probes, EachNetworkIsTriedByNameAndByAddress) {
  Sample sample = OnSwitch(2);
  for (NodeSpec& node : sample.cluster.nodes) {
    node.address = fmt::format("192.168.1.2{}", node.id);
  }
  EXPECT_THAT(Hosts(MakeProbes(sample, 0, VerifyLevel::kSsh)),
              ElementsAre("spark-2-rail0", "192.168.178.2", "spark-2"));
  EXPECT_THAT(Hosts(MakeProbes(sample, 1, VerifyLevel::kSsh)),
              ElementsAre("192.168.177.1", "spark-1-rail1", "192.168.1.21"));
}

Value Array(Value one) {
  Value value;
  value.data = std::vector<Value>{std::move(one)};
  return value;
}

// The manifest's nodes with an alias of spark-2.
Sample WithAlias(Sample sample) {
  Value node = Map({Entry("name", Text("spark-2")), Entry("aliases", Array(Text("dgx-b")))});
  std::vector<Member> settings = sample.cluster.settings.Members();
  settings.push_back(Entry("nodes", Array(std::move(node))));
  sample.cluster.settings = Map(std::move(settings));
  return sample;
}

TEST(Probes, AnAliasStandsForTheNameOnTheFirstRail) {
  const Sample sample = WithAlias(OnSwitch(2));
  EXPECT_THAT(Hosts(MakeProbes(sample, 0, VerifyLevel::kSsh)),
              ElementsAre("dgx-b", "192.168.178.2"));
  EXPECT_THAT(Hosts(MakeProbes(sample, 1, VerifyLevel::kSsh)),
              ElementsAre("192.168.177.1", "spark-1-rail1"));
}

std::vector<std::string> Names(const NodeProbes& probes) {
  std::vector<std::string> names;
  for (const NameProbe& name : probes.names) names.push_back(name.name + ' ' + name.address);
  return names;
}

TEST(Probes, EveryNameOfAPeerIsLookedUp) {
  const Sample sample = WithAlias(OnSwitch(2));
  EXPECT_THAT(Names(MakeProbes(sample, 0, VerifyLevel::kPing)),
              ElementsAre("spark-2-rail0 192.168.177.2", "spark-2-rail1 192.168.178.2",
                          "dgx-b 192.168.177.2"));
  EXPECT_THAT(Names(MakeProbes(sample, 0, VerifyLevel::kFacts)), ElementsAre());
}

TEST(Probes, AnAliasOfANodeWithoutACommonRailIsItsManagementAddress) {
  Sample sample = WithAlias(OnSwitch(2));
  sample.fabric.segments.clear();
  sample.cluster.nodes[1].address = "192.168.1.22";
  EXPECT_THAT(Names(MakeProbes(sample, 0, VerifyLevel::kPing)), ElementsAre("dgx-b 192.168.1.22"));
  EXPECT_THAT(Hosts(MakeProbes(sample, 0, VerifyLevel::kSsh)), ElementsAre("dgx-b"));
  sample.cluster.nodes[1].address = "spark-2.lan";
  EXPECT_THAT(Names(MakeProbes(sample, 0, VerifyLevel::kPing)), ElementsAre());
}

TEST(Probes, NoNameIsLookedUpThatTheManifestDoesNotManage) {
  Sample sample = OnSwitch(2);
  std::vector<Member> settings = sample.cluster.settings.Members();
  Value no;
  no.data = false;
  settings.push_back(Entry("hosts", Map({Entry("manage", no)})));
  sample.cluster.settings = Map(std::move(settings));
  EXPECT_THAT(Names(MakeProbes(sample, 0, VerifyLevel::kPing)), ElementsAre());
}

// It may be an alias of the controller's ssh, or this machine.
TEST(Probes, ManagementIsTriedWhereItsAddressIsOneOfTheNetwork) {
  Sample sample = OnSwitch(2);
  for (const char* address : {"spark-2.lan", "127.0.0.1"}) {
    sample.cluster.nodes[1].address = address;
    EXPECT_THAT(Hosts(MakeProbes(sample, 0, VerifyLevel::kSsh)),
                ElementsAre("spark-2-rail0", "192.168.178.2"));
  }
}

TEST(Probes, EachNodeBeginsWithTheOneAfterIt) {
  const Sample sample = OnSwitch(3);
  std::vector<std::size_t> first;
  for (std::size_t node = 0; node < 3; ++node)
    first.push_back(MakeProbes(sample, node, VerifyLevel::kSsh).first_ping);
  EXPECT_THAT(first, ElementsAre(0, 2, 4));  // 4: past the last, which is the first again
}

TEST(Probes, OnlyNodesOnTheSameSegmentMeet) {
  EXPECT_THAT(Hosts(MakeProbes(Ring(), 0, VerifyLevel::kSsh)),
              ElementsAre("spark-2-rail0", "192.168.178.2", "spark-3-rail4", "192.168.182.3"));
}

TEST(Probes, ALowerLevelLeavesOutWhatIsAbove) {
  EXPECT_TRUE(MakeProbes(OnSwitch(2), 0, VerifyLevel::kFacts).pings.empty());
  EXPECT_EQ(MakeProbes(OnSwitch(2), 0, VerifyLevel::kPing).pings.size(), 2u);
  EXPECT_TRUE(MakeProbes(OnSwitch(2), 0, VerifyLevel::kPing).logins.empty());
}

TEST(Probes, NoMeshNoLogins) {
  Sample sample = OnSwitch(2);
  sample.cluster.settings = Settings(Text("unlimited"), false);
  EXPECT_TRUE(MakeProbes(sample, 0, VerifyLevel::kSsh).logins.empty());
  sample.cluster.settings = {};
  EXPECT_TRUE(MakeProbes(sample, 0, VerifyLevel::kSsh).logins.empty());
}

TEST(Probes, TheMeshUserIsTheSectionsOrTheAccessUser) {
  Sample sample = OnSwitch(2);
  EXPECT_EQ(MakeProbes(sample, 0, VerifyLevel::kSsh).user, "nvidia");
  sample.cluster.settings = Map({Entry("ssh", Map({Entry("user", Text("mesh"))}))});
  EXPECT_EQ(MakeProbes(sample, 0, VerifyLevel::kSsh).user, "mesh");
  sample.cluster.settings = Map({Entry("ssh", Map({Entry("user", Text(""))}))});
  EXPECT_EQ(MakeProbes(sample, 0, VerifyLevel::kSsh).user, "nvidia");
}

std::vector<std::string> ListPingAddresses(const NodeProbes& probes) {
  std::vector<std::string> addresses;
  for (const PingProbe& ping : probes.pings) addresses.push_back(ping.address);
  return addresses;
}

TEST(Probes, TheNeighbourOnALinkLocalRailIsReachedByItsIpv6Address) {
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 1);
  EXPECT_THAT(ListPingAddresses(ListProbes(sample.cluster, sample.fabric, sample.cluster.nodes[0],
                                           VerifyLevel::kPing, sample.facts)),
              ElementsAre("192.168.177.2", "fe80::2%enP2p1s0f1np1"));
  EXPECT_THAT(ListPingAddresses(MakeProbes(sample, 0, VerifyLevel::kPing)),
              ElementsAre("192.168.177.2", "ff02::1%enP2p1s0f1np1"));
}

TEST(Probes, NoLoginGoesOverALinkLocalRail) {
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 1);
  EXPECT_THAT(Hosts(MakeProbes(sample, 0, VerifyLevel::kSsh)), ElementsAre("spark-2-rail0"));
}

}  // namespace
}  // namespace reconciler
