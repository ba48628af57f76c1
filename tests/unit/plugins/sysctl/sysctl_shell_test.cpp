#include <gtest/gtest.h>

#include "plugins/sysctl/sysctl.h"
#include "tests/support/run_here.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::sysctl {
namespace {

// The command itself, on the machine that runs the tests.
TEST(SysctlProbe, ListHoldsEveryKeyAndMarksThoseThatNoOneMayWrite) {
  test::PairScenario scenario;
  scenario.fabric.ports.clear();
  scenario.cluster.settings =
      test::Map({{"sysctl", test::Map({{"kernel.ostype", test::Text("Linux")},
                                       {"kernel.no_such_key", test::Number(1)}})}});
  std::string out;
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    const auto* command = std::get_if<RunProbe>(&read);
    if (command == nullptr) continue;
    const CommandReply reply = reconciler::test::RunHere(command->argv);
    EXPECT_EQ(reply.exit_code, 0);
    out += reply.out;
  }
  EXPECT_EQ(out, "- /proc/sys/kernel/no_such_key\nr /proc/sys/kernel/ostype\n");
}

}  // namespace
}  // namespace reconciler::plugins::sysctl
