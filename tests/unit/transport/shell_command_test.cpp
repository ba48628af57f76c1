#include "reconciler/transport/shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace reconciler {
namespace {

using testing::ElementsAre;

TEST(ShellCommand, RemoteShellBecomesRootOnItsOwn) {
  EXPECT_EQ(BuildRemoteShellCommand(Become::kSudo, "00ff"),
            "exec env LC_ALL=C sudo -n sh -s -- \"$SSH_CONNECTION\" '00ff'");
}

TEST(ShellCommand, RemoteShellWithoutBecomeStaysWhoItIs) {
  EXPECT_EQ(BuildRemoteShellCommand(Become::kNone, "00ff"),
            "exec env LC_ALL=C sh -s -- \"$SSH_CONNECTION\" '00ff'");
}

TEST(ShellCommand, LocalShellOfOthersBecomesRoot) {
  EXPECT_THAT(BuildLocalShellArgv(Become::kSudo, false, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sudo", "-n", "sh", "-s", "--", "", "00ff"));
}

TEST(ShellCommand, LocalShellOfRootNeedsNoSudo) {
  EXPECT_THAT(BuildLocalShellArgv(Become::kSudo, true, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sh", "-s", "--", "", "00ff"));
}

TEST(ShellCommand, LocalShellWithoutBecomeNeedsNoSudo) {
  EXPECT_THAT(BuildLocalShellArgv(Become::kNone, false, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sh", "-s", "--", "", "00ff"));
}

TEST(ShellCommand, TokensDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::string token = MakeShellToken();
    EXPECT_EQ(token.size(), 16u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

}  // namespace
}  // namespace reconciler
