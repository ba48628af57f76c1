#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cabling/cabled.h"

namespace reconciler {
namespace {

using test::Cabled;
using testing::ElementsAre;
using testing::IsEmpty;

Cabled OnOneSwitch(int count) {
  Cabled nodes = test::Switched(count);
  for (int a = 1; a <= count; ++a) {
    for (int b = 1; b <= count; ++b) {
      if (a != b) nodes.Hear(a, "p1", b, "p1");
    }
  }
  return nodes;
}

void Unplug(Cabled& nodes, int node, int count) {
  const std::vector<PortView*> gone = nodes.Ports(node, "p1");
  for (int other = 1; other <= count; ++other) {
    for (PortView* port : nodes.Ports(other, "p1")) {
      for (const PortView* one : gone) port->heard.erase(*one->addresses.begin());
    }
  }
  for (PortView* port : gone) *port = {PortState::kNoCarrier, port->mac, {}, {}};
}

TEST(CablingSwitchTest, CagesThatHearEachOtherAreOnTheSwitch) {
  const Cabled nodes = OnOneSwitch(3);
  EXPECT_THAT(nodes.Cables(),
              ElementsAre("confirmed spark-1 right – switch: on one network with 2 others",
                          "confirmed spark-2 right – switch: on one network with 2 others",
                          "confirmed spark-3 right – switch: on one network with 2 others"));
  EXPECT_THAT(nodes.Wrong(), IsEmpty());
}

TEST(CablingSwitchTest, AnEmptyCageIsNotKnown) {
  Cabled nodes = OnOneSwitch(3);
  Unplug(nodes, 3, 3);
  EXPECT_EQ(nodes.Cables().back(),
            "not known spark-3 right – switch: no carrier at spark-3's right cage");
  EXPECT_THAT(nodes.Wrong(), IsEmpty());
}

TEST(CablingSwitchTest, TheOtherCageOnTheSwitchIsWrong) {
  Cabled nodes = OnOneSwitch(3);
  Unplug(nodes, 3, 3);
  nodes.Plug(3, "p0", 1, "p1");
  EXPECT_EQ(nodes.Cables().back(),
            "wrong spark-3 right – switch: spark-3's left cage is on the switch instead");
  EXPECT_THAT(nodes.Wrong(), ElementsAre("the cable to the switch is in spark-3's left cage and "
                                         "belongs in its right cage"));
}

TEST(CablingSwitchTest, ACageThatReachesAnotherPortIsWrong) {
  Cabled nodes = OnOneSwitch(4);
  Unplug(nodes, 4, 4);
  nodes.Plug(4, "p1", 3, "p0");
  EXPECT_EQ(nodes.Cables().back(),
            "wrong spark-4 right – switch: spark-4's right cage finds spark-3's left cage");
  EXPECT_THAT(nodes.Wrong(), ElementsAre("spark-4's right cage should be on the switch with "
                                         "spark-1's right cage, and finds spark-3's left cage "
                                         "instead"));
}

TEST(CablingSwitchTest, TheSameSwitchByLldpIsTheSameNetwork) {
  Cabled nodes = test::Switched(2);
  for (int node : {1, 2}) {
    for (PortView* port : nodes.Ports(node, "p1")) port->state = PortState::kLink;
    nodes.views["spark-" + std::to_string(node)].lldp = {
        {"enp1s0f1np1", "crs812", "18:fd:74:00:00:01", "qsfp56-" + std::to_string(node), ""}};
  }
  EXPECT_THAT(nodes.Cables(),
              ElementsAre("confirmed spark-1 right – switch: on one network with 1 other",
                          "confirmed spark-2 right – switch: on one network with 1 other"));
}

TEST(CablingSwitchTest, AloneWithTheSwitchNothingIsKnown) {
  Cabled nodes = test::Switched(2);
  for (PortView* port : nodes.Ports(1, "p1")) port->state = PortState::kLink;
  nodes.views["spark-1"].lldp = {{"enp1s0f1np1", "crs812", "18:fd:74:00:00:01", "qsfp56-1", ""}};
  EXPECT_THAT(nodes.Cables(),
              ElementsAre("not known spark-1 right – switch: spark-1's right cage finds only "
                          "crs812 (its port qsfp56-1)",
                          "not known spark-2 right – switch: no carrier at spark-2's right cage"));
}

// Three nodes on two leaves; LLDP says where the last one is.
Cabled OnTwoLeaves(const std::string& system, const std::string& port,
                   const std::string& description = "") {
  ClusterSpec cluster = test::Cluster(Topology::kLeafSpine, test::Nodes(3), 2);
  cluster.switches = {
      {.name = "leaf-1", .ports = {{"swp1", {"spark-1", "p1"}}, {"swp3", {"spark-3", "p1"}}}},
      {.name = "leaf-2", .ports = {{"swp2", {"spark-2", "p1"}}}}};
  Cabled nodes(std::move(cluster));
  for (int a = 1; a <= 3; ++a) {
    for (int b = 1; b <= 3; ++b) {
      if (a != b) nodes.Hear(a, "p1", b, "p1");
    }
  }
  nodes.views["spark-3"].lldp = {{"enp1s0f1np1", system, "18:fd:74:00:00:01", port, description}};
  return nodes;
}

TEST(CablingSwitchTest, PortThatLldpConfirmsIsNamed) {
  for (const char* port : {"swp3", "fabric/swp3"}) {
    EXPECT_EQ(OnTwoLeaves("Leaf-1.lan", port).Cables().back(),
              "confirmed spark-3 right – switch: on one network with 2 others, in leaf-1 swp3 by "
              "LLDP");
  }
  EXPECT_EQ(OnTwoLeaves("leaf-1", "18:fd:74:00:00:07", "swp3").Cables().back(),
            "confirmed spark-3 right – switch: on one network with 2 others, in leaf-1 swp3 by "
            "LLDP");
  EXPECT_EQ(OnTwoLeaves("leaf-1", "swp3").Cables().front(),
            "confirmed spark-1 right – switch: on one network with 2 others");
}

TEST(CablingSwitchTest, ANodeOnTheWrongLeafIsWrongThoughItReachesAll) {
  const Cabled nodes = OnTwoLeaves("leaf-2", "swp4");
  EXPECT_EQ(nodes.Cables().back(),
            "wrong spark-3 right – switch: spark-3's right cage is in leaf-2 swp4");
  EXPECT_THAT(nodes.Wrong(),
              ElementsAre("spark-3's right cage is in leaf-2 swp4, the manifest has leaf-1 swp3"));
}

TEST(CablingSwitchTest, ANodeInTheWrongPortIsWrong) {
  EXPECT_THAT(OnTwoLeaves("leaf-1", "18:fd:74:00:00:07", "swp14").Wrong(),
              ElementsAre("spark-3's right cage is in leaf-1 swp14, the manifest has leaf-1 swp3"));
}

TEST(CablingSwitchTest, NamesThatTheManifestDoesNotUseProveNothing) {
  for (const auto& [system, port] :
       {std::pair("MikroTik", "swp4"), std::pair("leaf-1", "18:fd:74:00:00:07")}) {
    const Cabled nodes = OnTwoLeaves(system, port);
    EXPECT_EQ(nodes.Cables().back(),
              "confirmed spark-3 right – switch: on one network with 2 others");
    EXPECT_THAT(nodes.Wrong(), IsEmpty());
  }
}

TEST(CablingSwitchTest, OfManyTheFirstTwoAreNamed) {
  Cabled nodes = OnOneSwitch(3);
  nodes.views.erase("spark-2");
  nodes.views.erase("spark-3");
  EXPECT_THAT(nodes.Cables(),
              ElementsAre("not known spark-1 right – switch: spark-1's right cage finds only an "
                          "unknown machine (MAC 02:53:50:00:02:02) and an unknown machine (MAC "
                          "02:53:50:00:02:03) and 2 others"));
}

// Two nodes on a switch, and a cable of their own between their other cages.
Cabled PairBesideSwitch() {
  ClusterSpec cluster = test::Cluster(Topology::kSwitch, test::Nodes(2), 4);
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}}};
  return Cabled(std::move(cluster));
}

TEST(CablingSwitchTest, TheWayThroughTheSwitchIsNotThePairsCableInTheWrongCages) {
  Cabled nodes = PairBesideSwitch();
  nodes.Plug(1, "p1", 2, "p1");
  EXPECT_THAT(nodes.Cables(),
              ElementsAre("confirmed spark-1 right – switch: on one network with 1 other",
                          "confirmed spark-2 right – switch: on one network with 1 other",
                          "not known spark-1 left – spark-2 left: no carrier at spark-1's left "
                          "cage and spark-2's left cage"));
  EXPECT_THAT(nodes.Wrong(), IsEmpty());
}

TEST(CablingSwitchTest, ThePairsCableInACageOfTheSwitchIsFound) {
  Cabled nodes = PairBesideSwitch();
  nodes.Plug(1, "p1", 2, "p0");
  EXPECT_THAT(nodes.Wrong(), ElementsAre("the cable between spark-1 and spark-2 is in spark-1's "
                                         "right cage and belongs in its left cage"));
}

TEST(CablingSwitchTest, OnlyCagesOfNodesThatWereQueriedAreJudged) {
  Cabled nodes = OnOneSwitch(3);
  nodes.views.erase("spark-3");
  EXPECT_EQ(nodes.Cables().size(), 2u);
}

}  // namespace
}  // namespace reconciler
