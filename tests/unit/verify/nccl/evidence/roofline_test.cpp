#include "reconciler/verify/nccl/evidence/roofline.h"

#include <gtest/gtest.h>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

struct World {
  ClusterSpec cluster = {};
  Fabric fabric = {};
  std::vector<NodeName> ranks = {};
  RailFactsOf facts = {};
};

World Of(Topology topology, int nodes, int subnets) {
  World world;
  std::vector<NodeSpec> all;
  for (int id = 1; id <= nodes; ++id) all.push_back(test::Node(id));
  world.cluster = test::Cluster(topology, all, subnets);
  world.fabric = *ExpandFabric(world.cluster);
  for (const NodeSpec& node : world.cluster.nodes) {
    world.ranks.push_back(node.name);
    for (const RailPort& port : world.fabric.ports.at(node.name)) {
      world.facts[node.name][port.hca] = {
          .limits = {.link_mbps = 200'000, .pcie_width = 4, .pcie_max_width = 16, .pcie_gts = 32},
          .active_mtu = 4096};
    }
  }
  return world;
}

double Ring(const World& world) {
  const auto roofline = MeasuredRoofline(world.cluster, world.fabric, world.ranks, world.facts);
  return roofline ? roofline->ring : -1;
}

TEST(NcclRoofline, ReproducesWhatSparksWereMeasuredAt) {
  const World pair = Of(Topology::kDirect, 2, 2);
  EXPECT_NEAR(Ring(pair), 24.5, 0.05);  // measured 24.32
  const auto planned = PlannedRoofline(pair.cluster, pair.fabric, pair.ranks);
  EXPECT_NEAR(planned.ring, 24.5, 0.05);
  EXPECT_NEAR(planned.most, 24.5, 0.05);
  EXPECT_NEAR(Ring(Of(Topology::kSwitch, 4, 2)), 24.5, 0.05);  // 24.29
}

TEST(NcclRoofline, ARingOfThreeMayUseBothCablesOfANode) {
  const World ring = Of(Topology::kRing, 3, 6);
  const auto roofline = PlannedRoofline(ring.cluster, ring.fabric, ring.ranks);
  EXPECT_NEAR(roofline.ring, 24.5, 0.05);
  EXPECT_NEAR(roofline.most, 27.95, 0.05);  // both PCIe links
}

TEST(NcclRoofline, FollowsTheLinksAsTheyAre) {
  World world = Of(Topology::kDirect, 2, 2);
  RailFacts& rail = world.facts.at("spark-2").at("roceP2p1s0f1");
  rail.active_mtu = 1024;
  EXPECT_NEAR(Ring(world), 23.15, 0.05);  // measured with MTU 1500: 18.9 to 21
  rail.active_mtu = 4096;
  rail.limits.pcie_width = 2;  // both rails wait for the slow one
  EXPECT_NEAR(Ring(world), 13.97, 0.05);
  rail.limits.pcie_width = 4;
  rail.limits.pcie_gts = 16;
  EXPECT_NEAR(Ring(world), 13.97, 0.05);
  rail.limits.pcie_gts = 32;
  rail.limits.link_mbps = 100'000;
  EXPECT_NEAR(Ring(world), 12.25, 0.05);
}

TEST(NcclRoofline, ALinkThatTellsNothingLeavesItOpen) {
  World world = Of(Topology::kDirect, 2, 2);
  world.facts.at("spark-1").at("rocep1s0f1").limits.link_mbps = 0;
  EXPECT_EQ(Ring(world), -1);
  world.facts.erase("spark-1");
  EXPECT_EQ(Ring(world), -1);
}

TEST(SizeFactor, GrowsWithTheSizeAndSaysNothingOfSmallOnes) {
  EXPECT_EQ(SizeFactor(8), std::nullopt);
  EXPECT_EQ(SizeFactor((32u << 20) - 1), std::nullopt);
  EXPECT_DOUBLE_EQ(*SizeFactor(32u << 20), 0.65);
  EXPECT_DOUBLE_EQ(*SizeFactor(256u << 20), 0.75);
  EXPECT_DOUBLE_EQ(*SizeFactor(512u << 20), 0.775);
  EXPECT_DOUBLE_EQ(*SizeFactor(1ull << 30), 0.80);
  EXPECT_DOUBLE_EQ(*SizeFactor(16ull << 30), 0.95);
  EXPECT_DOUBLE_EQ(*SizeFactor(64ull << 30), 0.95);
  double before = 0;
  for (std::uint64_t size = 32u << 20; size <= 32ull << 30; size += 8u << 20) {
    EXPECT_GE(*SizeFactor(size), before);
    before = *SizeFactor(size);
  }
}

}  // namespace
}  // namespace reconciler
