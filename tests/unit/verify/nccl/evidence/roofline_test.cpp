#include "reconciler/verify/nccl/evidence/roofline.h"

#include <gtest/gtest.h>

#include <limits>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

struct Scenario {
  ClusterSpec cluster = {};
  Fabric fabric = {};
  std::vector<NodeName> ranks = {};
  RailFactsByNode facts = {};
};

Scenario MakeScenario(Topology topology, int nodes, int subnets) {
  Scenario scenario;
  std::vector<NodeSpec> all;
  for (int id = 1; id <= nodes; ++id) all.push_back(test::Node(id));
  scenario.cluster = test::Cluster(topology, all, subnets);
  scenario.fabric = *ExpandFabric(scenario.cluster);
  for (const NodeSpec& node : scenario.cluster.nodes) {
    scenario.ranks.push_back(node.name);
    for (const RailPort& port : scenario.fabric.ports.at(node.name)) {
      scenario.facts[node.name][port.hca] = {
          .limits = {.link_mbps = 200'000, .pcie_width = 4, .pcie_max_width = 16, .pcie_gts = 32},
          .active_mtu = 4096};
    }
  }
  return scenario;
}

double Ring(const Scenario& scenario) {
  const auto roofline =
      ComputeMeasuredRoofline(scenario.cluster, scenario.fabric, scenario.ranks, scenario.facts);
  return roofline ? roofline->ring : -1;
}

TEST(NcclRoofline, ReproducesWhatSparksWereMeasuredAt) {
  const Scenario pair = MakeScenario(Topology::kDirect, 2, 2);
  EXPECT_NEAR(Ring(pair), 24.5, 0.05);  // measured 24.32
  const auto planned = ComputePlannedRoofline(pair.cluster, pair.fabric, pair.ranks);
  EXPECT_NEAR(planned.ring, 24.5, 0.05);
  EXPECT_NEAR(planned.most, 24.5, 0.05);
  EXPECT_NEAR(Ring(MakeScenario(Topology::kSwitch, 4, 2)), 24.5, 0.05);  // 24.29
}

TEST(NcclRoofline, ARingOfThreeMayUseBothCablesOfANode) {
  const Scenario ring = MakeScenario(Topology::kRing, 3, 6);
  const auto roofline = ComputePlannedRoofline(ring.cluster, ring.fabric, ring.ranks);
  EXPECT_NEAR(roofline.ring, 24.5, 0.05);
  EXPECT_NEAR(roofline.most, 27.95, 0.05);  // both PCIe links
}

TEST(NcclRoofline, FollowsTheLinksAsTheyAre) {
  Scenario scenario = MakeScenario(Topology::kDirect, 2, 2);
  RailFacts& rail = scenario.facts.at("spark-2").at("roceP2p1s0f1");
  rail.active_mtu = 1024;
  EXPECT_NEAR(Ring(scenario), 23.15, 0.05);  // measured with MTU 1500: 18.9 to 21
  rail.active_mtu = std::numeric_limits<int>::max();
  EXPECT_NEAR(Ring(scenario), 24.5, 0.05);
  rail.active_mtu = 4096;
  rail.limits.pcie_width = 2;  // both rails wait for the slow one
  EXPECT_NEAR(Ring(scenario), 13.97, 0.05);
  rail.limits.pcie_width = 4;
  rail.limits.pcie_gts = 16;
  EXPECT_NEAR(Ring(scenario), 13.97, 0.05);
  rail.limits.pcie_gts = 32;
  rail.limits.link_mbps = 100'000;
  EXPECT_NEAR(Ring(scenario), 12.25, 0.05);
}

TEST(NcclRoofline, ALinkThatSaysNothingLeavesItOpen) {
  Scenario scenario = MakeScenario(Topology::kDirect, 2, 2);
  scenario.facts.at("spark-1").at("rocep1s0f1").limits.link_mbps = 0;
  EXPECT_EQ(Ring(scenario), -1);
  scenario.facts.erase("spark-1");
  EXPECT_EQ(Ring(scenario), -1);
}

TEST(FindSizeFactor, GrowsWithTheSizeAndSaysNothingOfSmallOnes) {
  EXPECT_EQ(FindSizeFactor(8), std::nullopt);
  EXPECT_EQ(FindSizeFactor((32u << 20) - 1), std::nullopt);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(32u << 20), 0.65);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(256u << 20), 0.75);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(512u << 20), 0.775);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(1ull << 30), 0.80);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(16ull << 30), 0.95);
  EXPECT_DOUBLE_EQ(*FindSizeFactor(64ull << 30), 0.95);
  double before = 0;
  for (std::uint64_t size = 32u << 20; size <= 32ull << 30; size += 8u << 20) {
    EXPECT_GE(*FindSizeFactor(size), before);
    before = *FindSizeFactor(size);
  }
}

}  // namespace
}  // namespace reconciler
