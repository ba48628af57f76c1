#include "plugins/common/systemctl/set_back_unit.h"

#include <gmock/gmock.h>

#include "plugins/common/systemctl/set_enabled.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins {
namespace {

using testing::ElementsAre;

class SetBackUnitScript : public reconciler::test::ScriptTree {
 protected:
  // `show`: what systemctl prints of the unit. Its other commands end with `exit_code`.
  CommandReply SetBack(const std::string& show, RunCommand command, int exit_code = 0) {
    PutProgram("systemctl", "[ \"$1\" != show ] || { " + show +
                                "; exit; }\n"
                                "echo \"systemctl $*\"\n"
                                "exit " +
                                std::to_string(exit_code) + "\n");
    Change prune{.triggers = {std::move(command)}};
    SkipUnitsThatAreGone(prune);
    return Run(prune.triggers.front().argv);
  }
  static std::string Show(const std::string& load, const std::string& active) {
    return "printf 'LoadState=" + load + "\\nActiveState=" + active + "\\n'";
  }
  static RunCommand Make(const std::string& verb) {
    return {.argv = {"systemctl", verb, "--", "demo.service"}};
  }
};

// Also where a drop-in of it was removed and systemd was not reloaded yet.
TEST_F(SetBackUnitScript, AUnitThatIsThereIsSetBackByItsCommand) {
  const std::string there = Show("loaded", "active");
  CommandReply reply = SetBack(there, SetEnabled("demo.service", false));
  EXPECT_EQ(reply.out, "systemctl --no-reload disable -- demo.service\n");
  EXPECT_EQ(reply.exit_code, 0);
  for (const std::string verb : {"stop", "start", "try-restart"}) {
    reply = SetBack(there, Make(verb), 1);
    EXPECT_EQ(reply.out, "systemctl " + verb + " -- demo.service\n");
    EXPECT_EQ(reply.exit_code, 1) << verb;
  }
}

TEST_F(SetBackUnitScript, AUnitThatIsGoneIsNoFailure) {
  for (const std::string state : {"inactive", "failed"}) {
    for (const std::string verb : {"stop", "start", "try-restart"}) {
      const CommandReply reply = SetBack(Show("not-found", state), Make(verb), 5);
      EXPECT_EQ(reply.out, "") << verb;
      EXPECT_EQ(reply.exit_code, 0) << verb;
    }
  }
  CommandReply reply = SetBack(Show("not-found", "inactive"), SetEnabled("demo.service", false), 1);
  EXPECT_EQ(reply.out, "systemctl --no-reload disable -- demo.service\n") << "it may have links";
  EXPECT_EQ(reply.exit_code, 0);
  reply = SetBack(Show("not-found", "inactive"), SetEnabled("demo.service", true), 1);
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(reply.exit_code, 0);
}

TEST_F(SetBackUnitScript, OneThatRunsWithoutAFileIsStopped) {
  for (const std::string state : {"active", "activating", "deactivating", "reloading"}) {
    const CommandReply reply = SetBack(Show("not-found", state), Make("stop"), 1);
    EXPECT_EQ(reply.out, "systemctl stop -- demo.service\n");
    EXPECT_EQ(reply.exit_code, 1) << state;
    EXPECT_EQ(SetBack(Show("not-found", state), Make("try-restart"), 5).exit_code, 0);
  }
}

TEST_F(SetBackUnitScript, ASystemdThatDoesNotAnswerIsAFailure) {
  const CommandReply reply = SetBack("exit 4", Make("stop"));
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(reply.exit_code, 4);
}

// A plan may show it.
auto IsOneLine() { return testing::Not(testing::HasSubstr("\n")); }

TEST(SetBackUnit, OnlyCommandsAboutOneUnitAreChanged) {
  const RunCommand reload{.argv = {"systemctl", "daemon-reload"}, .id = "reload systemd"};
  const RunCommand other{.argv = {"dcb", "app", "--", "x"}};
  const RunCommand stop{.argv = {"systemctl", "stop", "--", "demo.service"},
                        .time_limit_s = 120,
                        .id = "stop demo.service"};
  Change prune{.actions = {RemoveFile{"/etc/x"}, SetEnabled("demo.service", false)},
               .triggers = {reload, other, stop}};
  SkipUnitsThatAreGone(prune);
  EXPECT_EQ(prune.actions.front(), Action(RemoveFile{"/etc/x"}));
  const auto& disable = std::get<RunCommand>(prune.actions.back());
  EXPECT_THAT(disable.argv,
              ElementsAre("sh", "-c", IsOneLine(), "sh", "demo.service", "--no-reload", "disable"));
  EXPECT_TRUE(disable.at_boot);
  EXPECT_EQ(prune.triggers[0], reload);
  EXPECT_EQ(prune.triggers[1], other);
  EXPECT_THAT(prune.triggers[2].argv,
              ElementsAre("sh", "-c", IsOneLine(), "sh", "demo.service", "stop"));
  EXPECT_EQ(prune.triggers[2].time_limit_s, 120);
  EXPECT_EQ(prune.triggers[2].id, "stop demo.service");
}

}  // namespace
}  // namespace reconciler::plugins
