#include "tests/support/fake_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeSpec Node(const std::string& name) { return NodeSpec{.name = name}; }

Result<ScriptReply> RunOn(FakeNetwork& network, const std::string& node,
                          const std::string& script) {
  const auto transport = network.Dialer()(Node(node));
  if (!transport) return Fail(transport.error());
  return RunScript(**transport, script, Milliseconds(1000));
}

TEST(FakeTransport, ScriptReachesTheFunctionAndIsRecorded) {
  FakeNetwork network({{"a", {.shell = [](const std::string& script) {
                          return ScriptReply{.out = "ran " + script};
                        }}}});
  EXPECT_EQ(RunOn(network, "a", "one")->out, "ran one");
  EXPECT_EQ(RunOn(network, "a", "two")->out, "ran two");
  EXPECT_THAT(network.ListScripts("a"), ElementsAre("one", "two"));
  EXPECT_THAT(network.ListScripts("b"), IsEmpty());
}

TEST(FakeTransport, RefusedDialNamesTheNode) {
  FakeNetwork network({{"a", {.refuse_dial = "no answer within 10 s"}}});
  EXPECT_EQ(FormatError(RunOn(network, "a", "x").error()), "a: no answer within 10 s\n");
  EXPECT_EQ(FormatError(RunOn(network, "z", "x").error()), "z: no such node\n");
}

TEST(FakeTransport, RefusedSudoRunsNothing) {
  FakeNetwork network({{"a", {.refuse_sudo = "sudo: a password is required\n"}}});
  const auto reply = RunOn(network, "a", "x");
  ASSERT_TRUE(reply);
  EXPECT_TRUE(FindSudoRefusal(Node("a"), *reply));
  EXPECT_THAT(network.ListScripts("a"), IsEmpty());
}

TEST(FakeTransport, LatencyBelowTheDeadlineIsAnAnswer) {
  FakeNetwork network({{"a", {.latency = Milliseconds(100)}}});
  EXPECT_TRUE(RunOn(network, "a", "x"));
  network.SetNode("a", {.latency = Milliseconds(100000)});
  EXPECT_EQ(RunOn(network, "a", "x").error().message, "a: the time limit passed");
}

TEST(FakeTransport, CutBeyondTheOutputIsNeverReached) {
  FakeNetwork network(
      {{"a",
        {.shell = [](const std::string&) { return ScriptReply{.out = "12"}; }, .drop_after = 3}}});
  EXPECT_EQ(RunOn(network, "a", "x")->out, "12");
}

TEST(FakeTransport, ReadAfterTheEndIsAnError) {
  FakeNetwork network({{"a", FakeNode{}}});
  const auto transport = network.Dialer()(Node("a"));
  const auto shell = (*transport)->OpenShell();
  ASSERT_TRUE((*shell)->CloseInput());
  const Deadline deadline = std::chrono::steady_clock::now() + Milliseconds(1000);
  EXPECT_EQ((*shell)->Read(deadline)->exit_code, 0);
  EXPECT_EQ((*shell)->Read(deadline).error().message, "a: the shell ended already");
}

}  // namespace
}  // namespace reconciler
