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

}  // namespace
}  // namespace reconciler
