#include "reconciler/node/locks.h"

#include <gtest/gtest.h>

#include "tests/support/clusters.h"
#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

// A node whose lock is read as `lines`, and broken unless `refusal` is not empty.
FakeNode LockNode(const std::string& lines, const std::string& refusal = "") {
  return {.shell = [=](const std::string& script) -> ScriptReply {
    if (script.find("HOLDER=") == std::string::npos) return {.out = lines};
    return {.exit_code = refusal.empty() ? 0 : 1, .err = refusal};
  }};
}

// Held by shell 7; its holder has been silent for `overdue_s` longer than it may be.
std::string Held(int overdue_s) {
  return "held 7 1000 " + std::to_string(1000 + overdue_s) + "\nada@desk pid 4 since then\n";
}

class LocksOfTheCluster : public testing::Test {
 protected:
  std::vector<BreakResult> Break() {
    return BreakLocks(cluster_, ReadLocks(Nodes(), pool_), pool_);
  }
  std::vector<const NodeSpec*> Nodes() const {
    std::vector<const NodeSpec*> nodes;
    for (const NodeSpec& node : cluster_.nodes) nodes.push_back(&node);
    return nodes;
  }
  bool WasBroken(const NodeName& node) const {
    const std::vector<std::string> scripts = network_.ListScripts(node);
    return !scripts.empty() && scripts.back().find("HOLDER='7'") != std::string::npos;
  }

  ClusterSpec cluster_ = test::Cluster(Topology::kRing, {test::Node(1), test::Node(2)}, 2);
  FakeNetwork network_{{{"spark-1", LockNode("free\n")}, {"spark-2", LockNode("free\n")}}};
  NodePool pool_{network_.Dialer()};
};

TEST_F(LocksOfTheCluster, AreReadOnEveryNodeThatAnswers) {
  network_.SetNode("spark-1", {.refuse_dial = "off"});
  network_.SetNode("spark-2", LockNode(Held(-5)));
  const Locks locks = ReadLocks(Nodes(), pool_);
  EXPECT_EQ(FormatErrors(locks.errors), "spark-1: off\n");
  ASSERT_EQ(locks.nodes.size(), 1u);
  EXPECT_EQ(locks.nodes.at("spark-2").lease, "ada@desk pid 4 since then");
  EXPECT_EQ(locks.nodes.at("spark-2").overdue_s, -5);
}

TEST_F(LocksOfTheCluster, OneWhoseLeaseNamesNoShellIsNeitherFreeNorHeldNorBroken) {
  network_.SetNode("spark-1", LockNode("unreadable\n"));
  const Locks locks = ReadLocks(Nodes(), pool_);
  EXPECT_EQ(locks.nodes.count("spark-1"), 0u);
  EXPECT_EQ(FormatErrors(locks.errors),
            "spark-1: the lock cannot be read: its lease does not say which shell holds it\n"
            "  hint: read it again; where that stays, the next apply takes the lock if it is free, "
            "and writes a new lease\n");
  const auto results = Break();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].node, "spark-2");
  EXPECT_FALSE(WasBroken("spark-1"));
}

TEST_F(LocksOfTheCluster, AFreeOneIsNotBroken) {
  const auto results = Break();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].outcome, BreakOutcome::kFree);
  EXPECT_EQ(results[1].outcome, BreakOutcome::kFree);
  EXPECT_FALSE(WasBroken("spark-1"));
}

TEST_F(LocksOfTheCluster, AHolderThatMayBeRunningKeepsItsOwn) {
  network_.SetNode("spark-1", LockNode(Held(kSilentHolderS)));
  network_.SetNode("spark-2", LockNode("held 7 - 1000\nada@desk pid 4 since then\n"));
  const auto results = Break();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].outcome, BreakOutcome::kKept);
  EXPECT_EQ(results[1].outcome, BreakOutcome::kKept);
  EXPECT_FALSE(WasBroken("spark-1"));
  EXPECT_FALSE(WasBroken("spark-2"));
}

TEST_F(LocksOfTheCluster, AHolderThatIsSilentLongEnoughLosesItsOwn) {
  network_.SetNode("spark-1", LockNode(Held(kSilentHolderS)));
  network_.SetNode("spark-2", LockNode(Held(kSilentHolderS + 1)));
  const auto results = Break();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].outcome, BreakOutcome::kKept);
  EXPECT_EQ(results[1].outcome, BreakOutcome::kBroken);
  EXPECT_EQ(results[1].reason,
            "it has been silent for 121 s longer than its last request could take");
  EXPECT_TRUE(WasBroken("spark-2"));
}

TEST_F(LocksOfTheCluster, TheFirstOneThatCannotBeBrokenEndsTheRun) {
  network_.SetNode("spark-1", LockNode(Held(500), "the lock is still held\n"));
  network_.SetNode("spark-2", LockNode(Held(500)));
  const auto results = Break();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcome, BreakOutcome::kFailed);
  ASSERT_TRUE(results[0].error);
  EXPECT_EQ(FormatError(*results[0].error),
            "spark-1: the lock could not be broken: the lock is still held\n");
  EXPECT_FALSE(WasBroken("spark-2"));
}

}  // namespace
}  // namespace reconciler
