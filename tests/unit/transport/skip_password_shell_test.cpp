// What stands behind `sudo -S` when its password is not read, as where sudo wants none.
#include "reconciler/transport/shell_command.h"

#include "reconciler/transport/skip_password.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class SkipPassword : public ShellTest {
 protected:
  // The shell's answer, with a sudo of the test in front of the real ones.
  ScriptReply RunBehind(const std::string& sudo, const std::string& password,
                        const std::string& script) {
    const Access access{.sudo_password = std::make_shared<const std::string>(password)};
    Put("bin/sudo", "#!/bin/sh\n" + sudo + "\nshift 3\nexec \"$@\"\n");
    std::filesystem::permissions(Path("bin/sudo"), std::filesystem::perms::owner_all);
    Put("input", BuildShellInput(access, false) + script);
    return Run("PATH=" + Path("bin") + ":$PATH SSH_CONNECTION=there sh -c " +
               QuoteForShell(BuildRemoteShellCommand(access, "00ff")) + " <" + Path("input"));
  }
};

TEST_F(SkipPassword, APasswordThatSudoReadIsGoneAndTheScriptRuns) {
  const ScriptReply reply =
      RunBehind("IFS= read -r password", "secret", "echo \"$1 $2\"; exit 3\n");
  EXPECT_EQ(reply.out, "there 00ff\n");
  EXPECT_EQ(reply.err, "");
  EXPECT_EQ(reply.exit_code, 3);
}

TEST_F(SkipPassword, APasswordThatSudoLeftIsNoCommand) {
  const ScriptReply reply = RunBehind("", "touch " + Path("harm"), "echo \"$1 $2\"\necho more\n");
  EXPECT_EQ(reply.out, "there 00ff\nmore\n");
  EXPECT_EQ(reply.err, "");
  EXPECT_FALSE(std::filesystem::exists(Path("harm")));
}

TEST_F(SkipPassword, WithoutAScriptNothingRuns) {
  Put("input", "secret\n");
  const ScriptReply reply =
      Run("sh -c " + QuoteForShell(FindLastLine(kSkipPasswordSh)) + " sh <" + Path("input"));
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.out + reply.err, "");
}

}  // namespace
}  // namespace reconciler
