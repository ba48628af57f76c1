#include "reconciler/fabric/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/diagnose.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/fabric/flow.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/fabric/roofline.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

using test::Cluster;
using test::Node;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kRounding = 0.1;  // Gb/s

struct Scenario {
  ClusterSpec cluster;
  Fabric fabric;

  explicit Scenario(ClusterSpec spec)
      : cluster(std::move(spec)), fabric(ExpandFabric(cluster).value()) {}

  std::vector<PairReach> Reach() const { return ComputeReach(cluster, fabric); }
  std::vector<NodeName> Order() const { return OrderRing(cluster, fabric); }
};

std::vector<NodeSpec> Nodes(int count) {
  std::vector<NodeSpec> nodes;
  for (int id = 1; id <= count; ++id) nodes.push_back(Node(id));
  return nodes;
}

ClusterSpec Ring(int count) { return Cluster(Topology::kRing, Nodes(count), 2 * count); }

// Odd nodes on leaf-1, even ones on leaf-2, with `uplinks` cables from each leaf to the spine.
ClusterSpec LeafSpine(int count, int uplinks, int gbps) {
  ClusterSpec cluster = Cluster(Topology::kLeafSpine, Nodes(count), 2);
  for (int leaf = 1; leaf <= 2; ++leaf) {
    SwitchSpec one{.name = "leaf-" + std::to_string(leaf)};
    for (int id = leaf; id <= count; id += 2) {
      one.ports.push_back({"swp" + std::to_string(id), {"spark-" + std::to_string(id), "p1"}});
    }
    for (int up = 1; up <= uplinks; ++up) {
      const std::string far = "swp" + std::to_string(10 * leaf + up);
      one.uplinks.push_back({"up" + std::to_string(up), {"spine-1", far}, gbps});
    }
    cluster.switches.push_back(one);
  }
  cluster.switches.push_back({.name = "spine-1"});
  return cluster;
}

std::vector<std::string> Weak(const Scenario& scenario) {
  std::vector<std::string> lines;
  for (const WeakPoint& point : FindWeakPoints(scenario.cluster, scenario.fabric)) {
    std::string line = point.what + (point.own_cable ? " (own):" : ":");
    for (const NodeName& node : point.cut_off) line += ' ' + node;
    lines.push_back(line);
  }
  return lines;
}

TEST(Roofline, WireLosesItsHeadersAndPcieItsTransactions) {
  EXPECT_EQ(ComputeRdmaMtu(9000), 4096);
  EXPECT_EQ(ComputeRdmaMtu(4192), 4096);
  EXPECT_EQ(ComputeRdmaMtu(4191), 2048);
  EXPECT_EQ(ComputeRdmaMtu(1500), 1024);
  EXPECT_THAT(ComputeWirePayload(200, 9000), DoubleNear(196.1, kRounding));
  EXPECT_THAT(ComputeWirePayload(200, 1500), DoubleNear(185.2, kRounding));
  EXPECT_THAT(ComputePciePayload(GetDgxSpark()), DoubleNear(111.8, kRounding));
  EXPECT_THAT(ComputeBusBandwidth(196), DoubleNear(24.5, 0.01));
}

TEST(FlowNetwork, NarrowestCutBoundsTheFlowAndParallelLinesAddUp) {
  FlowNetwork net;
  const auto a = net.FindOrAddPoint("a");
  const auto b = net.FindOrAddPoint("b");
  const auto c = net.FindOrAddPoint("c");
  EXPECT_EQ(net.FindOrAddPoint("a"), a);
  net.Join(a, b, 5);
  net.Join(a, b, 3);
  net.Join(b, c, 6);
  EXPECT_EQ(net.ComputeMaxFlow(a, c), 6);
  EXPECT_EQ(net.ComputeMaxFlow(c, a), 6);  // both ways of a line count
  EXPECT_EQ(net.ComputeMaxFlow(a, b), 8);
  EXPECT_EQ(net.ComputeMaxFlow(a, net.FindOrAddPoint("alone")), 0);
}

TEST(Reach, OneTwinAloneIsBoundByItsPcieLinkAndBothByTheCable) {
  const Scenario both(Cluster(Topology::kDirect, {Node(1), Node(2)}, 2));
  ASSERT_EQ(both.Reach().size(), 1u);
  EXPECT_THAT(both.Reach()[0].rails, ElementsAre(0, 1));
  EXPECT_THAT(both.Reach()[0].gbps, DoubleNear(196.1, kRounding));

  ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1), Node(2)}, 1);
  Hardware half = GetDgxSpark();
  half.name = "half";
  for (Cage& cage : half.cages) cage.twins.resize(1);
  cluster.hardware = {half};
  cluster.nodes[1].hardware = "half";
  EXPECT_THAT(Scenario(cluster).Reach()[0].gbps, DoubleNear(111.8, kRounding));
}

TEST(Reach, SecondCableBetweenTwoNodesIsBoundByTheSharedPcieLinks) {
  ClusterSpec cluster = Cluster(Topology::kLinks, {Node(1), Node(2)}, 4);
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}},
                          {{"spark-1", "p1"}, {"spark-2", "p1"}}};
  const Scenario scenario(cluster);
  EXPECT_THAT(scenario.Reach()[0].rails, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(scenario.Reach()[0].gbps, DoubleNear(223.5, kRounding));
  ASSERT_EQ(scenario.fabric.diagnostics.size(), 1u);
  EXPECT_EQ(scenario.fabric.diagnostics[0].message,
            "the second cable between spark-1 and spark-2 gains next to nothing: the cages of "
            "spark-1 share PCIe links that carry 224 Gb/s in all, and one cable carries 196");
  EXPECT_EQ(scenario.fabric.diagnostics[0].code, "fabric-second-cable");
  EXPECT_EQ(scenario.fabric.diagnostics[0].severity, Severity::kInforms);
}

TEST(Reach, NodesAcrossARingShareNoRail) {
  ClusterSpec cluster = Ring(4);
  cluster.fabric.ring_collectives_only = true;
  const Scenario scenario(cluster);
  std::vector<std::string> strangers;
  for (const PairReach& pair : scenario.Reach()) {
    if (pair.rails.empty()) strangers.push_back(pair.a + " " + pair.b);
  }
  EXPECT_THAT(strangers, ElementsAre("spark-1 spark-3", "spark-2 spark-4"));
  EXPECT_THAT(ComputeRingPayload(scenario.Order(), scenario.Reach()), DoubleNear(196.1, kRounding));
  EXPECT_EQ(ComputeRingPayload({"spark-1", "spark-3", "spark-2", "spark-4"}, scenario.Reach()), 0);
}

TEST(OrderRing, FollowsTheCablesAndStaysOnASwitchBeforeItLeavesIt) {
  EXPECT_THAT(Scenario(Cluster(Topology::kSwitch, {Node(3), Node(1), Node(2)}, 2)).Order(),
              ElementsAre("spark-1", "spark-2", "spark-3"));
  EXPECT_THAT(Scenario(LeafSpine(4, 1, 200)).Order(),
              ElementsAre("spark-1", "spark-3", "spark-2", "spark-4"));
  ClusterSpec ring = Cluster(Topology::kLinks, Nodes(3), 6);
  ring.fabric.links = {{{"spark-1", "p0"}, {"spark-3", "p1"}},
                       {{"spark-3", "p0"}, {"spark-2", "p1"}},
                       {{"spark-2", "p0"}, {"spark-1", "p1"}}};
  EXPECT_THAT(Scenario(ring).Order(), ElementsAre("spark-1", "spark-3", "spark-2"));
}

TEST(ComputeSwitchLoads, OversubscriptionIsWhatTheCablesBetweenSwitchesCannotCarry) {
  const Scenario narrow(LeafSpine(8, 1, 200));
  const auto loads = ComputeSwitchLoads(narrow.cluster, narrow.fabric);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_TRUE(loads[0].Oversubscribed());
  EXPECT_THAT(loads[0].Ratio(), DoubleNear(4, 0.01));
  const Scenario wide(LeafSpine(8, 2, 400));
  for (const SwitchLoad& load : ComputeSwitchLoads(wide.cluster, wide.fabric)) {
    EXPECT_FALSE(load.Oversubscribed()) << load.name;
  }
  const auto said = testing::Contains(testing::Field(&Diagnostic::code, "fabric-oversubscribed"));
  EXPECT_THAT(DiagnoseFabric(narrow.cluster, narrow.fabric), said);
  EXPECT_THAT(DiagnoseFabric(wide.cluster, wide.fabric), testing::Not(said));
}

// Switches in a row, `nodes` on each, and a cable of 200 Gb/s between neighbours.
ClusterSpec SwitchesInARow(int switches, int nodes) {
  ClusterSpec cluster = Cluster(Topology::kLeafSpine, Nodes(switches * nodes), 2);
  for (int number = 1; number <= switches; ++number) {
    SwitchSpec one{.name = "switch-" + std::to_string(number)};
    for (int id = (number - 1) * nodes + 1; id <= number * nodes; ++id) {
      one.ports.push_back({"swp" + std::to_string(id), {"spark-" + std::to_string(id), "p1"}});
    }
    if (number < switches) {
      one.uplinks.push_back({"up", {"switch-" + std::to_string(number + 1), "down"}});
    }
    cluster.switches.push_back(one);
  }
  return cluster;
}

double AllToAll(const ClusterSpec& cluster) {
  const Scenario scenario(cluster);
  return ComputeAllToAllPayload(scenario.cluster, scenario.fabric, scenario.Order());
}

TEST(ComputeAllToAllPayload, IsTheRingsWhereNoCableIsSharedByPairs) {
  EXPECT_THAT(AllToAll(Cluster(Topology::kDirect, Nodes(2), 2)), DoubleNear(196.1, kRounding));
  EXPECT_THAT(AllToAll(Cluster(Topology::kSwitch, Nodes(8), 2)), DoubleNear(196.1, kRounding));
  EXPECT_THAT(AllToAll(Ring(3)), DoubleNear(196.1, kRounding));
  EXPECT_THAT(AllToAll(LeafSpine(8, 2, 400)), DoubleNear(196.1, kRounding));
  EXPECT_THAT(AllToAll(SwitchesInARow(2, 1)), DoubleNear(196.1, kRounding));
}

// a nodes beside b others: a × b of the pairs go through, each with 1/(a + b - 1) of what a node
// sends.
TEST(ComputeAllToAllPayload, IsBoundByTheCablesBetweenSwitchesAtTheirNarrowestPlace) {
  EXPECT_THAT(AllToAll(SwitchesInARow(2, 2)), DoubleNear(196.1 * 3 / 4, kRounding));
  EXPECT_THAT(AllToAll(SwitchesInARow(2, 4)), DoubleNear(196.1 * 7 / 16, kRounding));
  EXPECT_THAT(AllToAll(LeafSpine(8, 1, 200)), DoubleNear(196.1 * 7 / 16, kRounding));
  // In the middle of the row, and not before one switch: 4 × 4 pairs and not 2 × 6.
  EXPECT_THAT(AllToAll(SwitchesInARow(4, 2)), DoubleNear(196.1 * 7 / 16, kRounding));
}

TEST(ComputeAllToAllPayload, OfVeryManySwitchesEachIsHeldAgainstTheOthers) {
  ClusterSpec cluster = Cluster(Topology::kLeafSpine, Nodes(40), 2);
  for (int leaf = 1; leaf <= 20; ++leaf) {
    SwitchSpec one{.name = "leaf-" + std::to_string(leaf)};
    for (const int id : {2 * leaf - 1, 2 * leaf}) {
      one.ports.push_back({"swp" + std::to_string(id), {"spark-" + std::to_string(id), "p1"}});
    }
    one.uplinks.push_back({"up", {"spine-1", "swp" + std::to_string(leaf)}});
    cluster.switches.push_back(one);
  }
  cluster.switches.push_back({.name = "spine-1"});
  EXPECT_THAT(AllToAll(cluster), DoubleNear(196.1 * 39 / (2 * 38), kRounding));
}

TEST(FindWeakPoints, AreTheSwitchesAndCablesWithoutWhichNodesAreAlone) {
  EXPECT_THAT(Weak(Scenario(Cluster(Topology::kDirect, {Node(1), Node(2)}, 2))),
              ElementsAre("cable spark-1.p1–spark-2.p1: spark-1 spark-2"));
  EXPECT_THAT(
      Weak(Scenario(LeafSpine(4, 2, 400))),
      ElementsAre("cable spark-1.p1–leaf-1.swp1 (own): spark-1",
                  "cable spark-2.p1–leaf-2.swp2 (own): spark-2",
                  "cable spark-3.p1–leaf-1.swp3 (own): spark-3",
                  "cable spark-4.p1–leaf-2.swp4 (own): spark-4", "switch leaf-1: spark-1 spark-3",
                  "switch leaf-2: spark-2 spark-4", "switch spine-1: spark-2 spark-4"));
}

TEST(FindWeakPoints, PairCableBesideASwitchKeepsItsPairTogether) {
  ClusterSpec cluster = Cluster(Topology::kSwitch, {Node(1), Node(2)}, 4);
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}}};
  EXPECT_THAT(Weak(Scenario(cluster)), IsEmpty());
}

TEST(ListCollectivePorts, AreThoseThatReachEveryNodeOrElseAll) {
  ClusterSpec beside = Cluster(Topology::kSwitch, Nodes(3), 4);
  beside.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}}};
  const Scenario with_cable(beside);
  EXPECT_EQ(with_cable.fabric.ports.at("spark-1").size(), 4u);
  for (const RailPort& port : ListCollectivePorts(with_cable.fabric, "spark-1")) {
    EXPECT_EQ(port.cage, "p1");
  }
  EXPECT_FALSE(CagesDiffer(with_cable.fabric));
  EXPECT_FALSE(UsesTwoCages(with_cable.fabric));
  const Scenario ring(Ring(3));
  EXPECT_EQ(ListCollectivePorts(ring.fabric, "spark-1").size(), 4u);
  EXPECT_TRUE(CagesDiffer(ring.fabric));
  EXPECT_TRUE(UsesTwoCages(ring.fabric));
  EXPECT_THAT(ListCollectivePorts(ring.fabric, "nobody"), IsEmpty());
}

}  // namespace
}  // namespace reconciler
