#include "reconciler/cabling/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cabling/cabled.h"

namespace reconciler {
namespace {

using test::Cabled;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CablingTest, ACableFoundFromBothEndsIsConfirmed) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p1", 2, "p1");
  EXPECT_THAT(pair.Cables(),
              ElementsAre("confirmed spark-1 right – spark-2 right: found from both ends"));
  EXPECT_THAT(pair.Wrong(), IsEmpty());
}

TEST(CablingTest, OneEndIsEnoughWhereTheOtherIsDeaf) {
  Cabled pair = test::Pair();
  pair.Hear(1, "p1", 2, "p1");
  EXPECT_THAT(pair.Cables(), ElementsAre("confirmed spark-1 right – spark-2 right: found from "
                                         "spark-1's right cage"));
}

TEST(CablingTest, TheOtherTwinOfTheSameCageIsNoNeighbour) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p1", 2, "p1");
  const auto twins = pair.Ports(1, "p1");
  twins[0]->heard[*twins[1]->addresses.begin()] = twins[1]->mac;
  EXPECT_THAT(pair.Cables(),
              ElementsAre("confirmed spark-1 right – spark-2 right: found from both ends"));
}

TEST(CablingTest, WithoutCarrierNothingIsKnown) {
  EXPECT_THAT(test::Pair().Cables(),
              ElementsAre("not known spark-1 right – spark-2 right: no carrier at spark-1's right "
                          "cage and spark-2's right cage"));
  EXPECT_THAT(test::Pair().Wrong(), IsEmpty());
}

TEST(CablingTest, EachEndSaysWhyItSeesNoOne) {
  Cabled pair = test::Pair();
  for (PortView* port : pair.Ports(1, "p1")) port->state = PortState::kDown;
  for (PortView* port : pair.Ports(2, "p1")) port->state = PortState::kLink;
  EXPECT_THAT(pair.Cables(),
              ElementsAre("not known spark-1 right – spark-2 right: ports that are down at "
                          "spark-1's right cage, a link without IPv6 at spark-2's right cage"));
}

TEST(CablingTest, ANodeThatCannotBeQueriedMakesItsCableUnknown) {
  Cabled pair = test::Pair();
  pair.views["spark-2"] = {.failure = Error{.message = "connection refused"}};
  EXPECT_THAT(pair.Cables(), ElementsAre("not known spark-1 right – spark-2 right: no carrier at "
                                         "spark-1's right cage, spark-2 could not be queried"));
  pair.views.erase("spark-2");
  EXPECT_THAT(pair.Cables(), ElementsAre("not known spark-1 right – spark-2 right: no carrier at "
                                         "spark-1's right cage, spark-2 was not queried"));
  pair.views.clear();
  EXPECT_THAT(pair.Cables(), IsEmpty());
}

TEST(CablingTest, AStrangerMayBeANodeThatCouldNotBeQueried) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p1", 2, "p1");
  pair.views["spark-2"] = {.failure = Error{.message = "connection refused"}};
  EXPECT_THAT(pair.Wrong(), IsEmpty());
  EXPECT_THAT(pair.Cables(),
              ElementsAre("not known spark-1 right – spark-2 right: spark-1's right cage finds an "
                          "unknown machine (MAC 02:53:50:00:02:02) and an unknown machine (MAC "
                          "02:53:50:00:02:03), spark-2 could not be queried"));
}

TEST(CablingTest, AStrangerIsWrongWhereTheFarEndWouldHaveAnswered) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p1", 2, "p1");
  for (int node : {1, 2}) {
    for (PortView* port : pair.Ports(node, "p1")) port->heard = {{"fe80::9", "02:00:00:00:00:09"}};
  }
  EXPECT_THAT(pair.Wrong(),
              ElementsAre("the cable that should join spark-1's right cage and spark-2's right "
                          "cage joins spark-1's right cage and an unknown machine (MAC "
                          "02:00:00:00:00:09)"));
}

// A member of a bridge does not answer, though it may have an address; the bridge does, with its
// own MAC.
TEST(CablingTest, ABridgeOfOneOfTheNodesIsNoStranger) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p1", 2, "p1");
  for (PortView* port : pair.Ports(1, "p1")) port->heard.clear();
  for (PortView* port : pair.Ports(2, "p1")) port->heard = {{"fe80::9", "06:25:A9:8D:86:66"}};
  EXPECT_EQ(pair.Wrong().size(), 1u);
  pair.views["spark-1"].bridges = {"06:25:a9:8d:86:66"};
  EXPECT_THAT(pair.Wrong(), IsEmpty());
  EXPECT_THAT(
      pair.Cables(),
      ElementsAre("not known spark-1 right – spark-2 right: a link without an answer at spark-1's "
                  "right cage and spark-2's right cage"));
}

TEST(CablingTest, EndsThatContradictEachOtherAreReportedAndStopNothing) {
  Cabled ring = test::Ring();
  ring.Plug(2, "p0", 3, "p1");
  ring.Plug(3, "p0", 1, "p1");
  ring.Hear(1, "p0", 2, "p1");
  ring.Hear(2, "p1", 3, "p0");
  EXPECT_THAT(ring.Wrong(), IsEmpty());
  EXPECT_THAT(ring.Cables(),
              ElementsAre("not known spark-1 left – spark-2 right: the two ends contradict each "
                          "other: spark-1's left cage finds spark-2's right cage, spark-2's right "
                          "cage finds spark-3's left cage",
                          "confirmed spark-2 left – spark-3 right: found from both ends",
                          "confirmed spark-1 right – spark-3 left: found from both ends"));
}

TEST(CablingTest, ASwapWithinANodeIsOneLine) {
  Cabled ring = test::Ring();
  ring.Plug(1, "p1", 2, "p1");
  ring.Plug(2, "p0", 3, "p1");
  ring.Plug(3, "p0", 1, "p0");
  EXPECT_THAT(ring.Wrong(), ElementsAre("the cables in spark-1's left and right cage are swapped"));
  EXPECT_THAT(ring.Cables(),
              ElementsAre("wrong spark-1 left – spark-2 right: spark-1's left cage finds spark-3's "
                          "left cage, spark-2's right cage finds spark-1's right cage",
                          "confirmed spark-2 left – spark-3 right: found from both ends",
                          "wrong spark-1 right – spark-3 left: spark-1's right cage finds "
                          "spark-2's right cage, spark-3's left cage finds spark-1's left cage"));
}

TEST(CablingTest, ARingTheOtherWayRoundIsASwapOnEveryNode) {
  Cabled ring = test::Ring();
  ring.Plug(1, "p1", 2, "p0");
  ring.Plug(2, "p1", 3, "p0");
  ring.Plug(3, "p1", 1, "p0");
  EXPECT_THAT(ring.Wrong(), ElementsAre("the cables in spark-1's left and right cage are swapped",
                                        "the cables in spark-2's left and right cage are swapped",
                                        "the cables in spark-3's left and right cage are swapped"));
}

TEST(CablingTest, CrossedCablesNameWhomEachJoins) {
  ClusterSpec cluster = test::Cluster(Topology::kLinks, test::Nodes(4), 4);
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}},
                          {{"spark-3", "p0"}, {"spark-4", "p0"}}};
  Cabled four(cluster);
  four.Plug(1, "p0", 4, "p0");
  four.Plug(3, "p0", 2, "p0");
  EXPECT_THAT(four.Wrong(),
              ElementsAre("the cable that should join spark-1's left cage and spark-2's left cage "
                          "joins spark-1's left cage and spark-4's left cage",
                          "the cable that should join spark-3's left cage and spark-4's left cage "
                          "joins spark-3's left cage and spark-2's left cage"));
}

TEST(CablingTest, APlugInTheOtherCageOfItsNodeIsNamed) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p0", 2, "p1");
  EXPECT_THAT(pair.Wrong(), ElementsAre("the cable between spark-1 and spark-2 is in spark-1's "
                                        "left cage and belongs in its right cage"));
}

TEST(CablingTest, ACableInTheOtherCagesOfBothNodesIsFound) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p0", 2, "p0");
  EXPECT_THAT(pair.Wrong(), ElementsAre("the cable between spark-1 and spark-2 is in spark-1's "
                                        "left cage and belongs in its right cage",
                                        "the cable between spark-2 and spark-1 is in spark-2's "
                                        "left cage and belongs in its right cage"));
  EXPECT_THAT(pair.Cables(),
              ElementsAre("wrong spark-1 right – spark-2 right: spark-1's left cage and spark-2's "
                          "left cage are connected instead"));
}

TEST(CablingTest, ASecondCableIsNotTakenForOneWhoseCagesAreDown) {
  Cabled pair = test::Pair();
  pair.Plug(1, "p0", 2, "p0");
  for (int node : {1, 2}) {
    for (PortView* port : pair.Ports(node, "p1")) port->state = PortState::kDown;
  }
  EXPECT_THAT(pair.Wrong(), IsEmpty());
}

TEST(CablingTest, HardwareThatWeNeverSawFromBehindHasNoLeftAndRight) {
  ClusterSpec cluster = test::Cluster(Topology::kLinks, test::Nodes(3), 4);
  cluster.nodes[0].hardware = "connectx5-workstation";  // one twin per cage
  cluster.fabric.links = {{{"spark-1", "p0"}, {"spark-2", "p0"}},
                          {{"spark-1", "p1"}, {"spark-3", "p0"}}};
  Cabled three(cluster);
  three.Plug(1, "p1", 2, "p0");
  three.Plug(1, "p0", 3, "p0");
  EXPECT_THAT(three.Wrong(),
              ElementsAre("the cables in spark-1's cage p0 and cage p1 are swapped"));
  EXPECT_THAT(three.Cables().front(),
              "wrong spark-1 p0 – spark-2 left: spark-1's cage p0 finds spark-3's left cage, "
              "spark-2's left cage finds spark-1's cage p1");
}

TEST(CablingTest, ASwitchBetweenTheEndsOfACableIsReported) {
  Cabled ring = test::Ring();
  ring.Plug(1, "p0", 2, "p1");
  ring.Hear(1, "p0", 3, "p0");
  EXPECT_EQ(ring.Cables().front(),
            "confirmed spark-1 left – spark-2 right: found from both ends, among others: there is "
            "a switch between them");
}

}  // namespace
}  // namespace reconciler
