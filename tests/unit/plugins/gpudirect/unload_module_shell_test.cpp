#include "tests/support/script_tree.h"
#include "tests/unit/plugins/gpudirect/gpudirect_scenario.h"

namespace reconciler::plugins::gpudirect {
namespace {

class UnloadModuleScript : public reconciler::test::ScriptTree {
 protected:
  CommandReply Unload() const {
    const Resource module = GpuScenario("peermem", Loadable()).Find(Get(), "nvidia_peermem");
    return Run(std::get<RunCommand>(module.revert.front()).argv);
  }
};

TEST_F(UnloadModuleScript, AModuleThatNothingUsesIsUnloaded) {
  PutProgram("rmmod", "echo \"rmmod $*\"\n");
  Put("/sys/module/nvidia_peermem/refcnt", "0\n");
  const CommandReply reply = Unload();
  EXPECT_EQ(reply.out, "rmmod nvidia_peermem\n");
  EXPECT_EQ(reply.exit_code, 0);
}

TEST_F(UnloadModuleScript, OneThatIsInUseOrNotThereStaysAsItIs) {
  PutProgram("rmmod", "echo \"rmmod $*\"\n");
  EXPECT_EQ(Unload().out, "");
  for (const char* users : {"1\n", "10\n"}) {
    Put("/sys/module/nvidia_peermem/refcnt", users);
    const CommandReply reply = Unload();
    EXPECT_EQ(reply.out, "") << users;
    EXPECT_EQ(reply.exit_code, 0) << users;
  }
}

TEST_F(UnloadModuleScript, AModuleThatCannotBeUnloadedIsAFailure) {
  PutProgram("rmmod", "echo \"rmmod: Operation not permitted\" >&2\nexit 1\n");
  Put("/sys/module/nvidia_peermem/refcnt", "0\n");
  const CommandReply reply = Unload();
  EXPECT_EQ(reply.out, "rmmod: Operation not permitted\n");
  EXPECT_EQ(reply.exit_code, 1);
}

}  // namespace
}  // namespace reconciler::plugins::gpudirect
