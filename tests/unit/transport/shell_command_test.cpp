#include "reconciler/transport/shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/transport/skip_password.sh.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ShellCommand, RemoteShellBecomesRootOnItsOwn) {
  EXPECT_EQ(BuildRemoteShellCommand({.become = Become::kSudo}, "00ff"),
            "exec env LC_ALL=C sudo -n sh -s -- \"$SSH_CONNECTION\" '00ff'");
}

TEST(ShellCommand, RemoteShellWithoutBecomeStaysWhoItIs) {
  EXPECT_EQ(BuildRemoteShellCommand({.become = Become::kNone}, "00ff"),
            "exec env LC_ALL=C sh -s -- \"$SSH_CONNECTION\" '00ff'");
}

TEST(ShellCommand, LocalShellOfOthersBecomesRoot) {
  EXPECT_THAT(BuildLocalShellArgv({.become = Become::kSudo}, false, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sudo", "-n", "sh", "-s", "--", "", "00ff"));
}

TEST(ShellCommand, LocalShellOfRootNeedsNoSudo) {
  EXPECT_THAT(BuildLocalShellArgv({.become = Become::kSudo}, true, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sh", "-s", "--", "", "00ff"));
}

TEST(ShellCommand, LocalShellWithoutBecomeNeedsNoSudo) {
  EXPECT_THAT(BuildLocalShellArgv({.become = Become::kNone}, false, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sh", "-s", "--", "", "00ff"));
}

Access WithPassword() {
  return {.sudo_password = std::make_shared<const std::string>("pass word")};
}

TEST(ShellCommand, SudoReadsThePasswordAndNoArgumentHoldsIt) {
  const std::string remote = BuildRemoteShellCommand(WithPassword(), "00ff");
  EXPECT_THAT(remote, StartsWith("exec env LC_ALL=C sudo -S -p '' sh -c '"));
  EXPECT_THAT(remote, EndsWith("' sh \"$SSH_CONNECTION\" '00ff'"));
  EXPECT_THAT(remote, Not(HasSubstr("pass word")));
  EXPECT_THAT(BuildLocalShellArgv(WithPassword(), false, "00ff"),
              ElementsAre("env", "LC_ALL=C", "sudo", "-S", "-p", "", "sh", "-c",
                          FindLastLine(kSkipPasswordSh), "sh", "", "00ff"));
  EXPECT_EQ(BuildShellInput(WithPassword(), false), "pass word\nthe script begins here\n");
}

// csh takes no newline between quotes, and looks for its history at each '!', also there.
TEST(ShellCommand, RemoteShellIsOneLineThatEveryLoginShellTakes) {
  for (const Access& access : {Access{.become = Become::kNone}, Access{}, WithPassword()}) {
    EXPECT_EQ(BuildRemoteShellCommand(access, "00ff").find_first_of("\n!"), std::string::npos);
  }
}

TEST(ShellCommand, NothingIsWrittenToAShellThatNeedsNoPassword) {
  EXPECT_EQ(BuildShellInput({}, false), "");
  EXPECT_EQ(BuildShellInput(WithPassword(), true), "");
  Access login = WithPassword();
  login.become = Become::kNone;
  EXPECT_EQ(BuildShellInput(login, false), "");
  EXPECT_THAT(BuildLocalShellArgv(WithPassword(), true, "00ff"),
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
