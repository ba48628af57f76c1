#include "reconciler/apply/proof.h"

#include <gtest/gtest.h>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"
#include "tests/support/fake_transport.h"

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

}  // namespace
}  // namespace reconciler
