#include "reconciler/apply/steps/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "reconciler/base/text.h"
#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// Answers an apply's request as a node would whose steps all succeed, but for those that `fails`
// names.
ScriptReply Answer(const std::string& script, const std::string& nonce, const std::string& fails) {
  ScriptReply reply;
  const auto frame = [&](const std::string& label) {
    reply.out += "\n" + nonce + " " + label + "\n";
    reply.err += "\n" + nonce + " " + label + "\n";
  };
  for (const std::string& line : SplitLines(script)) {
    if (!line.starts_with("run_step ") && !line.starts_with("try_step ")) continue;
    frame("step");
    const bool failed = !fails.empty() && line.find(fails) != std::string::npos;
    if (failed) reply.err += "it broke\n";
    frame(failed ? "exit 1" : "exit 0");
    if (failed && line.starts_with("run_step ")) return reply;
  }
  return reply;
}

class ApplyTest : public testing::Test {
 protected:
  ApplyTest() {
    for (const char* name : {"spark-1", "spark-2", "spark-3"}) {
      cluster_.nodes.push_back({.name = name});
      plan_.nodes.push_back({.name = name});
    }
    plan_.id = std::string(64, '0');
    plan_.stages = {{.plugins = {"files"}}, {.plugins = {"units"}}};
    for (const NodeSpec& node : cluster_.nodes) {
      plan_.stages[0].changes.push_back(
          {.kind = "file", .name = "/a", .node = node.name, .actions = {RunCommand{{"first"}}}});
      plan_.stages[1].changes.push_back(
          {.kind = "file", .name = "/b", .node = node.name, .actions = {RunCommand{{"second"}}}});
    }
  }

  ApplyReport Run(std::map<NodeName, std::string> fails, const ShouldStop& stop = {}) {
    std::map<NodeName, FakeNode> nodes;
    for (const NodeSpec& node : cluster_.nodes) {
      nodes[node.name] = SessionNode(
          [fails = fails[node.name]](const std::string& request, const std::string& nonce) {
            return Answer(request, nonce, fails);
          });
    }
    network_ = std::make_unique<FakeNetwork>(nodes);
    NodePool pool(network_->Dialer());
    const auto sessions = Sessions::OpenAll(SelectNodes(cluster_, {}), pool, "a test");
    EXPECT_TRUE(sessions);
    return Apply(
        plan_, cluster_, **sessions, journal_,
        [this](const Event& event) {
          const std::lock_guard lock(mutex_);
          events_.push_back(std::string(ToString(event.type)) + " " + event.node);
        },
        stop);
  }

  ClusterSpec cluster_;
  Plan plan_;
  Journal journal_{.directory = "/journal"};
  // What an apply ran on a node, without the session's beginning.
  std::size_t Requests(const NodeName& node) const {
    return network_->ListScripts(node).size() - 1;
  }

  std::unique_ptr<FakeNetwork> network_;
  std::mutex mutex_;
  std::vector<std::string> events_;
};

TEST_F(ApplyTest, EveryNodeGetsOneRequestPerStage) {
  EXPECT_TRUE(Run({}).Ok());
  for (const NodeSpec& node : cluster_.nodes) EXPECT_EQ(Requests(node.name), 2u);
}

TEST_F(ApplyTest, TheCanaryGoesFirstAndItsFailureSparesTheOthers) {
  const ApplyReport report = Run({{"spark-1", "first"}});
  EXPECT_FALSE(report.Ok());
  EXPECT_THAT(events_, ElementsAre("stage-started spark-1", "change-failed spark-1"));
  EXPECT_EQ(Requests("spark-2"), 0u);
  EXPECT_EQ(FormatErrors(report.nodes.at("spark-1").errors),
            "spark-1: run first: exit 1: it broke\n");
}

// A refused value: the manifest's line says where it comes from, and one run reports all of them.
TEST_F(ApplyTest, EveryRefusedValueIsReportedWithItsManifestLine) {
  Stage& stage = plan_.stages[0];
  stage.changes.clear();
  for (const int line : {14, 15, 16}) {
    const std::string key = "vm.x" + std::to_string(line);
    const std::string word = line == 15 ? "right" : "broken";
    stage.changes.push_back(
        {.kind = "sysctl",
         .name = key,
         .node = "spark-1",
         .actions = {RunCommand{.argv = {"set", key, word}, .must_succeed = true}},
         .triggers = {RunCommand{.argv = {"reload"}}},
         .where = {"pair.yaml", {line, 3}}});
  }
  const ApplyReport report = Run({{"spark-1", "broken"}});
  EXPECT_EQ(FormatErrors(report.nodes.at("spark-1").errors),
            "pair.yaml:14:3: spark-1: run set vm.x14 broken: exit 1: it broke\n"
            "pair.yaml:16:3: spark-1: run set vm.x16 broken: exit 1: it broke\n");
  EXPECT_EQ(report.nodes.at("spark-1").changes.at("spark-1/sysctl/vm.x15"), ChangeOutcome::kDone);
  EXPECT_EQ(report.nodes.at("spark-1").changes.at("spark-1/sysctl/vm.x16"), ChangeOutcome::kFailed);
  EXPECT_EQ(Requests("spark-2"), 0u);
}

TEST_F(ApplyTest, AStageWithAFailureIsTheLastOne) {
  const ApplyReport report = Run({{"spark-2", "first"}});
  EXPECT_EQ(report.nodes.at("spark-3").changes.at("spark-3/file//a"), ChangeOutcome::kDone);
  EXPECT_EQ(report.nodes.at("spark-2").changes.at("spark-2/file//a"), ChangeOutcome::kFailed);
  EXPECT_EQ(Requests("spark-1"), 1u);
}

TEST_F(ApplyTest, NodesWhoseLinksAreSetFlipTogether) {
  for (Change& change : plan_.stages[0].changes) change.impact = Impact::kLinkFlap;
  const ApplyReport report = Run({{"spark-1", "first"}});
  EXPECT_FALSE(report.Ok());
  for (const NodeSpec& node : cluster_.nodes) EXPECT_EQ(Requests(node.name), 1u);
}

TEST_F(ApplyTest, ALostConnectionLeavesTheOutcomeUnknown) {
  std::map<NodeName, FakeNode> nodes;
  for (const NodeSpec& node : cluster_.nodes) nodes[node.name] = SessionNode();
  nodes["spark-1"].drop_after = 100;  // bytes: the lock's answer, and a part of the next
  FakeNetwork network(nodes);
  NodePool pool(network.Dialer());
  const auto sessions = Sessions::OpenAll(SelectNodes(cluster_, {}), pool, "a test");
  ASSERT_TRUE(sessions);
  const ApplyReport report = Apply(plan_, cluster_, **sessions, journal_, [](const Event&) {});
  EXPECT_EQ(report.nodes.at("spark-1").changes.at("spark-1/file//a"), ChangeOutcome::kUnknown);
  EXPECT_FALSE(report.Ok());
}

TEST_F(ApplyTest, AnInterruptEndsItAtTheNextStage) {
  int calls = 0;
  const ApplyReport report = Run({}, [&] { return ++calls > 1; });
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(report.Ok());
  EXPECT_EQ(Requests("spark-1"), 1u);
}

TEST_F(ApplyTest, DeferredAndBlockedChangesAreLeftAlone) {
  for (Stage& stage : plan_.stages) {
    stage.changes[0].deferred = true;
    stage.changes[1].change = ChangeKind::kBlocked;
  }
  EXPECT_TRUE(Run({}).Ok());
  EXPECT_EQ(Requests("spark-1"), 0u);
  EXPECT_EQ(Requests("spark-2"), 0u);
  EXPECT_EQ(Requests("spark-3"), 2u);
}

}  // namespace
}  // namespace reconciler
