#include "reconciler/node/shell_answer.h"

#include <gtest/gtest.h>

#include <thread>

#include "reconciler/node/node_pool.h"
#include "reconciler/transport/local_transport.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

// Scripts in one real shell of this machine, one after another.
class OneShell : public testing::Test {
 protected:
  ScriptReply Run(const std::string& script) {
    auto reply = pool_.Run(node_, script, test::ScaleLimit(std::chrono::seconds(20)));
    if (!reply) ADD_FAILURE() << FormatError(reply.error());
    return reply ? *reply : ScriptReply{};
  }

  NodeSpec node_ = {.name = "spark-1", .access = {.become = Become::kNone}};
  NodePool pool_{DialLocal};
};

TEST_F(OneShell, KeepsTheOutputAndExitCodeOfEachScriptApart) {
  EXPECT_EQ(Run("echo one; echo warning >&2; exit 3").exit_code, 3);
  const ScriptReply second = Run("printf two; exit 0\n# a comment at the end");
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_EQ(second.out, "two");
  EXPECT_EQ(second.err, "");
}

TEST_F(OneShell, LeavesNothingOfOneScriptToTheNext) {
  const std::string look = "pwd; umask; echo \"${x-none}\"; false; echo on";
  const std::string before = Run(look).out;
  EXPECT_TRUE(before.ends_with("\nnone\non\n")) << before;
  Run("cd /dev; x=left; umask 777; set -e; trap 'echo trapped' EXIT; false");
  EXPECT_EQ(Run(look).out, before);
}

TEST_F(OneShell, GivesAScriptNoInput) { EXPECT_EQ(Run("cat; echo end").out, "end\n"); }

TEST_F(OneShell, RunsAScriptInPlaceWithoutASubshellAndWithoutInput) {
  const auto run = [&](const std::string& script) {
    return pool_.RunInPlace(node_, script, test::ScaleLimit(std::chrono::seconds(20)));
  };
  const auto first = run("x=kept; cat; echo warning >&2; false");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->exit_code, 1);
  EXPECT_EQ(first->out, "");
  EXPECT_EQ(first->err, "warning\n");
  EXPECT_EQ(Run("echo $x").out, "kept\n");
}

TEST_F(OneShell, KeepsEveryByteOfALongAnswer) {
  const std::string bytes(std::size_t{3} << 20, 'x');
  EXPECT_EQ(Run("head -c 3145728 /dev/zero | tr '\\0' x").out, bytes);
  EXPECT_EQ(Run("printf '\\0\\377'").out, std::string("\0\377", 2));
}

TEST_F(OneShell, IsReplacedByAnotherAfterAScriptThatEndedIt) {
  EXPECT_EQ(Run("echo before; kill -KILL $$").exit_code, 137);
  EXPECT_EQ(Run("echo after").out, "after\n");
}

// It ended before the script reached it, so that its exit code is not the script's.
TEST_F(OneShell, ThatEndedWhileItWasIdleIsAnError) {
  Run("(sleep 0.2; kill -KILL $$) >/dev/null 2>&1 &");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const auto reply = pool_.Run(node_, "echo ran", test::ScaleLimit(std::chrono::seconds(20)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "the node's shell ended meanwhile");
  EXPECT_EQ(Run("echo after").out, "after\n");
}

TEST_F(OneShell, IsReplacedByAnotherAfterAScriptThatIsNoShellText) {
  EXPECT_NE(Run("if true").exit_code, 0);
  EXPECT_EQ(Run("echo after").out, "after\n");
}

}  // namespace
}  // namespace reconciler
