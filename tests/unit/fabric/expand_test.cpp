#include "reconciler/fabric/expand.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/link_local.h"
#include "tests/support/clusters.h"
#include "tests/support/link_local.h"

namespace reconciler {
namespace {

using test::Cluster;
using test::Node;
using testing::ElementsAre;
using testing::IsEmpty;

Fabric Expanded(const ClusterSpec& cluster) {
  auto fabric = ExpandFabric(cluster);
  if (!fabric) ADD_FAILURE() << FormatErrors(fabric.error());
  return fabric ? *std::move(fabric) : Fabric{};
}

// One line per port of the node, by rail: "0 p1/0 enp1s0f1np1 rocep1s0f1 10.0.0.1/24".
std::vector<std::string> Ports(const Fabric& fabric, const NodeName& node) {
  std::vector<std::string> lines;
  for (const RailPort& port : fabric.ports.at(node)) {
    lines.push_back(fmt::format("{} {}/{} {} {} {}", port.rail, port.cage, port.twin, port.netdev,
                                port.hca, ToString(port.address)));
  }
  return lines;
}

std::vector<std::string> NodesOn(const Segment& segment) {
  std::vector<std::string> nodes;
  for (const RailPort& port : segment.ports) nodes.push_back(port.node);
  return nodes;
}

ClusterSpec Ring() { return Cluster(Topology::kRing, {Node(1), Node(2), Node(3)}, 6); }

TEST(ExpandFabric, ADirectCableIsOneRailPerTwin) {
  ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1), Node(2)}, 2);
  cluster.fabric.mtu = 1500;
  const Fabric fabric = Expanded(cluster);
  EXPECT_EQ(fabric.summary, "one cable p1–p1");
  EXPECT_THAT(Ports(fabric, "spark-1"),
              ElementsAre("0 p1/0 enp1s0f1np1 rocep1s0f1 10.0.0.1/24",
                          "1 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.1.1/24"));
  EXPECT_THAT(Ports(fabric, "spark-2"),
              ElementsAre("0 p1/0 enp1s0f1np1 rocep1s0f1 10.0.0.2/24",
                          "1 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.1.2/24"));
  EXPECT_EQ(fabric.segments[1].ports[0].mtu, 1500);
  EXPECT_EQ(fabric.segments[1].ports[0].position, (Position{2, 1}));
  EXPECT_EQ(ToString(fabric.segments[1].subnet), "10.0.1.0/24");
}

TEST(ExpandFabric, NodesMayUseDifferentCages) {
  const Fabric fabric = Expanded(Cluster(Topology::kDirect, {Node(2, "p1"), Node(1, "p0")}, 2));
  EXPECT_EQ(fabric.summary, "one cable p0–p1");  // by id
  EXPECT_EQ(fabric.ports.at("spark-1")[0].netdev, "enp1s0f0np0");
  EXPECT_EQ(fabric.ports.at("spark-2")[0].netdev, "enp1s0f1np1");
}

TEST(ExpandFabric, ASwitchJoinsAllNodesInTheManifestsOrder) {
  const Fabric fabric = Expanded(Cluster(Topology::kSwitch, {Node(3), Node(1), Node(8)}, 2));
  EXPECT_EQ(fabric.summary, "3 nodes on a switch");
  ASSERT_EQ(fabric.segments.size(), 2u);
  EXPECT_EQ(fabric.segments[1].rail, 1);
  EXPECT_THAT(NodesOn(fabric.segments[1]), ElementsAre("spark-3", "spark-1", "spark-8"));
  EXPECT_EQ(ToString(fabric.segments[1].ports[2].address), "10.0.1.8/24");
}

TEST(ExpandFabric, ARingGoesFromP0ToTheNextNodesP1) {
  const Fabric fabric = Expanded(Ring());
  EXPECT_EQ(fabric.summary, "3 cables in a ring");
  EXPECT_THAT(Ports(fabric, "spark-1"),
              ElementsAre("0 p0/0 enp1s0f0np0 rocep1s0f0 10.0.0.1/24",
                          "1 p0/1 enP2p1s0f0np0 roceP2p1s0f0 10.0.1.1/24",
                          "4 p1/0 enp1s0f1np1 rocep1s0f1 10.0.4.1/24",
                          "5 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.5.1/24"));
  EXPECT_THAT(Ports(fabric, "spark-2"),
              ElementsAre("0 p1/0 enp1s0f1np1 rocep1s0f1 10.0.0.2/24",
                          "1 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.1.2/24",
                          "2 p0/0 enp1s0f0np0 rocep1s0f0 10.0.2.2/24",
                          "3 p0/1 enP2p1s0f0np0 roceP2p1s0f0 10.0.3.2/24"));
  EXPECT_THAT(Ports(fabric, "spark-3"),
              ElementsAre("2 p1/0 enp1s0f1np1 rocep1s0f1 10.0.2.3/24",
                          "3 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.3.3/24",
                          "4 p0/0 enp1s0f0np0 rocep1s0f0 10.0.4.3/24",
                          "5 p0/1 enP2p1s0f0np0 roceP2p1s0f0 10.0.5.3/24"));
  for (const auto& [node, netdevs] : fabric.unused_netdevs) EXPECT_THAT(netdevs, IsEmpty()) << node;
}

TEST(ExpandFabric, LinksAreCablesInTheOrderGiven) {
  ClusterSpec cluster = Cluster(Topology::kLinks, {Node(1), Node(2), Node(3)}, 4);
  cluster.fabric.links = {{{"spark-3", "p0"}, {"spark-2", "p1"}},
                          {{"spark-1", "p1"}, {"spark-2", "p0"}}};
  const Fabric fabric = Expanded(cluster);
  EXPECT_EQ(fabric.summary, "2 cables");
  EXPECT_THAT(NodesOn(fabric.segments[0]), ElementsAre("spark-2", "spark-3"));
  EXPECT_THAT(NodesOn(fabric.segments[3]), ElementsAre("spark-1", "spark-2"));
  EXPECT_THAT(Ports(fabric, "spark-1"),
              ElementsAre("2 p1/0 enp1s0f1np1 rocep1s0f1 10.0.2.1/24",
                          "3 p1/1 enP2p1s0f1np1 roceP2p1s0f1 10.0.3.1/24"));
  EXPECT_THAT(fabric.unused_netdevs.at("spark-1"), ElementsAre("enp1s0f0np0", "enP2p1s0f0np0"));
  EXPECT_THAT(fabric.unused_netdevs.at("spark-2"), IsEmpty());
  EXPECT_THAT(fabric.unused_netdevs.at("spark-3"), ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
}

TEST(ExpandFabric, PairCablesBesideASwitchTakeTheLaterSubnets) {
  ClusterSpec cluster = Cluster(Topology::kSwitch, {Node(1), Node(2), Node(3)}, 4);
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}}};
  const Fabric fabric = Expanded(cluster);
  EXPECT_EQ(fabric.summary, "3 nodes on a switch, 1 cable beside it");
  EXPECT_THAT(NodesOn(fabric.segments[0]), ElementsAre("spark-1", "spark-2", "spark-3"));
  EXPECT_THAT(NodesOn(fabric.segments[2]), ElementsAre("spark-1", "spark-2"));
  EXPECT_EQ(ToString(fabric.ports.at("spark-2")[3].address), "10.0.3.2/24");
}

TEST(ExpandFabric, HostNumbersGoBeyondOneByteInLargerSubnets) {
  ClusterSpec cluster = Cluster(Topology::kSwitch, {Node(1), Node(300)}, 2);
  cluster.fabric.subnets = {{{0x0A000000}, 16}, {{0x0A010000}, 16}};
  EXPECT_EQ(ToString(Expanded(cluster).ports.at("spark-300")[1].address), "10.1.1.44/16");
}

TEST(ExpandFabric, ASpecThatWasNotCheckedGivesErrorsAndNoAddresses) {
  const auto too_few = ExpandFabric(Cluster(Topology::kRing, {Node(1), Node(2), Node(3)}, 5));
  ASSERT_FALSE(too_few);
  EXPECT_EQ(FormatErrors(too_few.error()),
            ": wanted nodes and 6 subnets for topology ring, found 3 nodes and 5 subnets\n");
  const auto no_fit = ExpandFabric(Cluster(Topology::kDirect, {Node(1), Node(255)}, 2));
  ASSERT_FALSE(no_fit);
  EXPECT_EQ(no_fit.error()[0].message,
            "wanted a host number of 10.0.0.0/24 for node 'spark-255', found id 255");
  const auto no_cage = ExpandFabric(Cluster(Topology::kDirect, {Node(1), Node(2, "p2")}, 2));
  ASSERT_FALSE(no_cage);
  EXPECT_EQ(no_cage.error()[0].message,
            "wanted a cage of hardware dgx-spark for node 'spark-2', found 'p2'");
}

TEST(ExpandFabric, TheLastRailOfAPairCanHaveLinkLocalAddresses) {
  ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1), Node(2)}, 1);
  cluster.settings = test::LinkLocalSettings({7, 3});
  const Fabric fabric = Expanded(cluster);
  EXPECT_THAT(Ports(fabric, "spark-2"),
              ElementsAre("0 p1/0 enp1s0f1np1 rocep1s0f1 10.0.0.2/24",
                          "1 p1/1 enP2p1s0f1np1 roceP2p1s0f1 169.254.0.0/16"));
  EXPECT_FALSE(IsLinkLocal(fabric.segments[0]));
  EXPECT_TRUE(IsLinkLocal(fabric.segments[1]));
  EXPECT_EQ(fabric.segments[1].ports[1].position, (Position{7, 3}));
}

TEST(ExpandFabric, APairWithOneTwinOfEachCageCanBeLinkLocalAlone) {
  ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1), Node(2)}, 0);
  cluster.settings = test::LinkLocalSettings();
  cluster.fabric.twins = Twins::kFirst;
  EXPECT_THAT(Ports(Expanded(cluster), "spark-1"),
              ElementsAre("0 p1/0 enp1s0f1np1 rocep1s0f1 169.254.0.0/16"));
}

TEST(ExpandFabric, LinkLocalAddressesAreRefusedOnMoreThanOneCable) {
  ClusterSpec cluster = Cluster(Topology::kSwitch, {Node(1), Node(2)}, 1);
  cluster.settings = test::LinkLocalSettings();
  const auto fabric = ExpandFabric(cluster);
  ASSERT_FALSE(fabric);
  EXPECT_EQ(fabric.error().front().message,
            "wanted topology direct for link-local addresses, found switch");
}

}  // namespace
}  // namespace reconciler
