#include <gtest/gtest.h>

#include "reconciler/base/shell_values.h"
#include "reconciler/node/take_lock.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class TakeLock : public ShellTest {
 protected:
  // What a session's first request prints, without the frame that ends it; `before` runs first.
  struct Taken {
    std::string said;  // on both streams
    std::string end;   // the exit code
  };
  Taken Take(const std::string& before = "") {
    const ScriptReply reply = Run(BuildScriptPreamble("n0") + BuildNodeHelper() +
                                  AssignForShell({{"D", Path("state")}, {"LEASE", "ada@desk"}}) +
                                  before + "\n" + std::string(kTakeLockSh));
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
