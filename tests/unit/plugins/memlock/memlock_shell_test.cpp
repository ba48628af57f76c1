#include <gtest/gtest.h>

#include "plugins/memlock/memlock.h"
#include "tests/support/run_here.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::memlock {
namespace {

// The limits are this process's own, whoever runs it: as root there is no other's to be found.
TEST(MemlockProbe, TheSessionsLimitIsThatOfTheNearestAncestorThatIsNotRoots) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  cluster.nodes.push_back({.name = "spark-1", .id = 1});
  cluster.settings = test::Map({{"memlock", test::Text("unlimited")}});
  for (const Read& read : Get().probe(cluster, Fabric(), cluster.nodes.front())) {
    const auto* run = std::get_if<RunProbe>(&read);
    if (run == nullptr || run->id != "memlock.session") continue;
    const CommandReply reply = reconciler::test::RunHere(run->argv);
    EXPECT_EQ(reply.exit_code, 0);
    NodeFacts facts;
    Get().parse({.commands = {{"memlock.session", reply}}}, facts);
    EXPECT_NE(Known(facts.memlock.session), nullptr) << reply.out;
    return;
  }
  FAIL() << "no probe of the session";
}

}  // namespace
}  // namespace reconciler::plugins::memlock
