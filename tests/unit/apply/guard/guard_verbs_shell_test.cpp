// What each verb of the guard does in each state of an apply.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reconciler/base/number.h"
#include "tests/unit/apply/guard/guard_machine.h"

namespace reconciler {
namespace {

// What stands on the node: one file that is written in place, one that is tried below /run, and the
// ledger.
struct NodeFiles {
  std::string in_place = {};
  std::string tried = {};
  std::string trial = {};  // empty: there is none
  std::string ledger = {};
  bool operator==(const NodeFiles&) const = default;
};

void PrintTo(const NodeFiles& files, std::ostream* out) {
  *out << fmt::format("in place '{}', tried '{}', trial '{}', ledger '{}'", files.in_place,
                      files.tried, files.trial, files.ledger);
}

const NodeFiles kBefore = {"old", "old", "", "old"};
const NodeFiles kTrial = {"new", "old", "new", "old"};
const NodeFiles kNew = {"new", "new", "", "new"};
const NodeFiles kNewer = {"newer", "newer", "", "newer"};

struct ApplyState {
  std::string name = {};
  std::string decision = {};
  std::string state = {};
  bool intent = false;
  NodeFiles files = {};
};

const ApplyState kStates[] = {
    {"undecided", "", "armed", false, kTrial},
    {"ready", "", "armed", true, kTrial},
    {"revert begun", "revert", "armed", true, kTrial},
    {"revert failed", "revert", "revert-failed", true, kTrial},
    {"reverted", "revert", "reverted", true, kBefore},
    {"commit begun", "commit", "armed", true, kTrial},
    {"commit failed", "commit", "commit-failed", true, kTrial},
    {"committed", "commit", "committed", true, kNew},
    {"finished", "commit", "finished", true, kNew},
};

enum class Deed {
  kReverted,
  kCommitted,
  kFinished,
  kFinishedWhole,
  kNothing,
  kBootUnitRemoved,
  kRefused,
  kTimer,
  kCommittedTimer
};

// In the order of kStates.
struct VerbRow {
  std::string verb = {};
  std::vector<Deed> deeds = {};
  std::vector<Deed> under_newer = {};
};

using enum Deed;
const VerbRow kTable[] = {
    {"revert",
     {kReverted, kReverted, kReverted, kReverted, kNothing, kRefused, kRefused, kRefused, kRefused},
     {kRefused, kRefused, kRefused, kRefused, kNothing, kRefused, kRefused, kRefused, kRefused}},
    {"commit",
     {kRefused, kCommitted, kRefused, kRefused, kRefused, kCommitted, kCommitted, kNothing,
      kNothing},
     {kRefused, kRefused, kRefused, kRefused, kRefused, kRefused, kRefused, kNothing, kNothing}},
    {"finish",
     {kRefused, kRefused, kRefused, kRefused, kNothing, kRefused, kRefused, kFinished, kNothing},
     {kRefused, kRefused, kRefused, kRefused, kNothing, kRefused, kRefused, kFinished, kNothing}},
    {"watch",
     {kReverted, kReverted, kReverted, kReverted, kNothing, kFinishedWhole, kFinishedWhole,
      kFinished, kNothing},
     {kRefused, kRefused, kRefused, kRefused, kNothing, kRefused, kRefused, kFinished, kNothing}},
    {"watch boot",
     {kReverted, kTimer, kReverted, kReverted, kBootUnitRemoved, kCommittedTimer, kCommittedTimer,
      kTimer, kBootUnitRemoved},
     {kRefused, kRefused, kRefused, kRefused, kBootUnitRemoved, kTimer, kTimer, kTimer,
      kBootUnitRemoved}},
    {"watch query",
     {kReverted, kReverted, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing},
     {kRefused, kRefused, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing}},
};

class GuardVerbs : public GuardMachine {
 protected:
  Change TriedAtStepOne() const {
    return {.actions = {RemoveFile{Path("etc/in-place")},
                        RemoveFile{Path("etc/tried"),
                                   {.path = Path("run/trial"), .generator = {"generator"}}}}};
  }

  void Make(const ApplyState& apply, bool newer) {
    for (const char* name : {"state", "etc", "run", "units", "timers"}) {
      std::filesystem::remove_all(Path(name));
    }
    const auto put = [&](const std::string& name, const std::string& text) {
      Put("state/journal/0123456789abcdef/" + name, text);
    };
    for (const std::string step : {"0", "1"}) {
      put(step + "/path", Path(step == "0" ? "etc/in-place" : "etc/tried"));
      put(step + "/before", "old");
      put(step + "/new", "new");
      put(step + "/begun", "");
    }
    put("1/trial", Path("run/trial"));
    put("documents/ledger.json", "new");
    put("progress", "-100000 0\n");
    put("rounds", "1\n");
    put("peers", "");
    put("working", "");
    put("holder", "0\n");
    put("order", "1\n");
    put("state", apply.state + "\n");
    put("guard", Adapt(BuildGuardScript(Journal(), {{.changes = {TriedAtStepOne()}}})));
    if (apply.intent) put("intent", "");
    for (const char* decision : {"commit", "revert"}) {
      std::filesystem::create_symlink(decision, Journal() + "/." + decision);
    }
    if (!apply.decision.empty()) {
      std::filesystem::rename(Journal() + "/." + apply.decision, Journal() + "/decision");
    }
    PutFiles(newer ? kNewer : apply.files);
    Put("units/spark-reconcile-guard-0123456789abcdef-boot.service", "");
    if (newer) {
      Put("state/journal/a-newer-one/order", "2\n");
      Put("state/journal/a-newer-one/state", "committed\n");
      Put("state/journal/a-newer-one/guard", "");
    }
  }

  void PutFiles(const NodeFiles& files) {
    Put("etc/in-place", files.in_place);
    Put("etc/tried", files.tried);
    if (!files.trial.empty()) Put("run/trial", files.trial);
    Put("state/ledger.json", files.ledger);
  }
  NodeFiles ReadFiles() {
    return {Get(Path("etc/in-place")), Get(Path("etc/tried")), Get(Path("run/trial")),
            Get(Path("state/ledger.json"))};
  }
  std::string State() { return Get(Journal() + "/state"); }
  bool HasBootUnit() {
    return std::filesystem::exists(
        Path("units/spark-reconcile-guard-0123456789abcdef-boot.service"));
  }
  ScriptReply Call(const std::string& verb) {
    return Run("sh " + QuoteForShell(Journal() + "/guard") + " " + verb);
  }

  void Check(const ApplyState& apply, bool newer, const std::string& verb, Deed deed) {
    SCOPED_TRACE(verb + ", " + apply.name + (newer ? ", a newer apply stands" : ""));
    Make(apply, newer);
    const ScriptReply reply = Call(verb);
    const NodeFiles was = newer ? kNewer : apply.files;
    struct Wanted {
      NodeFiles files;
      std::string state;
      int exit_code = 0;
      bool timer = false;
    } wanted = {was, apply.state};
    switch (deed) {
      case kReverted:
        wanted = {kBefore, "reverted"};
        break;
      case kCommitted:
        wanted = {kNew, "committed"};
        break;
      case kFinished:
        wanted.state = "finished";
        break;
      case kFinishedWhole:
        wanted = {kNew, "finished"};
        break;
      case kNothing:
      case kBootUnitRemoved:
        break;
      case kRefused:
        wanted.exit_code = 3;
        break;
      case kTimer:
        wanted.timer = true;
        break;
      case kCommittedTimer:
        wanted = {kNew, "committed", 0, true};
        break;
    }
    EXPECT_EQ(ReadFiles(), wanted.files);
    EXPECT_EQ(State(), wanted.state + "\n");
    EXPECT_EQ(reply.exit_code, wanted.exit_code) << reply.out << reply.err;
    EXPECT_EQ(std::filesystem::exists(Path("timers")), wanted.timer);
    const bool ended = deed == kReverted || deed == kFinished || deed == kFinishedWhole ||
                       deed == kBootUnitRemoved;
    EXPECT_EQ(HasBootUnit(), !ended);
  }
};

// It would run again at the next boot only.
TEST_F(GuardVerbs, ABootUnitThatWasKilledIsFollowedByATimer) {
  const auto stop = [&](const std::string& result) {
    Make(kStates[0], false);
    EXPECT_EQ(Run("SERVICE_RESULT=" + result + " sh " + QuoteForShell(Journal() + "/guard") +
                  " watch stopped")
                  .exit_code,
              0);
    EXPECT_EQ(ReadFiles(), kTrial);
    return std::filesystem::exists(Path("timers"));
  };
  EXPECT_TRUE(stop("signal"));
  EXPECT_TRUE(stop("timeout"));
  EXPECT_FALSE(stop("success"));
  EXPECT_FALSE(stop("exit-code"));  // it has said what comes next
}

// A timer starts after sysinit.target, unless it has no default dependencies, and the boot unit
// stands before that target: who waits for the start of such a timer waits for himself.
TEST_F(GuardVerbs, ATimerOfTheEarlyBootStartsBeforeTheBootUnitHasEnded) {
  Program("systemd-run",
          "case $* in *--timer-property=DefaultDependencies=no*) ;; *) exit 124 ;; esac\n"
          "true >" +
              QuoteForShell(Path("timers")));
  Check(kStates[1], false, "watch boot", kTimer);
  Check(kStates[5], false, "watch boot", kCommittedTimer);
  Check(kStates[7], false, "watch boot", kTimer);
}

// The controller's session truncates the file before it writes it.
TEST_F(GuardVerbs, ProgressThatIsHalfWrittenIsReadAgain) {
  Make(kStates[1], false);
  Put("state/journal/0123456789abcdef/progress", "");
  Program("sleep", fmt::format("cd {} && if [ -s progress ]; then ln -s commit decision\n"
                               "else echo \"$(cut -d. -f1 /proc/uptime) 0\" >progress; fi",
                               QuoteForShell(Journal())));
  Call("watch");
  EXPECT_EQ(ReadFiles(), kNew);
  EXPECT_EQ(State(), "finished\n");
}

// It reads whole seconds of the uptime, and so did what wrote the progress.
TEST_F(GuardVerbs, ANodeNeverActsBeforeItsTime) {
  Make(kStates[0], false);
  Put("state/journal/0123456789abcdef/progress", "");
  Program("sleep", fmt::format("cd {} || exit\n"
                               "up=$(cut -d. -f1 /proc/uptime)\n"
                               "if [ -s progress ]; then\n"
                               "  read -r last step <progress\n"
                               "  echo $((up + $1 - last)) >waited\n"
                               "  ln -s revert decision\n"
                               "else echo \"$up 0\" >progress; fi",
                               QuoteForShell(Journal())));
  Call("watch");
  const std::string waited = Get(Journal() + "/waited");
  EXPECT_GE(ParseNumber<int>(Trim(waited)).value_or(0), GuardTimes{}.revert_after + 1) << waited;
}

// The guard shows them again and again for peers that are late, and the controller finishes the
// apply meanwhile.
TEST_F(GuardVerbs, ABeaconIsNeverShownAfterAFinishTookItAway) {
  Make(kStates[5], false);
  Put("state/journal/0123456789abcdef/peers", "own rail0 fd00::1:1/64\n");
  IpProgram(
      fmt::format("cd {} || exit\n"
                  "if [ \"$3\" = del ]; then rm -f address; exit; fi\n"
                  "[ -e finishing ] || {{\n"
                  "  true >finishing\n"
                  "  sh {}/guard finish >/dev/null 2>&1 &\n"
                  "  for try in 1 2 3 4 5 6 7 8 9 10; do\n"
                  "    grep -q finished {}/state || /bin/sleep 0.1\n"
                  "  done\n"
                  "}}\n"
                  "true >address",
                  QuoteForShell(Path("run")), QuoteForShell(Journal()), QuoteForShell(Journal())));
  EXPECT_EQ(Call("watch").exit_code, 0);
  EXPECT_EQ(State(), "finished\n");
  EXPECT_TRUE(std::filesystem::exists(Path("run/finishing")));
  EXPECT_FALSE(std::filesystem::exists(Path("run/address")));
}

TEST_F(GuardVerbs, ALeaseFromBeforeTheRestartIsRemoved) {
  Make(kStates[0], false);
  Put("state/lease", "ada@laptop\nshell 4711\n");
  Call("watch boot");
  EXPECT_FALSE(std::filesystem::exists(Path("state/lease")));
}

// A boot reads the old file beside the one on trial, so that what only the old one sets holds
// again.
TEST_F(GuardVerbs, AValueThatIsNoLongerSetIsSetBackAgainWhereTheNodeStartedBeforeItsCommit) {
  const Change released{.triggers = {{.argv = {"touch", Path("released")},
                                      .must_succeed = true,
                                      .sets = "/proc/sys/kernel/ostype"}},
                        .prune = true};
  const auto release = [&](bool started) {
    Make(kStates[1], false);
    Put("state/journal/0123456789abcdef/guard",
        Adapt(BuildGuardScript(Journal(), {{.changes = {TriedAtStepOne(), released}}})));
    if (started) Call("watch boot");
    EXPECT_EQ(Call("commit").exit_code, 0);
    EXPECT_EQ(State(), "committed\n");
    return std::filesystem::remove(Path("released"));
  };
  EXPECT_TRUE(release(/*started=*/true));
  EXPECT_FALSE(release(/*started=*/false)) << "the trial has done it";
}

// A generator makes files for services that are not root with the umask that it has: with the
// guard's own, networkd could not read what netplan 1.1 makes, and a node would come up without its
// management address.
TEST_F(GuardVerbs, WhatIsGeneratedAtBootIsMadeWithTheUsualUmask) {
  Program("generator", "umask >>" + QuoteForShell(Path("umasks")));
  for (std::size_t i = 0; i < std::size(kStates); ++i) {
    Make(kStates[i], false);
    Call("watch boot");
  }
  const std::string umasks = Get(Path("umasks"));
  EXPECT_EQ(umasks, "0022\n0022\n0022\n0022\n0022\n0022\n")
      << "one that is ready, two that are decided and not yet committed, and three reverts";
}

// The power went after the decision and before the renames: this boot read the old files.
TEST_F(GuardVerbs, ACommitAtBootGeneratesFromTheNewFiles) {
  Make(kStates[5], false);
  PutFiles(kBefore);
  std::filesystem::remove_all(Path("run"));
  Program("generator",
          fmt::format("cat {} {} >{} 2>/dev/null", QuoteForShell(Path("run/trial")),
                      QuoteForShell(Path("etc/tried")), QuoteForShell(Path("generated"))));
  Call("watch boot");
  EXPECT_EQ(Get(Path("generated")), "newold");
  EXPECT_EQ(ReadFiles().tried, "new");
  EXPECT_EQ(State(), "committed\n");
}

// A build of minutes is not made again because an apply failed.
TEST_F(GuardVerbs, WhatAnApplySetAsideIsDeletedWhenItIsFinishedAndNotBefore) {
  const auto set_aside = [&](const ApplyState& apply) {
    Make(apply, false);
    Put("opt/nccl/.old/built", "x");
    Put("state/journal/0123456789abcdef/aside", Path("opt/nccl/.old") + "\n");
    Put("state/journal/0123456789abcdef/made", Path("opt/nccl") + "\n");
  };
  set_aside(kStates[0]);
  EXPECT_EQ(Call("revert").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("opt/nccl/.old/built")));
  set_aside(kStates[7]);
  EXPECT_EQ(Call("finish").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("opt/nccl")));
}

TEST_F(GuardVerbs, WhatARevertRemovesIsGoneFromTheDiskBeforeTheJournalSaysSo) {
  Make(kStates[0], false);
  std::filesystem::rename(Journal() + "/0/before", Journal() + "/0/absent");
  Program("sync", "echo \"$*\" >>" + QuoteForShell(Path("syncs")));
  EXPECT_EQ(Call("revert").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("etc/in-place")));
  const std::string syncs = Get(Path("syncs"));
  const auto file = syncs.find("\n" + Path("etc") + "\n");
  const auto unit = syncs.find("\n" + Path("units") + "\n");
  const auto state = syncs.find("\n" + Journal() + "/state\n");
  EXPECT_LT(file, unit) << syncs;
  EXPECT_LT(unit, state) << syncs;
  EXPECT_NE(state, std::string::npos) << syncs;
}

// A power loss in a write would leave an empty unit, and systemd runs none.
TEST_F(GuardVerbs, ALaterPassWritesTheBootUnitOnlyWhereItIsEmpty) {
  const std::string unit = "units/spark-reconcile-guard-0123456789abcdef-boot.service";
  const auto arm = [&](const std::string& found) {
    Put(unit, found);
    const ScriptReply reply = Run(Adapt(BuildScriptPreamble("n") + BuildNodeHelper() +
                                        "note() { :; }\nD=/var/lib/spark-reconcile\n(\n" +
                                        BuildArmRequest(Journal(), {}, {}) + ")\n"));
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    return Get(Path(unit));
  };
  const std::string text = arm("of someone else");
  EXPECT_THAT(text, testing::HasSubstr("\nExecStart=/bin/sh "));
  EXPECT_EQ(arm("as it is"), "as it is");
  EXPECT_EQ(arm(""), text);
}

// A clock that went back makes the newest journal the oldest by its time.
TEST_F(GuardVerbs, TheOldestJournalsByOrderAreRemoved) {
  Make(kStates[7], false);
  for (int i = 2; i <= 25; ++i) {
    const std::string folder = fmt::format("state/journal/{:03}", i);
    Put(folder + "/order", fmt::format("{}\n", i - 30));
    Put(folder + "/state", i == 3 ? "armed\n" : "finished\n");
    Put(folder + "/guard", "");
  }
  Run(fmt::format("touch -d 2000-01-01 {}", QuoteForShell(Journal())));
  EXPECT_EQ(Call("finish").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Journal()));
  EXPECT_FALSE(std::filesystem::exists(Path("state/journal/002")));
  EXPECT_TRUE(std::filesystem::exists(Path("state/journal/003"))) << "it is not decided";
  EXPECT_FALSE(std::filesystem::exists(Path("state/journal/006")));
  EXPECT_TRUE(std::filesystem::exists(Path("state/journal/007")));
}

TEST_F(GuardVerbs, EveryVerbInEveryStateIsDoneOrDoesNothingOrIsRefused) {
  for (const VerbRow& row : kTable) {
    for (std::size_t i = 0; i < std::size(kStates); ++i) {
      Check(kStates[i], false, row.verb, row.deeds[i]);
    }
  }
}

TEST_F(GuardVerbs, NoVerbPutsAnOlderApplyOverANewerOne) {
  for (const VerbRow& row : kTable) {
    for (std::size_t i = 0; i < std::size(kStates); ++i) {
      Check(kStates[i], true, row.verb, row.under_newer[i]);
    }
  }
}

TEST_F(GuardVerbs, ANewerApplyThatWasRevertedStandsInNoOnesWay) {
  Make(kStates[0], /*newer=*/true);
  PutFiles(kTrial);
  Put("state/journal/a-newer-one/state", "reverted\n");
  EXPECT_EQ(Call("revert").exit_code, 0);
  EXPECT_EQ(ReadFiles(), kBefore);
}

TEST_F(GuardVerbs, ARefusalSaysWhy) {
  Make(kStates[0], /*newer=*/true);
  EXPECT_EQ(Call("revert").err, "a later apply stands on this node: nothing is reverted\n");
  EXPECT_EQ(Call("commit").err, "a later apply stands on this node: nothing is committed\n");
  EXPECT_EQ(Call("finish").err, "this apply is neither committed nor reverted: its guard stays\n");
  Make(kStates[0], /*newer=*/false);
  EXPECT_EQ(Call("commit").err, "this node is not ready to commit\n");
  const ScriptReply unknown = Call("begin");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err, "guard: wanted revert, commit, finish or watch, found 'begin'\n");
}

// In the order in which they are to be ended.
TEST_F(GuardVerbs, WhatANewerCommitSupersededIsNotUnfinished) {
  const auto list = [&] {
    return Run(BuildScriptPreamble("n") + BuildNodeHelper() + "D=" + QuoteForShell(Path("state")) +
               "\n" + BuildUnfinishedRequest())
        .out;
  };
  Make(kStates[0], /*newer=*/true);
  EXPECT_EQ(list(), "a-newer-one none\n0123456789abcdef none\n");
  std::filesystem::create_symlink("commit", Path("state/journal/a-newer-one/decision"));
  EXPECT_EQ(list(), "a-newer-one commit\n");
  Put("state/journal/0123456789abcdef/state", "committed\n");
  std::filesystem::create_symlink("commit", Journal() + "/decision");
  EXPECT_EQ(list(), "a-newer-one commit\n0123456789abcdef commit\n");
}

}  // namespace
}  // namespace reconciler
