#include "reconciler/gather/verbs_facts.h"

#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

TEST(AddVerbsFacts, WhyTheProgramCouldNotBeCopiedIsSaidWithWhatToDo) {
  FakeNetwork network(
      {{"spark-1", {.shell = [](const std::string&) { return ScriptReply{.out = "riscv64\n"}; }}}});
  NodePool pool(network.Dialer());
  const NodeSpec node{.name = "spark-1"};
  ClusterFacts facts{.nodes = {{"spark-1", {.node = "spark-1"}}}};
  AddVerbsFacts(facts, {&node}, pool, "/nonexistent");
  const NodeFacts& own = facts.nodes.at("spark-1");
  const std::string why =
      "wanted the program /nonexistent/spark-verify-riscv64 for a node of type riscv64, found "
      "none: build it and put it there: cmake --build build --target spark-verify-riscv64 (with "
      "riscv64-linux-gnu-g++ installed)";
  ASSERT_NE(FindUnknown(own.rdma.verbs), nullptr);
  EXPECT_EQ(FindUnknown(own.rdma.verbs)->why, why);
  ASSERT_NE(FindUnknown(own.gpudirect.cuda_dmabuf), nullptr);
  EXPECT_EQ(FindUnknown(own.gpudirect.cuda_dmabuf)->why, "spark-verify: " + why);
}

}  // namespace
}  // namespace reconciler
