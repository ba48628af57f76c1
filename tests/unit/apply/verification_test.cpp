#include "reconciler/apply/verification.h"

#include <gtest/gtest.h>

#include "tests/support/clusters.h"

namespace reconciler {
namespace {

class VerificationNeedTest : public testing::Test {
 protected:
  VerificationNeedTest() {
    for (const char* name : {"spark-1", "spark-2"}) {
      facts_.nodes[name] = {.node = name};
      fabric_.ports[name] = {{.node = name, .netdev = "enp1s0f1np1"}};
    }
  }

  VerificationNeed Find() const {
    return FindVerificationNeed(cluster_, fabric_, facts_, scope_, remaining_);
  }

  ClusterSpec cluster_ = test::Cluster(Topology::kDirect, {test::Node(1), test::Node(2)}, 2);
  Fabric fabric_;
  ClusterFacts facts_;
  PlanScope scope_;
  Plan remaining_;
};

TEST_F(VerificationNeedTest, AWholeClusterIsVerified) {
  EXPECT_TRUE(Find().wanted);
  EXPECT_TRUE(Find().blocked.empty());
  scope_.nodes = {"spark-1", "spark-2"};  // named, and all of them
  EXPECT_TRUE(Find().wanted);
}

TEST_F(VerificationNeedTest, APartOfTheNodesProvesNothing) {
  facts_.nodes.erase("spark-2");
  EXPECT_FALSE(Find().wanted);
}

TEST_F(VerificationNeedTest, ANodeThatCouldNotBeReadLeavesItOut) {
  facts_.unreachable["spark-2"] = {.message = "off"};
  EXPECT_FALSE(Find().wanted);
}

TEST_F(VerificationNeedTest, APartOfThePluginsProvesNothing) {
  scope_.only = {"netplan"};
  EXPECT_FALSE(Find().wanted);
}

TEST_F(VerificationNeedTest, AnUninstallLeavesNothingToVerify) {
  scope_.uninstall = true;
  EXPECT_FALSE(Find().wanted);
}

TEST_F(VerificationNeedTest, BlockedPortsOfTheFabricAreNamed) {
  remaining_.stages = {
      {.changes = {
           {.change = ChangeKind::kBlocked,
            .name = "enp1s0f1np1",
            .is_link = true,
            .node = "spark-2"},
           {.name = "enp1s0f1np1", .is_link = true, .node = "spark-1"},
           {.change = ChangeKind::kBlocked, .name = "wlan0", .is_link = true, .node = "spark-1"}}}};
  const VerificationNeed need = Find();
  EXPECT_TRUE(need.wanted);
  ASSERT_EQ(need.blocked.size(), 1u);
  EXPECT_EQ(need.blocked[0], &remaining_.stages[0].changes[0]);
}

}  // namespace
}  // namespace reconciler
