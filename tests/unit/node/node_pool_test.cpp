#include "reconciler/node/node_pool.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

// A connection that broke since it was made.
class Broken : public Transport {
 public:
  Result<std::unique_ptr<Channel>> OpenShell() override {
    return Fail({.kind = ErrorKind::kTransport, .message = "the connection was lost"});
  }
};

TEST(NodePool, AConnectionThatOpensNoShellIsMadeAgain) {
  FakeNetwork network(std::map<NodeName, FakeNode>{});
  network.SetNode("spark-1", {});
  int dialled = 0;
  NodePool pool([&](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
    if (++dialled == 1) return std::make_unique<Broken>();
    return network.Dialer()(node);
  });
  NodeSpec node;
  node.name = "spark-1";
  const auto first = pool.OpenShell(node);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "the connection was lost");
  EXPECT_TRUE(pool.OpenShell(node));
  EXPECT_EQ(dialled, 2);
}

TEST(ForEachNode, WhatIsThrownForANodeIsItsErrorAndEndsNoOther) {
  const NodeSpec one{.name = "spark-1"};
  const NodeSpec two{.name = "spark-2"};
  const NodeSpec three{.name = "spark-3"};
  bool done = false;
  const NodeErrors thrown = ForEachNode({&one, &two, &three}, [&](const NodeSpec& node) {
    if (node.name == "spark-1") throw std::out_of_range("position \x1b[2J");
    if (node.name == "spark-2") throw 1;
    done = true;
  });
  EXPECT_TRUE(done);
  ASSERT_EQ(thrown.size(), 2u);
  EXPECT_EQ(FormatError(thrown.at("spark-1")),
            "spark-1: its answer could not be processed: position \\x1b[2J\n"
            "  hint: report this fault of spark-reconcile, with what the node answered\n");
  EXPECT_EQ(thrown.at("spark-2").message, "its answer could not be processed: no description");
}

}  // namespace
}  // namespace reconciler
