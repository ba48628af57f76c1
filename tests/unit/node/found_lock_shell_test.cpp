// How a lock that another controller holds is read, and how it is broken.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/node/break_lock.sh.h"
#include "reconciler/node/helper/journal.sh.h"
#include "reconciler/node/read_lock.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

// A shell that has `state/lock` open, and a child of it that has it too.
class FoundLock : public ShellTest {
 protected:
  FoundLock() { std::filesystem::create_directory(Path("state")); }
  ~FoundLock() override {
    if (holder_ <= 0) return;
    kill(-holder_, SIGKILL);
    waitpid(holder_, nullptr, 0);
  }

  void Hold(const std::string& lock = "lock") {
    const std::string script = "exec 9>>lock.tmp; mv lock.tmp " + lock +
                               "\nsleep 300 & echo $! >child.tmp\nmv child.tmp child\nwait\n";
    const std::string folder = Path("state");
    holder_ = fork();
    if (holder_ == 0) {
      setpgid(0, 0);
      if (chdir(folder.c_str()) == 0) execlp("sh", "sh", "-c", script.c_str(), nullptr);
      _exit(127);
    }
    const auto deadline =
        std::chrono::steady_clock::now() + test::ScaleLimit(std::chrono::seconds(10));
    while (!std::filesystem::exists(Path("state/child"))) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    child_ = ParseNumber<int>(Trim(Get(Path("state/child")))).value_or(0);
  }
  void WriteLease(int shell) {
    Put("state/lease",
        "ada@desk since then\nprocess 1 a b 2\nshell " + std::to_string(shell) + "\n");
  }

  ScriptReply RunWith(std::string_view script, const std::string& before) {
    return Run(BuildScriptPreamble("n0") +
               AssignForShell({{"D", Path("state")}, {"HOLDER", std::to_string(holder_)}}) +
               before + "\n" + std::string(script));
  }
  // flock would be tried on the node: a controller that came in that moment would be refused.
  std::vector<std::string> ReadLines() {
    const ScriptReply reply = RunWith(kReadLockSh, "flock() { echo 'the lock is tried'; }");
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    return SplitLines(reply.out);
  }
  ScriptReply Break(const std::string& before = "") {
    return RunWith(kBreakLockSh, std::string(kJournalSh) + before);
  }

  // A zombie, which waits for its parent to take note of it, counts as gone.
  static bool IsGone(int pid) {
    const std::string stat = Get("/proc/" + std::to_string(pid) + "/stat");
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  }

  // What was killed may take a moment to end.
  static bool GoesAway(int pid) {
    const auto deadline =
        std::chrono::steady_clock::now() + test::ScaleLimit(std::chrono::seconds(10));
    while (!IsGone(pid) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return IsGone(pid);
  }

  int holder_ = 0;
  int child_ = 0;
};

TEST_F(FoundLock, ANodeWithoutALeaseIsFree) { EXPECT_THAT(ReadLines(), ElementsAre("free")); }

TEST_F(FoundLock, TheLeaseOfAShellThatDoesNotHoldTheLockIsLeftOver) {
  Hold("other");
  Put("state/lock", "");
  WriteLease(holder_);
  EXPECT_THAT(ReadLines(), ElementsAre("free"));
  WriteLease(999999999);
  EXPECT_THAT(ReadLines(), ElementsAre("free"));
}

TEST_F(FoundLock, ALeaseThatNamesNoShellIsUnreadableWhetherTheLockIsHeldOrNot) {
  const std::string whole = "ada@desk since then\nprocess 1 a b 2\nshell 4711\n";
  const auto expect_unreadable = [&] {
    // Also in the middle of a number, which may be another process's then.
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Put("state/lease", whole.substr(0, size));
      EXPECT_THAT(ReadLines(), ElementsAre("unreadable")) << whole.substr(0, size);
    }
    for (const char* shell : {"", "x", "12x", "-1", "0", "1 2", "../self", "$$"}) {
      Put("state/lease", "ada@desk since then\nshell " + std::string(shell) + "\n");
      EXPECT_THAT(ReadLines(), ElementsAre("unreadable")) << shell;
    }
    std::filesystem::remove(Path("state/lease"));
    std::filesystem::create_directory(Path("state/lease"));
    EXPECT_THAT(ReadLines(), ElementsAre("unreadable")) << "it is a folder";
    std::filesystem::remove(Path("state/lease"));
  };
  expect_unreadable();
  Hold();
  expect_unreadable();
}

TEST_F(FoundLock, ALeaseThatGoesWhileItIsReadIsThatOfAFreeLock) {
  Put("state/lease", "ada@desk since then\n");
  const ScriptReply reply = RunWith(kReadLockSh, "read() { rm -f \"$D/lease\"; return 1; }");
  EXPECT_EQ(reply.out, "free\n");
}

TEST_F(FoundLock, AHeldLockIsPrintedWithItsLease) {
  Hold();
  WriteLease(holder_);
  Put("state/lease.until", "1234\n");
  EXPECT_THAT(ReadLines(),
              ElementsAre(MatchesRegex("held " + std::to_string(holder_) + " 1234 [0-9]+"),
                          "ada@desk since then", "process 1 a b 2"));
  std::filesystem::remove(Path("state/lease.until"));
  EXPECT_THAT(ReadLines().at(0), MatchesRegex("held " + std::to_string(holder_) + " - [0-9]+"));
}

TEST_F(FoundLock, ItsHolderIsEndedWithAllThatItStarted) {
  Hold();
  const ScriptReply reply = Break();
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_TRUE(GoesAway(holder_));
  EXPECT_TRUE(GoesAway(child_));
}

// All that it would have ended is stopped by then, and keeps the lock.
TEST_F(FoundLock, ABreakThatWasCutOffCanBeDoneAgain) {
  Hold();
  WriteLease(holder_);
  const ScriptReply cut_off =
      Break("family() { command kill -STOP \"$1\"; command kill -KILL $$; }");
  EXPECT_EQ(cut_off.exit_code, 128 + SIGKILL);
  EXPECT_THAT(ReadLines().at(0), MatchesRegex("held " + std::to_string(holder_) + " .*"));
  EXPECT_EQ(Break().exit_code, 0);
  EXPECT_TRUE(GoesAway(holder_));
  EXPECT_TRUE(GoesAway(child_));
  EXPECT_THAT(ReadLines(), ElementsAre("free"));
}

TEST_F(FoundLock, AProcessThatDoesNotHoldItIsNotEnded) {
  Hold("other");
  Put("state/lock", "");
  const ScriptReply reply = Break();
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err, "the lock has another holder now\n");
  EXPECT_FALSE(IsGone(holder_));
  EXPECT_FALSE(IsGone(child_));
}

TEST_F(FoundLock, ALockThatSomeoneStillHoldsIsReported) {
  Hold();
  const ScriptReply reply = Break("flock() { echo look; return 1; }\nsleep() { :; }");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(SplitLines(reply.out).size(), 10u);
  EXPECT_EQ(reply.err, "the lock is still held\n");
}

}  // namespace
}  // namespace reconciler
