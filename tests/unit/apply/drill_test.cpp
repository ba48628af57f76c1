// A node whose answers make no sense ends a drill and nothing else.
#include <gtest/gtest.h>

#include "reconciler/apply/drill.h"
#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

// `state`: what the node answers when the drill reads what it is about to change.
DrillReport RunDrill(const std::string& state) {
  FakeNode node = SessionNode();
  node.shell = [session = node.shell, state](const std::string& script) {
    const bool reads = script.find("\nprint_value net.") != std::string::npos;
    return reads ? ScriptReply{.out = state} : session(script);
  };
  FakeNetwork network({{"spark-1", node}});
  NodePool pool(network.Dialer());
  return Drill({.name = "spark-1", .id = 1}, pool, {}, "test");
}

TEST(Drill, ANodeThatShowsNoStateIsNamed) {
  for (const std::string& state : {std::string(), std::string("net.ipv4.conf.lo.tag 0\0\n", 24)}) {
    EXPECT_EQ(FormatErrors(RunDrill(state).errors), "spark-1: its state could not be read\n");
  }
}

}  // namespace
}  // namespace reconciler
