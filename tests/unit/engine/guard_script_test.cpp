#include "reconciler/engine/guard_script.h"

#include <sys/stat.h>

#include "reconciler/base/text.h"
#include "reconciler/engine/apply_script.h"
#include "reconciler/engine/frames.h"
#include "tests/unit/engine/shell_fixture.h"

namespace reconciler {
namespace {

// The scripts run for real here; only systemd's part of the guard needs a lab node.
class GuardScriptTest : public ShellTest {
 protected:
  std::string Journal() const { return Path("journal/0123456789abcdef"); }

  void Apply(const Change& change) {
    const std::vector<Step> steps = StepsOf({&change});
    Run(ApplyScript(steps, 0, Journal(), MakeNonce()));
  }

  ScriptReply Revert(const Change& change, const std::string& argument = "by-hand") {
    Put("revert", RevertScript({{.changes = {change}}}, Journal()));
    return Run("sh " + ShellQuote(Path("revert")) + " " + argument);
  }

  Change Write(const std::string& path, const std::string& content) {
    return {.actions = {WriteFile{path, {content, 0644, user_, user_}}}};
  }
};

TEST_F(GuardScriptTest, ARevertRestoresContentAndModeAndRemovesWhatIsNew) {
  Put("etc/old", "before\n");
  std::filesystem::permissions(Path("etc/old"), std::filesystem::perms(0640));
  Change change = Write(Path("etc/old"), "after\n");
  change.actions.push_back(WriteFile{Path("etc/new/deep/file"), {"new\n", 0644, user_, user_}});
  Apply(change);
  ASSERT_EQ(Get(Path("etc/old")), "after\n");
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/old")), "before\n");
  EXPECT_EQ(std::filesystem::status(Path("etc/old")).permissions(), std::filesystem::perms(0640));
  EXPECT_FALSE(std::filesystem::exists(Path("etc/new/deep")));
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, AFileThatWasNotChangedYetNeedsNoWriteToBeRestored) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  Put("etc/x", "before");  // as if the step had journalled and then failed
  const auto inode = [&] {
    struct stat status = {};
    EXPECT_EQ(stat(Path("etc/x").c_str(), &status), 0);
    return status.st_ino;
  };
  const auto kept = inode();
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(inode(), kept);
}

TEST_F(GuardScriptTest, OfTwoWritesToOneFileTheOldestStateComesBack) {
  Put("etc/x", "first");
  Change change = Write(Path("etc/x"), "second");
  change.actions.push_back(WriteFile{Path("etc/x"), {"third", 0644, user_, user_}});
  Apply(change);
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "first");
}

TEST_F(GuardScriptTest, UndoRunsBeforeTheFilesComeBackAndAgainAfterTheTriggers) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  const auto append = [&](const std::string& word) {
    return RunCommand{{"sh", "-c", "cat \"$1\" >>\"$2\"; echo \" $3\" >>\"$2\"", "sh",
                       Path("etc/x"), Path("log"), word}};
  };
  change.triggers = {append("trigger")};
  change.undo = {append("undo")};
  Apply(change);
  EXPECT_EQ(Get(Path("log")), "after trigger\n");
  Revert(change);
  EXPECT_EQ(Get(Path("log")), "after trigger\nafter undo\nbefore trigger\nbefore undo\n");
}

TEST_F(GuardScriptTest, WhatHadNotBegunIsNotUndone) {
  Change change{.actions = {RunCommand{{"true"}}}, .undo = {RunCommand{{"touch", Path("undone")}}}};
  std::filesystem::create_directories(Journal());
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("undone")));
}

TEST_F(GuardScriptTest, AtBootOnlyTheFilesComeBack) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.undo = {RunCommand{{"touch", Path("undone")}}};
  Apply(change);
  // Nothing that "boot" runs besides may touch the machine that the test runs on.
  Put("revert", RevertScript({{.changes = {change}}}, Journal()));
  Run("sed -i 's/^live netplan.*/:/; s/^live systemctl.*/:/' " + ShellQuote(Path("revert")));
  EXPECT_EQ(Run("sh " + ShellQuote(Path("revert")) + " boot").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_FALSE(std::filesystem::exists(Path("undone")));
}

TEST_F(GuardScriptTest, ACommittedPlanIsNotTakenBack) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  std::filesystem::create_directories(Journal() + "/decision");
  Put("journal/0123456789abcdef/decision/commit", "");
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.out, "this plan was committed: nothing is taken back\n");
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

TEST_F(GuardScriptTest, NothingIsAppliedAfterTheNodeTookThePlanBack) {
  Put("etc/x", "before");
  std::filesystem::create_directories(Journal() + "/decision");
  Apply(Write(Path("etc/x"), "after"));
  EXPECT_EQ(Get(Path("etc/x")), "before");
}

TEST_F(GuardScriptTest, ARestoreThatFailsIsSaidAndIsNoSuccess) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  std::filesystem::remove(Path("etc/x"));
  std::filesystem::create_directories(Path("etc/x/now a directory"));
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(Get(Journal() + "/state"), "revert-failed\n");
}

TEST(GuardLimit, IsLongerThanAnyStepMayTake) {
  EXPECT_EQ(GuardLimit({}), 90);
  const Change slow{.actions = {RunCommand{{"x"}, 300}}};
  EXPECT_EQ(GuardLimit({{.changes = {slow}}}), 330);
}

}  // namespace
}  // namespace reconciler
