#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "reconciler/base/shell_values.h"
#include "reconciler/node/take_lock.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class TakeLock : public ShellTest {
 protected:
  // Seconds that no other test on this machine waits for.
  const std::string prefix_ = std::to_string(10'000'000 + getpid());
  const std::string pause_ = prefix_ + "50";

  // What a session's first request prints, without the frame that ends it; `before` runs first.
  struct Taken {
    std::string said;  // on both streams
    std::string end;   // the exit code
  };
  std::string Script(const std::string& patience = "90") {
    return BuildScriptPreamble("n0") + BuildNodeHelper() +
           AssignForShell({{"D", Path("state")},
                           {"LEASE", "ada@desk"},
                           {"FIRST", "120"},
                           {"PATIENCE", patience}}) +
           "logger() { :; }\n";
  }
  Taken Take(const std::string& before = "") {
    const ScriptReply reply = Run(Script() + before + "\n" + std::string(kTakeLockSh));
    const auto strip = [](const std::string& text) { return text.substr(0, text.find("\nn0 ")); };
    const std::size_t done = reply.out.find("n0 done ");
    return {strip(reply.out) + strip(reply.err),
            done == std::string::npos ? "none" : std::string(Trim(reply.out.substr(done + 8)))};
  }
};

TEST_F(TakeLock, AFreeNodeIsLocked) {
  const Taken taken = Take();
  EXPECT_EQ(taken.end, "0");
  EXPECT_EQ(taken.said, "");
}

TEST_F(TakeLock, AShellWhoseControllerIsSilentEndsWithWhatItRuns) {
  const ScriptReply reply =
      Run(Script("1") + std::string(kTakeLockSh) + "may_be_silent 0\n(\nsleep " + pause_ +
          "\n) </dev/null 9>&-\necho alive\n");
  EXPECT_EQ(reply.exit_code, 128 + SIGKILL);
  EXPECT_EQ(reply.out.find("alive"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("state/lease")));
  EXPECT_EQ(Run("flock -n " + QuoteForShell(Path("state/lock")) + " true").exit_code, 0);
  EXPECT_NE(Run("pgrep -fx 'sleep " + pause_ + "'").exit_code, 0);
}

// On a disk that is full.
TEST_F(TakeLock, ALimitThatCannotBeWrittenLeavesTheOneBefore) {
  const ScriptReply reply = Run(Script() + std::string(kTakeLockSh) +
                                "trap '' XFSZ\nulimit -f 0\nmay_be_silent 5 2>/dev/null\n"
                                "read -r until <\"$D/lease.until\" && echo \"kept $until\"\n");
  EXPECT_THAT(reply.out, testing::ContainsRegex("kept [0-9]+\n")) << reply.err;
}

TEST_F(TakeLock, AShellWhoseLimitCannotBeReadEndsAfterTheLastOneThatCould) {
  const ScriptReply reply = Run(Script("1") + "FIRST=0\n" + std::string(kTakeLockSh) +
                                ": >\"$D/lease.until\"\nsleep " + pause_ + "\necho alive\n");
  EXPECT_EQ(reply.exit_code, 128 + SIGKILL);
  EXPECT_EQ(reply.out.find("alive"), std::string::npos);
  EXPECT_EQ(Run("flock -n " + QuoteForShell(Path("state/lock")) + " true").exit_code, 0);
}

TEST_F(TakeLock, AShellThatStartsAProcessWhileItIsEndedLeavesNone) {
  const std::string go = QuoteForShell(Path("go"));
  const std::string late = QuoteForShell(Path("late"));
  const std::string shell =
      "until [ -e " + go + " ]; do sleep 0.02; done\n(sleep 0.5; echo >" + late + ") &\nwait\n";
  const ScriptReply reply =
      Run(Script() + "sh -c " + QuoteForShell(shell) + " </dev/null &\nprocess=$!\nsleep 0.2\n" +
          // After the children of a process were listed, it has the time to start one more.
          "cat() { command cat \"$@\"; : >" + go + "; sleep 0.3; }\nend_shell $process\nsleep 1\n");
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_TRUE(std::filesystem::exists(Path("go")));
  EXPECT_FALSE(std::filesystem::exists(Path("late")));
}

// Else whoever waits for sudo would not learn that the shell has ended.
TEST_F(TakeLock, ASudoThatStoppedWithTheShellEndsWithItToo) {
  Put("sudo",
      "#!/bin/sh\n\"$@\" & child=$!\n"
      "while read -r stat </proc/$child/stat; do\n"
      "  case ${stat##*) } in T*) kill -STOP $$ ;; Z*) break ;; esac\n  sleep 0.02\ndone\nexit "
      "7\n");
  std::filesystem::permissions(Path("sudo"), std::filesystem::perms(0755));
  const ScriptReply reply = Run(
      Script() + QuoteForShell(Path("sudo")) + " sleep " + pause_ +
      " </dev/null &\nsudo=$!\nsleep 0.5\nread -r child _ <\"/proc/$sudo/task/$sudo/children\"\n" +
      "kill() { [ \"$1\" != -KILL ] || sleep 0.3; command kill \"$@\"; }\n"
      "end_shell $child\nwait $sudo\necho \"ended with $?\"\n");
  EXPECT_THAT(reply.out, testing::HasSubstr("ended with 7")) << reply.err;
}

TEST_F(TakeLock, AShellWhoseControllerSendsSomethingStaysAndLeavesNothingRunning) {
  const ScriptReply reply =
      Run(Script("2") + std::string(kTakeLockSh) +
          "for i in 1 2 3 4 5 6 7 8; do may_be_silent 0; sleep 0.5; done\necho alive\n" +
          "may_be_silent " + pause_ + "; sleep 3\n");
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_NE(reply.out.find("alive"), std::string::npos);
  EXPECT_NE(Run("pgrep -f '^sleep " + prefix_ + "'").exit_code, 0)
      << "what waits for silence ended with it";
}

TEST_F(TakeLock, ALockThatIsHeldIsNamedByItsLease) {
  Put("state/lease", "bea@desk\n");
  const Taken taken = Take("flock() { return 1; }");
  EXPECT_EQ(taken.end, "9");
  EXPECT_EQ(taken.said, "bea@desk\n");
}

TEST_F(TakeLock, ALockThatCannotBeTakenIsNotHeldByAnother) {
  const Taken taken = Take("flock() { echo 'flock: No locks available' >&2; return 71; }");
  EXPECT_EQ(taken.end, "1");
  EXPECT_EQ(taken.said, "flock: No locks available\n");
}

TEST_F(TakeLock, AFolderThatCannotBeMadeIsSaidByTheNode) {
  Put("state", "a file");
  const Taken taken = Take();
  EXPECT_EQ(taken.end, "1");
  EXPECT_NE(taken.said.find(Path("state")), std::string::npos) << taken.said;
}

}  // namespace
}  // namespace reconciler
