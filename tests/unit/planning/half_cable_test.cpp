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

  std::vector<std::string> Lines() const { return FindHalfCables(plan_, fabric_, facts_); }

  Plan plan_;
  Fabric fabric_;
  ClusterFacts facts_;
};

TEST_F(HalfCableTest, AnEndThatHoldsAlreadyNeedsNoChange) { EXPECT_THAT(Lines(), IsEmpty()); }

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

TEST_F(HalfCableTest, APortThatIsNotInUseYetHarmsNoOne) {
  plan_.nodes[1].unreachable = "connection refused";
  facts_.nodes["spark-1"].links["enp1s0f1np1"].ipv4.clear();
  EXPECT_THAT(Lines(), IsEmpty());
}

}  // namespace
}  // namespace reconciler
