#include "reconciler/apply/guard/guard_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

const std::string kNoPauses = "sleep() { :; }\n";

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

  // Nothing that it runs besides may touch the machine that the test runs on.
  void PutGuard(const std::vector<Change>& changes) {
    std::string script = BuildGuardScript(Journal(), {{.changes = changes}});
    const std::string reload = "live as '' timeout 30 systemctl daemon-reload";
    const std::size_t at = script.find(reload);
    EXPECT_NE(at, std::string::npos);
    script.replace(at, reload.size(), ":");
    Put("guard", kNoPauses + script);
  }

  ScriptReply RevertAll(const std::vector<Change>& changes) {
    PutGuard(changes);
    return Run("sh " + QuoteForShell(Path("guard")) + " revert by-hand");
  }

  ScriptReply Revert(const Change& change) { return RevertAll({change}); }

  ScriptReply RevertAtBoot(const std::vector<Change>& changes) {
    PutGuard(changes);
    return Run("sh " + QuoteForShell(Path("guard")) + " revert boot");
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
  Put("guard", BuildGuardScript(Journal(), {{{once}, 0}, {{twice}, 1}}));
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("guard")) + " revert").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "first");
}

// Even where the two could be merged.
TEST_F(GuardScriptTest, WhatAnotherProgramWroteMeanwhileIsKeptInTheJournal) {
  Put("etc/x", "before\n1\n2\n3\n4\n");
  const Change change = Write(Path("etc/x"), "after\n1\n2\n3\n4\n");
  Apply(change);
  Put("etc/x", "after\n1\n2\n3\n4\nanother program's\n");
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, Path("etc/x") + " was changed by another program: its text is kept in " +
                           Journal() + "/0/foreign\nreverted\n");
  EXPECT_EQ(Get(Path("etc/x")), "before\n1\n2\n3\n4\n");
  EXPECT_EQ(Get(Journal() + "/0/foreign"), "after\n1\n2\n3\n4\nanother program's\n");
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
  std::string script = BuildGuardScript(Journal(), {{.changes = {change}}});
  for (const std::string_view folder : {"/run/systemd", "/run/spark-reconcile/held"}) {
    for (std::size_t at = 0; (at = script.find(folder, at)) != std::string::npos;) {
      const std::string mine = folder == "/run/systemd" ? systemd : Path("held");
      script.replace(at, folder.size(), mine);
      at += mine.size();
    }
  }
  Put("guard", script);
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("guard")) + " revert by-hand").exit_code, 0);
  EXPECT_EQ(inode(), before);
}

// A full disk or a power loss leaves names that are empty.
TEST_F(GuardScriptTest, OnlyAStepThatHadBegunNeedsItsPathToBeReverted) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  const std::string step = "journal/0123456789abcdef/1";
  Put(step + "/path", "");
  Put(step + "/begun", "");
  EXPECT_EQ(Revert(change).exit_code, 1);
  EXPECT_EQ(Get(Journal() + "/state"), "revert-failed\n");
  std::filesystem::remove(Path(step + "/begun"));
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, AStepWithoutAHomeThatHadNotBegunIsNotReverted) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  Put("journal/0123456789abcdef/1/path", Path("home/x"));
  Put("journal/0123456789abcdef/1/home", "");
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
}

TEST_F(GuardScriptTest, AGeneratedFileWithoutAPathIsNotRestored) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  Put("journal/0123456789abcdef/generated/0/path", "");
  Put("journal/0123456789abcdef/generated/0/before", "generated before");
  EXPECT_EQ(Revert(change).out, "reverted\n");
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
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

// As the kernel answers for a folder that is immutable or append-only, where a time is given.
constexpr const char* kNothingIsRemovable =
    "touch() { echo \"touch: setting times of 'a': Operation not permitted\" >&2; return 1; }\n";
constexpr const char* kNotReplaceable =
    " cannot be replaced or removed: Operation not permitted (lsattr -d shows whether it or its "
    "folder is immutable or append-only, findmnt whether it is mounted or read-only)\n";
constexpr const char* kNotPlaceable =
    ": Operation not permitted (lsattr -d shows whether that folder is immutable or append-only, "
    "findmnt whether it is read-only)\n";

// What a node says that is to commit a ledger; `machine`: how its programs answer.
class LedgerIntentTest : public GuardScriptTest {
 protected:
  LedgerIntentTest() { std::filesystem::create_directories(Path("state")); }

  ScriptReply RecordIntent(const std::string& machine) {
    return RunRequest(machine + "ip() { :; }\nmkdir -p " + QuoteForShell(Journal()) + "\n" +
                          BuildIntentRequest(Journal(), {{"ledger.json", "new"}}, {}),
                      MakeNonce());
  }
  bool HasIntent() const { return std::filesystem::exists(Journal() + "/intent"); }
  std::ptrdiff_t CountFilesOfState() const {
    return std::distance(std::filesystem::directory_iterator(Path("state")), {});
  }
};

TEST_F(LedgerIntentTest, NoNodeIsReadyToCommitThatCannotReplaceItsLedger) {
  Put("state/ledger.json", "old");
  const ScriptReply reply = RecordIntent(kNothingIsRemovable);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err, Path("state/ledger.json") + kNotReplaceable);
  EXPECT_FALSE(HasIntent());
  EXPECT_EQ(RecordIntent("").exit_code, 0);
  EXPECT_TRUE(HasIntent());
  EXPECT_EQ(Get(Path("state/ledger.json")), "old");
  EXPECT_EQ(CountFilesOfState(), 1);
}

TEST_F(LedgerIntentTest, NoNodeIsReadyToCommitThatCannotPlaceItsFirstLedger) {
  const ScriptReply reply = RecordIntent(kNothingIsRemovable);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err,
            Path("state/ledger.json") + " cannot be placed in " + Path("state") + kNotPlaceable);
  EXPECT_FALSE(HasIntent());
  EXPECT_EQ(RecordIntent("").exit_code, 0);
  EXPECT_TRUE(HasIntent());
}

TEST_F(LedgerIntentTest, WherePowerIsLostAtTheTestOfTheLedgerNothingStaysBesideIt) {
  Put("state/ledger.json", "old");
  EXPECT_NE(RecordIntent("ln() { command ln \"$@\"; exit 9; }\n").exit_code, 0);
  EXPECT_EQ(std::filesystem::hard_link_count(Path("state/ledger.json")), 2u) << "it was tested";
  EXPECT_EQ(CountFilesOfState(), 1);
  EXPECT_EQ(RecordIntent("").exit_code, 0);
  EXPECT_EQ(std::filesystem::hard_link_count(Path("state/ledger.json")), 1u);
}

// The layers below /run are the node's; here they are folders of the test.
class TrialTest : public GuardScriptTest {
 protected:
  TrialTest() { std::filesystem::create_directories(Path("etc")); }

  ScriptReply Try(const std::string& content, int step = 0) {
    return TryFile(Path("etc/x"), content, Path("run/x"), step);
  }
  void TryOther(const std::string& content) {
    std::filesystem::create_directories(Path("other"));
    EXPECT_EQ(TryFile(Path("other/y"), content, Path("run/y"), 1).exit_code, 0);
  }
  ScriptReply TryFile(const std::string& path, const std::string& content, const std::string& trial,
                      int step) {
    return Request(fmt::format("stage_write {4} {0} 0644 {1} {1} {2} {3} && write_file {4} {0}",
                               path, user_, content, trial, step));
  }
  ScriptReply Request(const std::string& calls) {
    return RunRequest("J=" + QuoteForShell(Journal()) + "\nmkdir -p \"$J\"\n" + calls, MakeNonce());
  }
  ScriptReply TryRemoval() {
    return Request(fmt::format("stage_remove 0 {0} {1} && remove_file 0 {0}",
                               QuoteForShell(Path("etc/x")), QuoteForShell(Path("run/x"))));
  }
  std::string CountLinksAndNeighbours() {
    return fmt::format("{} links, {} neighbours", std::filesystem::hard_link_count(Path("etc/x")),
                       std::distance(std::filesystem::directory_iterator(Path("etc")), {}) - 1);
  }
  // `functions`: stand in for programs.
  ScriptReply Commit(const std::string& functions = "") {
    std::ofstream(Journal() + "/guard") << functions << BuildGuardScript(Journal(), {});
    return Run("touch " + QuoteForShell(Journal() + "/intent") + " && sh " +
               QuoteForShell(Journal() + "/guard") + " commit");
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

// It looked for a decision before there was one, and its shell is killed or has lost its
// controller.
TEST_F(TrialTest, AStepThatSawNoDecisionIsOverBeforeTheRevert) {
  Put("etc/x", "before");
  Put("guard", BuildGuardScript(Journal(), {}));
  const ScriptReply reply = Request(
      fmt::format("stage_write 0 {0} 0644 {1} {1} after {2} && true >>\"$J/working\" || exit 9\n"
                  "(working && until is_decided; do sleep 0.02; done\n"
                  " sleep 0.5; write_file 0 {0}) </dev/null >/dev/null 2>&1 &\n"
                  "sleep 0.2\nsh {3} revert by-hand\ncode=$?\nwait\nexit $code\n",
                  Path("etc/x"), user_, Path("run/x"), QuoteForShell(Path("guard"))));
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_TRUE(std::filesystem::exists(Journal() + "/0/begun"));
  EXPECT_FALSE(std::filesystem::exists(Path("run/x")));
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

// As the kernel does for a file that is immutable. For one that is mounted it is another error.
TEST_F(TrialTest, AFileThatTheCommitCouldNotReplaceOrRemoveForbidsIt) {
  const std::string refusal =
      "ln() { echo \"ln: failed to create hard link 'a' => 'b': Operation not permitted\" >&2; "
      "return 1; }\n";
  const auto expect_refused = [&] {
    const ScriptReply reply = Request(refusal + "prepare");
    EXPECT_EQ(reply.exit_code, 1);
    EXPECT_EQ(reply.err, Path("etc/x") + kNotReplaceable);
    EXPECT_EQ(Get(Path("etc/x")), "before");
    EXPECT_EQ(CountLinksAndNeighbours(), "1 links, 0 neighbours");
    EXPECT_EQ(Request("prepare").exit_code, 0);
  };
  Put("etc/x", "before");
  EXPECT_EQ(Try("after").exit_code, 0);
  expect_refused();
  EXPECT_EQ(CountLinksAndNeighbours(), "1 links, 1 neighbours")
      << "the copy that the commit renames";
  for (const char* name : {"journal", "run", "etc"}) std::filesystem::remove_all(Path(name));
  Put("etc/x", "before");
  EXPECT_EQ(TryRemoval().exit_code, 0);
  expect_refused();
  EXPECT_EQ(CountLinksAndNeighbours(), "1 links, 0 neighbours");
  EXPECT_EQ(Commit().exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("etc/x")));
}

// Where a folder takes new files and lets go of none, nothing is put there to find that out.
TEST_F(TrialTest, AFileThatCannotBeRemovedFromItsFolderForbidsTheCommitAndGetsNoNeighbour) {
  Put("etc/x", "before");
  Try("after");
  const ScriptReply reply = Request(std::string(kNothingIsRemovable) + "prepare");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.err, testing::StartsWith(Path("etc/x") +
                                             " cannot be replaced or removed: Operation not "));
  EXPECT_EQ(CountLinksAndNeighbours(), "1 links, 0 neighbours");
}

// A copy beside it could be made there, and the commit could not rename it.
TEST_F(TrialTest, AnAbsentFileThatItsFolderWouldNotLetBeRenamedForbidsTheCommit) {
  for (const std::string name : {"etc/x", "etc/new/deep/x"}) {
    std::filesystem::remove_all(Path("journal"));
    EXPECT_EQ(TryFile(Path(name), "after", Path("run/x"), 0).exit_code, 0);
    const ScriptReply reply = Request(std::string(kNothingIsRemovable) + "prepare");
    EXPECT_EQ(reply.exit_code, 1);
    EXPECT_EQ(reply.err, Path(name) + " cannot be placed in " + Path("etc") + kNotPlaceable);
    EXPECT_TRUE(std::filesystem::is_empty(Path("etc")));
    std::filesystem::remove(Path("run/x"));
  }
}

TEST_F(TrialTest, AFolderKeepsItsTimeWhereItIsTestedForTheCommit) {
  Put("etc/x", "before");
  EXPECT_EQ(TryRemoval().exit_code, 0);
  const auto long_ago = std::filesystem::last_write_time(Path("etc")) - std::chrono::hours(5);
  std::filesystem::last_write_time(Path("etc"), long_ago);
  EXPECT_EQ(Request("ln() { :; }\nrm() { :; }\nprepare").exit_code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(Path("etc")), long_ago);
}

TEST_F(TrialTest, AnAbsentFileCanBeWrittenWithoutALink) {
  EXPECT_EQ(Try("after").exit_code, 0);
  EXPECT_EQ(Request("ln() { return 1; }\nprepare").exit_code, 0);
  EXPECT_EQ(Commit().exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

TEST_F(TrialTest, ALinkThatPowerLossLeftIsNeitherWrittenThroughNorCommitted) {
  Put("etc/x", "before");
  Try("after");
  const std::string link = Path("etc/.spark-reconcile.0123456789abcdef.0");
  std::filesystem::create_hard_link(Path("etc/x"), link);
  EXPECT_EQ(Request("prepare").exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(link), "after");
  EXPECT_EQ(Commit().exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

// As where another file cannot take its place, and someone looks for the cause meanwhile.
TEST_F(TrialTest, ACommitThatIsTriedAgainLeavesLaterEditsOfWhatItHasPlaced) {
  Put("etc/x", "before");
  Try("after");
  TryOther("after");
  Request("prepare");
  std::filesystem::create_directories(Path("other/y/a folder"));
  EXPECT_EQ(Commit().exit_code, 1);
  EXPECT_EQ(Get(Journal() + "/state"), "commit-failed\n");
  EXPECT_EQ(Get(Path("etc/x")), "after");
  Put("etc/x", "edited by hand");
  std::filesystem::remove_all(Path("other/y"));
  const ScriptReply reply = Commit();
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(Get(Path("etc/x")), "edited by hand");
  EXPECT_EQ(Get(Path("other/y")), "after");
  EXPECT_EQ(Get(Journal() + "/state"), "committed\n");
}

TEST_F(TrialTest, ACommitKeepsATextThatIsNeitherTheOldOneNorOurs) {
  const std::string said = Path("etc/x") + " was changed by another program: its text is kept in " +
                           Journal() + "/0/foreign\n";
  for (const bool removed : {false, true}) {
    for (const char* name : {"journal", "run", "etc"}) std::filesystem::remove_all(Path(name));
    Put("etc/x", "before");
    EXPECT_EQ((removed ? TryRemoval() : Try("after")).exit_code, 0);
    Request("prepare");
    Put("etc/x", "edited by hand");
    const ScriptReply reply = Commit();
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    EXPECT_EQ(reply.out, said);
    EXPECT_EQ(Get(Journal() + "/0/foreign"), "edited by hand");
    EXPECT_EQ(Get(Path("etc/x")), removed ? "" : "after");
  }
}

TEST_F(TrialTest, ACommitOverwritesNothingThatItCannotKeep) {
  Put("etc/x", "before");
  Try("after");
  Request("prepare");
  Put("etc/x", "edited by hand");
  const std::string full_disk =
      "cp() { for to do :; done; case $to in */foreign) printf edi >\"$to\"; return 1 ;; esac; "
      "command cp \"$@\"; }\n";
  EXPECT_EQ(Commit(full_disk).exit_code, 1);
  EXPECT_EQ(Get(Path("etc/x")), "edited by hand");
  EXPECT_FALSE(std::filesystem::exists(Journal() + "/0/foreign"));
  EXPECT_EQ(Commit().exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "after");
  EXPECT_EQ(Get(Journal() + "/0/foreign"), "edited by hand");
}

// A power loss takes what was written down of it, or the end of the copy.
TEST_F(TrialTest, EachTextOfOthersIsKeptAndNamedAgainByALaterTry) {
  Put("etc/x", "before");
  Try("after");
  Request("prepare");
  Put("etc/x", "edited by hand");
  std::filesystem::copy_file(Path("etc/x"), Journal() + "/0/foreign");
  EXPECT_THAT(Commit().out, testing::HasSubstr(" its text is kept in " + Journal() + "/0/foreign"));
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

TEST_F(TrialTest, ACopyThatPowerLossCutOffTakesNoRoomFromTheWholeOne) {
  Put("etc/x", "before");
  Try("after");
  Request("prepare");
  Put("etc/x", "edited by hand");
  std::ofstream(Journal() + "/0/foreign").flush();
  EXPECT_THAT(Commit().out,
              testing::EndsWith(" its text is kept in " + Journal() + "/0/foreign.2\n"));
  EXPECT_EQ(Get(Journal() + "/0/foreign.2"), "edited by hand");
  EXPECT_EQ(Get(Path("etc/x")), "after");
}

TEST_F(TrialTest, OfTwoPassesOverOneFileTheLaterOneIsCommittedAndNothingIsForeign) {
  Put("etc/x", "before");
  Try("first");
  EXPECT_EQ(Try("second", 1).exit_code, 0);
  Request("prepare");
  const ScriptReply reply = Commit();
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(Get(Path("etc/x")), "second");
  EXPECT_FALSE(std::filesystem::exists(Path("run/x")));
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

TEST_F(GuardScriptTest, ARevertDoesNotSetBackWhatAPruneThatHadNotBegunWouldHave) {
  Put("etc/x", "before");
  Put("mtu", "9000");
  const Change file = Write(Path("etc/x"), "after");
  const RunCommand reload{{"touch", Path("reloaded")}};
  const RunCommand set_back{.argv = {"sh", "-c", "echo 1500 >\"$1\"", "sh", Path("mtu")},
                            .sets = Path("mtu")};
  const Change prune{
      .actions = {RunCommand{{"true"}}}, .triggers = {reload, set_back}, .prune = true};
  Apply(file);
  EXPECT_EQ(RevertAll({file, prune}).exit_code, 0);
  EXPECT_EQ(Get(Path("mtu")), "9000");
  EXPECT_TRUE(std::filesystem::exists(Path("reloaded")));
}

TEST_F(GuardScriptTest, AtBootOnlyTheFilesComeBack) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{{"touch", Path("reverted")}}};
  Apply(change);
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 0);
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_FALSE(std::filesystem::exists(Path("reverted")));
}

TEST_F(GuardScriptTest, AtBootOnlyThoseRevertCommandsRunThatAreMarkedSo) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{.argv = {"touch", Path("live")}},
                   RunCommand{.argv = {"touch", Path("files")}, .at_boot = true}};
  Apply(change);
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("files")));
  EXPECT_FALSE(std::filesystem::exists(Path("live")));
}

// The guard's timer follows a revert at boot that has failed.
TEST_F(GuardScriptTest, AtBootACommandThatMustSucceedAndFailsIsTriedAgainLater) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {
      RunCommand{.argv = {"test", "-e", Path("there")}, .must_succeed = true, .at_boot = true}};
  Apply(change);
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 1);
  EXPECT_EQ(Get(Journal() + "/state"), "revert-failed\n");
  EXPECT_EQ(Get(Path("etc/x")), "before");
  Put("there", "");
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, AtBootACommandThatNeedsTheNetworkIsLeftForTheRevertThatFollows) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{.argv = {"touch", Path("done")}, .after_boot = true}};
  Apply(change);
  const ScriptReply reply = RevertAtBoot({change});
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.out,
              testing::HasSubstr("is left until the node has started: as  timeout -k 2 30 touch"));
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_FALSE(std::filesystem::exists(Path("done")));
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("done")));
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, AfterTheBootOnlyWhatOutlivesARestartIsTriedAgain) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{.argv = {"touch", Path("live")}},
                   RunCommand{.argv = {"test", "-e", Path("there")}, .after_boot = true}};
  change.triggers = {RunCommand{.argv = {"sh", "-c", "echo x >>" + Path("triggers")}}};
  Apply(change);
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 1);
  EXPECT_EQ(Revert(change).exit_code, 1) << "the network is not there yet";
  Put("there", "");
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("live")));
  EXPECT_EQ(Get(Path("triggers")), "x\n") << "of the apply alone";
}

TEST_F(GuardScriptTest, ACommandThatNeedsTheNetworkMustSucceedInEveryRevert) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  change.revert = {RunCommand{.argv = {"false"}, .after_boot = true}};
  Apply(change);
  EXPECT_EQ(Revert(change).exit_code, 1);
}

// What a start of the node generated while a file was on trial is generated again without it.
TEST_F(GuardScriptTest, AtBootTheGeneratorOfTrialsRunsOnceAndSeesNoneOfThem) {
  const std::vector<std::string> generator = {
      "sh", "-c", "cd \"$1\"; ls run etc >>log; ls etc/a etc/b >>log; echo done >>log", "sh",
      Path("")};
  const auto write = [&](const std::string& name) {
    return WriteFile{Path("etc/" + name),
                     {"new", 0644, user_, user_},
                     {.path = Path("run/" + name), .generator = generator}};
  };
  Put("etc/other", "");
  const Change change{.actions = {write("a"), write("b")}};
  Apply(change);
  ASSERT_EQ(Get(Path("run/b")), "new");
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 0);
  EXPECT_EQ(Get(Path("log")), "etc:\nother\ndone\n");
}

TEST_F(GuardScriptTest, AtBootNoGeneratorRunsOfATrialThatHadNotBegun) {
  const Change change{
      .actions = {WriteFile{Path("etc/a"),
                            {"new", 0644, user_, user_},
                            {.path = Path("run/a"), .generator = {"touch", Path("generated")}}}}};
  std::filesystem::create_directories(Journal());
  EXPECT_EQ(RevertAtBoot({change}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("generated")));
}

TEST_F(GuardScriptTest, ACommittedPlanIsNotReverted) {
  Put("etc/x", "before");
  const Change change = Write(Path("etc/x"), "after");
  Apply(change);
  std::filesystem::create_symlink("commit", Journal() + "/decision");
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.err, "this plan was committed: nothing is reverted\n");
  EXPECT_EQ(Get(Path("etc/x")), "after");
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

TEST_F(GuardScriptTest, WhatIsGoneHasNothingToRestoreAndTheRevertSucceeds) {
  Put("etc/x", "before");
  Change change = Write(Path("etc/x"), "after");
  const std::string port = "/sys/class/net/no-such-link";
  for (const char* mtu : {"1500", "9000"}) {
    change.revert.push_back(
        RunCommand{.argv = {"ip", "link", "set", "dev", "no-such-link", "mtu", mtu},
                   .must_succeed = true,
                   .sets = port});
  }
  Apply(change);
  Put("journal/0123456789abcdef/conf", "/proc/sys/net/ipv4/conf/no-such-link/arp_ignore:1\n");
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, port + " is gone: there is nothing to restore\nreverted\n");
  EXPECT_EQ(Get(Path("etc/x")), "before");
  EXPECT_EQ(Get(Journal() + "/state"), "reverted\n");
}

TEST_F(GuardScriptTest, ATriggerThatCannotReloadUnitsKeepsNoGeneratedFilesInARevert) {
  Change change = Write(Path("etc/x"), "after");
  change.triggers = {RunCommand{.argv = {"copy"}, .without_reload = true},
                     RunCommand{.argv = {"make"}}};
  EXPECT_THAT(BuildGuardScript(Journal(), {{.changes = {change}}}),
              testing::AllOf(testing::HasSubstr(
                                 "if_begun 0 without_reload live as '' timeout -k 2 30 'copy'\n"),
                             testing::HasSubstr("if_begun 0 live as '' timeout -k 2 30 'make'\n")));
}

TEST_F(GuardScriptTest, GeneratedFilesReturnByteForByteWithoutTheirGenerator) {
  Put("etc/x", "before");
  Put("run/kept", "generated before");
  Put("run/kept2", "generated before");
  Change change = Write(Path("etc/x"), "after");
  change.triggers = {RunCommand{.argv = {"sh", "-c", "cp \"$1\" \"$2\"; cp \"$1\" \"$3\"", "sh",
                                         Path("etc/x"), Path("run/kept"), Path("run/made")},
                                .makes = {Path("run/kept"), Path("run/kept2"), Path("run/made")}},
                     RunCommand{.argv = {"cp", Path("run/kept"), Path("loaded")}}};
  const std::vector<GuardedStage> stages = {{.changes = {change}}};
  std::filesystem::create_directories(Journal());
  const std::string arm = BuildArmRequest(Journal(), stages, {});
  RunRequest(arm.substr(0, arm.rfind("arm")), MakeNonce());
  Apply(change);
  ASSERT_EQ(Get(Path("run/kept")), "after");
  ASSERT_EQ(Get(Path("loaded")), "after");
  std::filesystem::remove(Path("run/kept2"));
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("run/kept")), "generated before");
  EXPECT_EQ(Get(Path("run/kept2")), "generated before");
  EXPECT_FALSE(std::filesystem::exists(Path("run/made")));
  EXPECT_EQ(Get(Path("loaded")), "generated before");
}

TEST_F(GuardScriptTest, AGeneratedFileReturnsAsItWasBeforeTheFirstPass) {
  std::filesystem::create_directories(Journal() + "/generated/0");  // of a pass that was cut off
  Put("run/file", "generated before");
  Put("run/other", "another before");
  Change change = Write(Path("etc/x"), "after");
  for (const char* made : {"run/file", "run/other"}) {
    change.triggers.push_back(
        RunCommand{.argv = {"true"}, .makes = {Path("run/file"), Path(made)}});
    const std::string arm = BuildArmRequest(Journal(), {{.changes = {change}}}, {});
    RunRequest(arm.substr(0, arm.rfind("arm")), MakeNonce());
    Put(made, "changed");
  }
  EXPECT_EQ(Revert(change).exit_code, 0);
  EXPECT_EQ(Get(Path("run/file")), "generated before");
  EXPECT_EQ(Get(Path("run/other")), "another before");
  EXPECT_FALSE(std::filesystem::exists(Journal() + "/generated/3"));
}

TEST_F(GuardScriptTest, AGeneratedFileThatCannotBeRestoredIsNoSuccess) {
  Put("etc/x", "before");
  Put("run/file", "generated before");
  Change change = Write(Path("etc/x"), "after");
  change.triggers = {RunCommand{.argv = {"rm", Path("run/file")}, .makes = {Path("run/file")}}};
  std::filesystem::create_directories(Journal());
  const std::string arm = BuildArmRequest(Journal(), {{.changes = {change}}}, {});
  RunRequest(arm.substr(0, arm.rfind("arm")), MakeNonce());
  Apply(change);
  std::filesystem::create_directories(Path("run/file/now a directory"));
  const ScriptReply reply = Revert(change);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.out, testing::HasSubstr("cannot restore " + Path("run/file") + "\n"));
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
