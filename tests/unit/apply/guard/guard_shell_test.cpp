#include "reconciler/apply/guard/guard_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

// The scripts run for real here; only systemd's part of the guard needs a lab node.
class GuardScriptTest : public ShellTest {
 protected:
  std::string Journal() const { return Path("journal/0123456789abcdef"); }

  void Apply(const Change& change, std::size_t first_step = 0) {
    const std::vector<Step> steps = ListSteps({&change});
    const std::string nonce = MakeNonce();
    if (RunRequest(BuildStageRequest(steps, first_step, Journal()), nonce).exit_code != 0) return;
    RunRequest(BuildActivateRequest(steps, first_step, Journal()), nonce);
  }

  ScriptReply Revert(const Change& change, const std::string& argument = "by-hand") {
    Put("revert", BuildRevertScript({{.changes = {change}}}, Journal()));
    return Run("sh " + QuoteForShell(Path("revert")) + " " + argument);
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
  EXPECT_FALSE(std::filesystem::exists(Path("etc/new")));
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

TEST_F(GuardScriptTest, OfTwoPassesOverOneFileTheOldestStateComesBack) {
  Put("etc/x", "first");
  const Change once = Write(Path("etc/x"), "second");
  Apply(once);
  const Change twice = Write(Path("etc/x"), "third");
  Apply(twice, /*first_step=*/1);
  ASSERT_EQ(Get(Path("etc/x")), "third");
  Put("revert", BuildRevertScript({{{once}, 0}, {{twice}, 1}}, Journal()));
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("revert"))).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "first");
}

TEST_F(GuardScriptTest, WhatAnotherProgramWroteMeanwhileIsKeptBesideTheJournal) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  Put("etc/x", "another program's");
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(Journal() + "/0/foreign"), "another program's");
}

TEST_F(GuardScriptTest, NothingIsWrittenOverAFileThatMovedSinceItWasJournalled) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  const std::vector<Step> steps = ListSteps({&change});
  RunRequest(BuildStageRequest(steps, 0, Journal()), MakeNonce());
  Put("etc/x", "another program's");
  const std::string nonce = MakeNonce();
  const auto replies =
      ParseApplyReply(RunRequest(BuildActivateRequest(steps, 0, Journal()), nonce), nonce);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].err, Path("etc/x") + " was changed by another program meanwhile\n");
  EXPECT_EQ(Get(Path("etc/x")), "another program's");
}

TEST_F(GuardScriptTest, ARevertThatReloadsSystemdLeavesEveryNetworkFileItsInode) {
  const std::string systemd = Path("systemd");
  Put("systemd/network/10-netplan-mgmt.network", "[Match]\nName=mgmt\n");
  const Change change = {
      .actions = {RunCommand{{"true"}}},
      .triggers = {RunCommand{{"sh", "-c",
                               fmt::format("cd {}; rm -rf generator; mkdir generator; cd network; "
                                           "cp 10* new; mv new 10*",
                                           systemd)}}}};
  Apply(change);
  const auto inode = [&] {
    struct stat status = {};
    EXPECT_EQ(stat((systemd + "/network/10-netplan-mgmt.network").c_str(), &status), 0);
    return status.st_ino;
  };
  const auto before = inode();
  std::string script = BuildRevertScript({{.changes = {change}}}, Journal());
  for (const std::string_view folder : {"/run/systemd", "/run/spark-reconcile/held"}) {
    for (std::size_t at = 0; (at = script.find(folder, at)) != std::string::npos;) {
      const std::string mine = folder == "/run/systemd" ? systemd : Path("held");
      script.replace(at, folder.size(), mine);
      at += mine.size();
    }
  }
  Put("revert", script);
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("revert")) + " by-hand").exit_code, 0);
  EXPECT_EQ(inode(), before);
}

TEST_F(GuardScriptTest, NoNodeIsReadyToCommitThatLostAnAddressOutsideTheFabric) {
  std::filesystem::create_directories(Journal());
  std::ofstream(Journal() + "/outside") << "address -4 dev lo 203.0.113.7/32\n";
  std::ofstream(Journal() + "/fabric") << "fab0\n";
  const ScriptReply reply = RunRequest(
      "ip() { :; }\nsleep() { :; }\n" + BuildIntentRequest(Journal(), {}, {}), MakeNonce());
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err, "lost since the apply began: address dev lo 203.0.113.7/32\n");
  EXPECT_FALSE(std::filesystem::exists(Journal() + "/intent"));
}

// The layers below /run are the node's; here they are folders of the test.
class TrialTest : public GuardScriptTest {
 protected:
  TrialTest() { std::filesystem::create_directories(Path("etc")); }

  ScriptReply Try(const std::string& content) {
    return Request(fmt::format("stage_write 0 {0} 0644 {1} {1} {2} {3} && write_file 0 {0} {1} {1}",
                               Path("etc/x"), user_, content, Path("run/x")));
  }
  ScriptReply Request(const std::string& calls) {
    return RunRequest("J=" + QuoteForShell(Journal()) + "\nmkdir -p \"$J\"\n" + calls, MakeNonce());
  }
  ScriptReply Commit() {
    std::ofstream(Journal() + "/commit") << BuildVerbScript("commit", "A test.", Journal());
    return Run("sh " + QuoteForShell(Journal() + "/commit"));
  }
};

TEST_F(TrialTest, UntilTheCommitTheTargetKeepsEveryByte) {
  Put("etc/x", "before");
  EXPECT_EQ(Try("after").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(Path("run/x")), "after");
  EXPECT_EQ(Request("prepare").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  const ScriptReply reply = Commit();
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_EQ(Get(Path("etc/x")), "after");
  EXPECT_FALSE(std::filesystem::exists(Path("run/x")));
  EXPECT_EQ(Get(Journal() + "/state"), "committed\n");
}

TEST_F(TrialTest, ARevertTakesTheTrialAwayAndLeavesNothingBesideTheTarget) {
  Put("etc/x", "before");
  Try("after");
  Request("prepare");
  EXPECT_EQ(Revert({}).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_FALSE(std::filesystem::exists(Path("run/x")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Path("etc")), {}), 1);
}

TEST_F(TrialTest, WhatWasRevertedCannotBeCommitted) {
  Put("etc/x", "before");
  Try("after");
  Revert({});
  EXPECT_EQ(Commit().exit_code, 3);
  EXPECT_EQ(Get(Path("etc/x")), "before");
}

TEST_F(TrialTest, AnEditDuringTheTrialForbidsTheCommit) {
  Put("etc/x", "before");
  Try("after");
  Put("etc/x", "another program's");
  const ScriptReply reply = Request("prepare");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err, Path("etc/x") + " was changed by another program meanwhile\n");
}

TEST_F(TrialTest, WhereSomeoneElsesFileStandsNothingIsTried) {
  Put("etc/x", "before");
  Put("run/x", "another program's");
  Try("after");
  EXPECT_EQ(Get(Path("etc/x")), "after");
  EXPECT_EQ(Get(Path("run/x")), "another program's");
}

TEST_F(GuardScriptTest, RevertRunsBeforeTheFilesComeBackAndAgainAfterTheTriggers) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  const auto append = [&](const std::string& word) {
    return RunCommand{{"sh", "-c", "cat \"$1\" >>\"$2\"; echo \" $3\" >>\"$2\"", "sh",
                       Path("etc/x"), Path("log"), word}};
  };
  change.triggers = {append("trigger")};
  change.revert = {append("revert")};
  Apply(change);
  EXPECT_EQ(Get(Path("log")), "after trigger\n");
  Revert(change);
  EXPECT_EQ(Get(Path("log")), "after trigger\nafter revert\nbefore trigger\nbefore revert\n");
}

TEST_F(GuardScriptTest, WhatHadNotBegunIsNotReverted) {
  Change change{.actions = {RunCommand{{"true"}}},
                .revert = {RunCommand{{"touch", Path("reverted")}}}};
  std::filesystem::create_directories(Journal());
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("reverted")));
}

TEST_F(GuardScriptTest, AtBootOnlyTheFilesComeBack) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{{"touch", Path("reverted")}}};
  Apply(change);
  // Nothing that "boot" runs besides may touch the machine that the test runs on.
  Put("revert", BuildRevertScript({{.changes = {change}}}, Journal()));
  Run("sed -i 's/^live timeout 30 .*/:/' " + QuoteForShell(Path("revert")));
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("revert")) + " boot").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_FALSE(std::filesystem::exists(Path("reverted")));
}

TEST_F(GuardScriptTest, AtBootOnlyThoseRevertCommandsRunThatAreMarkedSo) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{.argv = {"touch", Path("live")}},
                   RunCommand{.argv = {"touch", Path("files")}, .at_boot = true}};
  Apply(change);
  Put("revert", BuildRevertScript({{.changes = {change}}}, Journal()));
  Run("sed -i 's/^live timeout 30 .*/:/' " + QuoteForShell(Path("revert")));
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("revert")) + " boot").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("files")));
  EXPECT_FALSE(std::filesystem::exists(Path("live")));
}

TEST_F(GuardScriptTest, ACommittedPlanIsNotReverted) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  std::filesystem::create_symlink("commit", Journal() + "/decision");
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.out, "this plan was committed: nothing is reverted\n");
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

TEST_F(GuardScriptTest, WhereTheDecisionCannotBeWrittenWhatCanBeIsRevertedAndItIsNoSuccess) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  std::filesystem::create_directories(Journal() + "/decision");  // in the link's place
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.out,
            "the decision cannot be written down: what can be reverted is, and it is tried "
            "again\nrevert-failed\n");
  EXPECT_EQ(Get(Path("etc/x")), "before");
}

TEST_F(GuardScriptTest, ALiveValueThatCannotBeSetBackIsNoSuccess) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  const RunCommand gone{.argv = {"ip", "link", "set", "dev", "no-such-link", "mtu", "1500"},
                        .must_succeed = true};
  change.revert = {gone};
  Apply(change);
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.out, testing::HasSubstr(
                             "cannot set back: as  timeout -k 2 30 ip link set dev no-such-link"));
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(Journal() + "/state"), "revert-failed\n");
}

TEST_F(GuardScriptTest, AStopOfWhatIsGoneWithItsFileMayFail) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{{"false"}}};
  Apply(change);
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, NothingIsAppliedAfterTheNodeRevertedThePlan) {
  Put("etc/x", "before");
  std::filesystem::create_directories(Journal());
  std::filesystem::create_symlink("revert", Journal() + "/decision");
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

TEST(GuardTimes, PeersAreQueriedOnlyAfterTheyCouldHaveFallenBack) {
  EXPECT_EQ(GuardTimes{}.moment(), 30);
  EXPECT_EQ(GuardTimes{6}.moment(), 10);
  EXPECT_GT(GuardTimes{6}.linger(), 6 + GuardTimes{6}.moment());
}

}  // namespace
}  // namespace reconciler
