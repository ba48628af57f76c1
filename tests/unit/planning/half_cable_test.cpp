#include "reconciler/planning/half_cable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two nodes with one cable; spark-1's port would change.
class HalfCableTest : public testing::Test {
 protected:
  HalfCableTest() {
    Segment segment;
    for (const char* name : {"spark-1", "spark-2"}) {
      segment.ports.push_back({.node = name, .netdev = "enp1s0f1np1"});
      plan_.nodes.push_back({.name = name});
      facts_.nodes[name].links["enp1s0f1np1"].ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
    }
    fabric_.segments = {segment};
    plan_.stages = {{.changes = {{.name = "enp1s0f1np1", .is_link = true, .node = "spark-1"}}}};
  }

  std::vector<std::string> Lines() const { return FindHalfCables(plan_, plan_, fabric_, facts_); }

  Plan plan_;
  Fabric fabric_;
  ClusterFacts facts_;
};

TEST_F(HalfCableTest, AnEndThatHoldsAlreadyNeedsNoChange) { EXPECT_THAT(Lines(), IsEmpty()); }

// As a saved plan does with what differs since, or what could not be read when it was made.
TEST_F(HalfCableTest, AnEndThatDiffersAndIsNotInThePlanIsLeftBehind) {
  Plan now = plan_;
  now.stages[0].changes.push_back({.name = "enp1s0f1np1", .is_link = true, .node = "spark-2"});
  EXPECT_THAT(FindHalfCables(plan_, now, fabric_, facts_),
              ElementsAre("spark-1: enp1s0f1np1 would change, and spark-2 at the other end stays "
                          "as it is: enp1s0f1np1 differs there too, and is not in the plan: make a "
                          "new one"));
  EXPECT_THAT(FindHalfCables(now, now, fabric_, facts_), IsEmpty());
}

TEST_F(HalfCableTest, AnEndThatCannotBeReadIsLeftBehind) {
  plan_.nodes[1].unreachable = "connection refused";
  EXPECT_THAT(
      Lines(),
      ElementsAre("spark-1: enp1s0f1np1 would change, and spark-2 at the other end stays as "
                  "it is: not reached: connection refused"));
}

TEST_F(HalfCableTest, AnEndOutsideThisApplyIsLeftBehind) {
  plan_.nodes.pop_back();
  EXPECT_THAT(Lines(),
              ElementsAre("spark-1: enp1s0f1np1 would change, and spark-2 at the other end stays "
                          "as it is: it is not part of this apply"));
  EXPECT_EQ(DiagnoseHalfCables(plan_, fabric_, facts_).front().code, "plan-half-cable");
}

TEST_F(HalfCableTest, AnUninstallOfOneNodeMayLeaveTheOthersWithoutIt) {
  plan_.nodes.pop_back();
  plan_.uninstall = true;
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(HalfCableTest, AnEndThatMustNotBeChangedIsLeftBehind) {
  plan_.stages[0].changes.push_back({.change = ChangeKind::kBlocked,
                                     .name = "enp1s0f1np1",
                                     .is_link = true,
                                     .node = "spark-2",
                                     .detail = "carries this session"});
  EXPECT_THAT(
      Lines(),
      ElementsAre("spark-1: enp1s0f1np1 would change, and spark-2 at the other end stays as "
                  "it is: enp1s0f1np1 is blocked: carries this session"));
}

// One end alone is of no use.
TEST_F(HalfCableTest, AnEndOfACableIsLeftBehindAlsoWhereNoAddressIsThereYet) {
  plan_.nodes.pop_back();
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4.clear();
  EXPECT_EQ(Lines().size(), 1u);
}

TEST_F(HalfCableTest, AnEndThatIsNoInterfaceHoldsUpNoOneWhereTheNodesHaveAnotherRail) {
  const auto list_joint = [&] { return ListJointCables(fabric_, facts_).size(); };
  plan_.stages[0].changes.push_back({.change = ChangeKind::kBlocked,
                                     .name = "enp1s0f1np1",
                                     .is_link = true,
                                     .node = "spark-2",
                                     .detail = "this node has no such interface"});
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4.clear();
  facts_.nodes["spark-2"].links.clear();
  facts_.nodes["spark-2"].links["enP2p1s0f1np1"] = {};
  EXPECT_EQ(Lines().size(), 1u);  // whether it is there was not read
  facts_.nodes["spark-1"].network.links = 2;
  facts_.nodes["spark-1"].links["enP2p1s0f1np1"] = {};
  facts_.nodes["spark-2"].network.links = 1;
  EXPECT_EQ(Lines().size(), 1u);  // no other rail
  EXPECT_EQ(list_joint(), 1u);
  Segment other = fabric_.segments[0];
  for (RailPort& port : other.ports) port.netdev = "enP2p1s0f1np1";
  fabric_.segments.push_back(other);
  EXPECT_THAT(Lines(), IsEmpty());
  EXPECT_EQ(list_joint(), 1u);  // the other rail
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
  EXPECT_EQ(Lines().size(), 1u);
  EXPECT_EQ(list_joint(), 2u);
}

TEST_F(HalfCableTest, APrunedPortThatIsNotInUseHarmsNoOne) {
  plan_.nodes.pop_back();
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4.clear();
  plan_.stages[0].changes[0].prune = true;
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(HalfCableTest, APortOfASwitchThatIsNotInUseYetHarmsNoOne) {
  fabric_.segments[0].ports.push_back({.node = "spark-3", .netdev = "enp1s0f1np1"});
  plan_.nodes[1].unreachable = "connection refused";
  plan_.nodes.push_back({.name = "spark-3"});
  EXPECT_EQ(Lines().size(), 1u);
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4.clear();
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(HalfCableTest, ThePlanWarnsOnceForAllNodesOfWhichTheSameHolds) {
  fabric_.segments[0].ports.push_back({.node = "spark-3", .netdev = "enp1s0f1np1"});
  facts_.nodes["spark-3"] = facts_.nodes["spark-1"];
  plan_.nodes = {{.name = "spark-1"}, {.name = "spark-3"}};
  plan_.stages[0].changes.push_back({.name = "enp1s0f1np1", .is_link = true, .node = "spark-3"});
  const std::vector<Diagnostic> found = DiagnoseHalfCables(plan_, fabric_, facts_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      FormatDiagnostic(found[0]),
      "warning: spark-1, spark-3: enp1s0f1np1 would change, and spark-2 at the other end stays "
      "as it is: it is not part of this apply [plan-half-cable]\n"
      "  next step: apply refuses this: make that node ready, name it with --node too, or "
      "give --allow-half-cables\n");
  EXPECT_EQ(Lines().size(), 2u);
}

TEST_F(HalfCableTest, PortsThatAreBlockedAreListedAndThoseThatChangeAreNot) {
  fabric_.ports["spark-1"] = {fabric_.segments[0].ports[0]};
  fabric_.ports["spark-2"] = {fabric_.segments[0].ports[1]};
  plan_.stages[0].changes.push_back(
      {.change = ChangeKind::kBlocked, .name = "enp1s0f1np1", .is_link = true, .node = "spark-2"});
  plan_.stages[0].changes.push_back(
      {.change = ChangeKind::kBlocked, .name = "enp1s0f0np0", .is_link = true, .node = "spark-2"});
  const std::vector<const Change*> blocked = ListBlockedPorts(plan_, fabric_);
  ASSERT_EQ(blocked.size(), 1u);
  EXPECT_EQ(blocked[0], &plan_.stages[0].changes[1]);
}

}  // namespace
}  // namespace reconciler
