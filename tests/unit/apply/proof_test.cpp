#include "reconciler/apply/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"
#include "tests/support/fake_transport.h"
#include "tests/support/link_local.h"

namespace reconciler {
namespace {

FakeNode Says(const std::string& lines) {
  return {.shell = [lines](const std::string&) { return ScriptReply{.out = lines}; }};
}

TEST(ProbePairs, ANodeMayBeCalledAsAWordOfTheAnswer) {
  std::vector<NodeSpec> nodes = {test::Node(1), test::Node(2)};
  nodes[0].name = "dark";
  nodes[1].name = "port";
  const ClusterSpec cluster = test::Cluster(Topology::kDirect, nodes, 2);
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric);
  FakeNetwork network(
      {{"dark", Says("port 0 silent\nport 1 answers\n")}, {"port", Says("dark 1\n")}});
  NodePool pool(network.Dialer());
  const Pairs pairs =
      ProbePairs(*fabric, {&cluster.nodes[0], &cluster.nodes[1]}, pool, Moment::kBeforeChange);
  EXPECT_EQ(pairs.at({"dark", "port", 0}), PairState::kSilent);
  EXPECT_EQ(pairs.at({"dark", "port", 1}), PairState::kNoCarrier);
}

TEST(ProbePairs, ALinkLocalRailNamesNoAddress) {
  ClusterSpec cluster = test::Cluster(Topology::kDirect, {test::Node(1), test::Node(2)}, 1);
  cluster.settings = test::LinkLocalSettings();
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric);
  FakeNetwork network(
      {{"spark-1", Says("spark-2 0 answers\nspark-2 1 small-only\n")}, {"spark-2", Says("")}});
  NodePool pool(network.Dialer());
  const Pairs pairs =
      ProbePairs(*fabric, {&cluster.nodes[0], &cluster.nodes[1]}, pool, Moment::kAfterChange);
  EXPECT_EQ(pairs.at({"spark-1", "spark-2", 0}), PairState::kAnswers);
  EXPECT_EQ(pairs.at({"spark-1", "spark-2", 1}), PairState::kSmallOnly);
  const std::string script = network.ListScripts("spark-1").front();
  EXPECT_THAT(script, testing::HasSubstr("\nsettle 'enp1s0f1np1' 10.0.0.1/\n"
                                         "pair 'spark-2' 0 'enp1s0f1np1' 10.0.0.2 8972 &\n"));
  EXPECT_THAT(script, testing::HasSubstr("\nsettle 'enP2p1s0f1np1' 169.254.\n"
                                         "neighbour 'spark-2' 1 'enP2p1s0f1np1' 8952 &\n"));
}

// Three nodes on a switch, of which the plan sets the first and the second.
class UnprovenPairsTest : public testing::Test {
 protected:
  UnprovenPairsTest()
      : fabric_(*ExpandFabric(
            test::Cluster(Topology::kSwitch, {test::Node(1), test::Node(2), test::Node(3)}, 2))) {
    plan_.stages = {{.changes = {Port("spark-1"), Port("spark-2")}}};
    after_ = {{{"spark-1", "spark-2", 0}, PairState::kAnswers},
              {{"spark-1", "spark-3", 0}, PairState::kSilent},
              {{"spark-2", "spark-3", 0}, PairState::kSilent}};
    before_ = after_;
    before_[{"spark-1", "spark-2", 0}] = PairState::kSilent;
  }

  static Change Port(const NodeName& node, const std::string& netdev = "enp1s0f1np1") {
    return {
        .kind = "link", .name = netdev, .is_link = true, .node = node, .impact = Impact::kLinkFlap};
  }

  void Block3(const std::string& netdev) {
    plan_.stages[0].changes.push_back(Port("spark-3", netdev));
    plan_.stages[0].changes.back().change = ChangeKind::kBlocked;
  }

  std::size_t CountUnproven() const {
    return FindUnprovenPairs(before_, after_, plan_, fabric_).size();
  }

  Fabric fabric_;
  Plan plan_ = {};
  Pairs before_ = {};
  Pairs after_ = {};
};

TEST_F(UnprovenPairsTest, APairWhoseLinkThePlanSetsMustAnswer) {
  const Errors errors = FindUnprovenPairs(before_, after_, plan_, fabric_);
  EXPECT_EQ(FormatErrors(errors),
            "spark-1: spark-3 does not answer on rail0\n"
            "  hint: check the cable and the far end, or give --allow-unproven to keep the change\n"
            "spark-2: spark-3 does not answer on rail0\n"
            "  hint: check the cable and the far end, or give --allow-unproven to keep the "
            "change\n");
}

TEST_F(UnprovenPairsTest, ABlockedPortHoldsUpNoOtherNodeOfTheSwitch) {
  Block3("enp1s0f1np1");
  EXPECT_EQ(CountUnproven(), 0u);
}

TEST_F(UnprovenPairsTest, ABlockedPortOfAnotherRailIsNoReasonToBeSilent) {
  Block3("enP2p1s0f1np1");
  EXPECT_EQ(CountUnproven(), 2u);
}

TEST_F(UnprovenPairsTest, ABlockedPortThatAnsweredBeforeMustAnswerAgain) {
  Block3("enp1s0f1np1");
  before_[{"spark-1", "spark-3", 0}] = PairState::kAnswers;
  EXPECT_EQ(CountUnproven(), 1u);
  after_[{"spark-2", "spark-3", 0}] = PairState::kNoCarrier;  // there was a link
  EXPECT_EQ(CountUnproven(), 2u);
}

}  // namespace
}  // namespace reconciler
