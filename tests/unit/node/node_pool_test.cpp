#include "reconciler/node/node_pool.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace reconciler
