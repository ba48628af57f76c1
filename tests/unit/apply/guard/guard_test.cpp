// What the controller says of a request that a node could not carry out.
#include "reconciler/apply/guard/guard.h"

#include <gtest/gtest.h>

#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

// Stages a plan of one command on spark-1, which answers so.
Errors StageOn(const ScriptReply& answer) {
  FakeNetwork network(
      {{"spark-1", SessionNode([answer](const std::string& request, const std::string&) {
          return request.find("begin_staging") == std::string::npos ? ScriptReply() : answer;
        })}});
  NodePool pool(network.Dialer());
  const ClusterSpec cluster{.nodes = {{.name = "spark-1", .id = 1}}};
  auto sessions = Sessions::OpenAll({&cluster.nodes[0]}, pool, "test");
  if (!sessions) return {sessions.error()};
  Change change{.node = "spark-1"};
  change.actions = {RunCommand{{"true"}}};
  Plan plan;
  plan.stages = {{.changes = {change}}};
  Guard guard(cluster, **sessions, "0123456789abcdef", {});
  return guard.StageAndArm(plan, {}, {.directory = "/j"});
}

TEST(Guard, ARequestThatFailedSaysItsLastLine) {
  EXPECT_EQ(FormatErrors(StageOn({.exit_code = 1, .err = "a\ncp: I/O error\n"})),
            "spark-1: the plan could not be staged: exit 1: cp: I/O error\n");
  EXPECT_EQ(FormatErrors(StageOn({.exit_code = 1})),
            "spark-1: the plan could not be staged: exit 1\n");
}

TEST(Guard, AHintOfTheNodeStandsBesideTheCauseAndNotInItsPlace) {
  EXPECT_EQ(FormatErrors(StageOn({.exit_code = 1, .err = "a\ncp: I/O error\nhint: make room\n"})),
            "spark-1: the plan could not be staged: exit 1: cp: I/O error\n  hint: make room\n");
  EXPECT_EQ(FormatErrors(StageOn({.exit_code = 1, .err = "hint: make room\n"})),
            "spark-1: the plan could not be staged: exit 1\n  hint: make room\n");
}

}  // namespace
}  // namespace reconciler
