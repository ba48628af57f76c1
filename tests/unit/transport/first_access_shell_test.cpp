// The administrator's key and the drop-in of sudoers, with a sudo and a visudo of the test.
#include "reconciler/transport/first_access.h"

#include "reconciler/transport/revoke_sudo.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

constexpr const char* kKey = "ssh-ed25519 AAAAC3Nza admin@desk";

// One shell on this machine whose environment the test sets first.
class PreparedTransport : public Transport {
 public:
  PreparedTransport(Transport& real, std::string before)
      : real_(real), before_(std::move(before)) {}
  Result<std::unique_ptr<Channel>> OpenShell() override {
    auto shell = real_.OpenShell();
    if (shell) {
      (void)(*shell)->Write(before_, std::chrono::steady_clock::now() + std::chrono::seconds(20));
    }
    return shell;
  }

 private:
  Transport& real_;
  std::string before_;
};

class FirstAccess : public ShellTest {
 protected:
  FirstAccess() {
    node_.name = "spark-2";
    std::filesystem::create_directories(Path("home"));
  }

  Result<bool> Install(const std::string& key = kKey) {
    auto real = DialLocal(node_);
    PreparedTransport login(**real, "HOME=" + QuoteForShell(Path("home")) + "\n");
    return InstallKey(node_, login, key);
  }

  // `sudo`: what stands in its place.
  Result<void> Grant(const std::string& sudo) {
    auto real = DialLocal(node_);
    PreparedTransport login(**real, "sudo() { " + sudo + "; }\n");
    return GrantSudo(node_, login, "nvidia", "pass'word $x");
  }

  // The same: whether sudo wanted the password.
  Result<bool> Try(const std::string& sudo) {
    auto real = DialLocal(node_);
    PreparedTransport login(**real, "sudo() { " + sudo + "; }\n");
    const auto reply = TrySudoPassword(node_, login, "pass'word $x");
    return reply ? ParseSudoReply(node_, *reply) : Fail(reply.error());
  }

  std::string Keys() const { return Get(Path("home/.ssh/authorized_keys")); }
};

TEST_F(FirstAccess, AKeyIsAddedWithItsFolderForThisUserOnly) {
  const auto added = Install();
  ASSERT_TRUE(added) << FormatError(added.error());
  EXPECT_TRUE(*added);
  EXPECT_EQ(Keys(), std::string(kKey) + "\n");
  EXPECT_EQ(Run("stat -c %a " + Path("home/.ssh") + " " + Path("home/.ssh/authorized_keys")).out,
            "700\n600\n");
}

TEST_F(FirstAccess, AKeyThatIsThereIsNotAddedAgainWhateverItsComment) {
  ASSERT_TRUE(Install("ssh-ed25519 AAAAC3Nza another comment"));
  const auto added = Install();
  ASSERT_TRUE(added);
  EXPECT_FALSE(*added);
  EXPECT_EQ(Keys(), "ssh-ed25519 AAAAC3Nza another comment\n");
}

TEST_F(FirstAccess, ALastLineWithoutAnEndStaysALineOfItsOwn) {
  Put("home/.ssh/authorized_keys", "ssh-rsa AAAAB3 other");
  ASSERT_TRUE(Install());
  EXPECT_EQ(Keys(), "ssh-rsa AAAAB3 other\n" + std::string(kKey) + "\n");
}

TEST_F(FirstAccess, AKeyThatCannotBeAddedIsAnErrorWithTheReason) {
  Put("home/.ssh", "a file");
  const auto added = Install();
  ASSERT_FALSE(added);
  const std::string text = FormatError(added.error());
  EXPECT_TRUE(text.starts_with(
      "spark-2: the key could not be added to ~/.ssh/authorized_keys: exit 1: mkdir: "))
      << text;
}

TEST_F(FirstAccess, WhatAnAccountThatMayNotLogInPrintsIsTheReason) {
  auto real = DialLocal(node_);
  PreparedTransport login(**real, "echo 'This account is currently not available.'; exit 1\n");
  const auto added = InstallKey(node_, login, kKey);
  ASSERT_FALSE(added);
  EXPECT_EQ(FormatError(added.error()),
            "spark-2: the key could not be added to ~/.ssh/authorized_keys: exit 1: This account "
            "is currently not available.\n");
}

TEST_F(FirstAccess, ThePasswordReachesSudoOnItsInputAndNoArgument) {
  const auto granted = Grant("cat >" + QuoteForShell(Path("in")) + "; printf '%s\\n' \"$*\" >" +
                             QuoteForShell(Path("arguments")));
  ASSERT_TRUE(granted) << FormatError(granted.error());
  EXPECT_EQ(Get(Path("in")), "pass'word $x\n");
  EXPECT_EQ(Get(Path("arguments")).find("pass'word"), std::string::npos);
}

TEST_F(FirstAccess, WhereOnlyTheShellOfTheProgramNeedsNoPasswordNoneIsTried) {
  const std::string narrow =
      "case \"$*\" in '-n -k sh -s -- '*) return 0 ;; *' true') cat >" + QuoteForShell(Path("in")) +
      " ;; esac; echo 'Sorry, user ada is not allowed to execute that.' >&2; return 1";
  const auto wanted = Try(narrow);
  ASSERT_TRUE(wanted) << FormatError(wanted.error());
  EXPECT_FALSE(*wanted);
  EXPECT_FALSE(std::filesystem::exists(Path("in")));
}

TEST_F(FirstAccess, WhereTheShellOfTheProgramNeedsAPasswordItIsTried) {
  const auto wanted =
      Try("case $1 in -n) echo 'sudo: a password is required' >&2; return 1 ;; *) cat >" +
          QuoteForShell(Path("in")) + " ;; esac");
  ASSERT_TRUE(wanted) << FormatError(wanted.error());
  EXPECT_TRUE(*wanted);
  EXPECT_EQ(Get(Path("in")), "pass'word $x\n");
}

// sudoers may allow nothing else.
TEST_F(FirstAccess, APasswordIsTriedWithAShell) {
  const std::string narrow =
      "case \"$*\" in '-n '*) echo 'sudo: a password is required' >&2; return 1 ;; "
      "'-S -k -p  sh -c '*) eval \"$read\"; shift 4; \"$@\"; return $? ;; esac; "
      "echo 'Sorry, user ada is not allowed to execute that.' >&2; return 1";
  for (const std::string read : {"IFS= read -r typed", ":"}) {  // `:`: sudo wants no password
    const auto wanted = Try("read='" + read + "'; " + narrow);
    ASSERT_TRUE(wanted) << FormatError(wanted.error());
    EXPECT_TRUE(*wanted);
  }
}

TEST_F(FirstAccess, ARefusalOfSudoIsFoundBehindWhatStartupFilesPrint) {
  node_.access.become = Become::kSudo;
  NodeSpec login = node_;
  login.access.become = Become::kNone;
  auto real = DialLocal(login);
  PreparedTransport refusing(**real,
                             "echo hello; echo 'sudo: a password is required' >&2; exit 1\n");
  const auto removal = RevokeSudo(node_, refusing);
  ASSERT_FALSE(removal);
  EXPECT_EQ(removal.error().message, "spark-2: sudo wants a password for the login user");
}

// Runs what sudo would run, with a visudo and a file of the test.
class SudoersDropIn : public FirstAccess {
 protected:
  SudoersDropIn() {
    std::filesystem::create_directories(Path("sudoers.d"));
    CheckWith("cp \"$2\" " + QuoteForShell(Path("checked")));
  }

  void CheckWith(const std::string& visudo) {
    Put("bin/visudo", "#!/bin/sh\n" + visudo + "\n");
    std::filesystem::permissions(Path("bin/visudo"), std::filesystem::perms::owner_all);
  }

  Result<void> Write() {
    return Grant("while [ \"$1\" != -c ]; do shift; done; PATH=" + QuoteForShell(Path("bin")) +
                 ":$PATH; export PATH; sh \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" " +
                 QuoteForShell(File()));
  }

  std::string File() const { return Path("sudoers.d/spark-reconcile"); }
};

TEST_F(SudoersDropIn, ItIsWrittenOnceVisudoHasCheckedIt) {
  const auto granted = Write();
  ASSERT_TRUE(granted) << FormatError(granted.error());
  const std::string text =
      "# Written by `spark-reconcile access --fix --sudoers`.\nnvidia ALL=(ALL) NOPASSWD: ALL\n";
  EXPECT_EQ(Get(File()), text);
  EXPECT_EQ(Get(Path("checked")), text);
  EXPECT_EQ(Run("stat -c %a " + File()).out, "440\n");
}

TEST_F(SudoersDropIn, WhatVisudoRefusesIsNotWritten) {
  CheckWith("echo 'syntax error' >&2; exit 1");
  EXPECT_FALSE(Write());
  EXPECT_EQ(Run("ls -A " + Path("sudoers.d")).out, "");
}

TEST_F(SudoersDropIn, TheRulesOfOtherUsersStay) {
  Put("sudoers.d/spark-reconcile",
      "# Written by `spark-reconcile access --fix --sudoers`.\nada ALL=(ALL) NOPASSWD: ALL\n");
  ASSERT_TRUE(Write());
  ASSERT_TRUE(Write());
  EXPECT_EQ(Get(File()),
            "# Written by `spark-reconcile access --fix --sudoers`.\nada ALL=(ALL) NOPASSWD: ALL\n"
            "nvidia ALL=(ALL) NOPASSWD: ALL\n");
}

TEST_F(SudoersDropIn, AFileThatAnotherHandWroteIsLeftAlone) {
  Put("sudoers.d/spark-reconcile", "ada ALL=(ALL) NOPASSWD: ALL\n");
  const auto written = Write();
  ASSERT_FALSE(written);
  EXPECT_EQ(
      FormatError(written.error()),
      "spark-2: /etc/sudoers.d/spark-reconcile is there, and `access --fix --sudoers` did not "
      "write it\n"
      "  hint: add this line to it (with visudo -f): nvidia ALL=(ALL) NOPASSWD: ALL\n");
  EXPECT_EQ(Get(File()), "ada ALL=(ALL) NOPASSWD: ALL\n");
}

TEST_F(FirstAccess, WhySudoRefusesIsSaid) {
  const auto wrong = Grant("echo 'Sorry, try again.' >&2; return 1");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(FormatError(wrong.error()),
            "spark-2: sudo refused the password\n  hint: run it again and type it with care\n");
  const auto denied = Grant("echo 'nvidia is not in the sudoers file.' >&2; return 1");
  ASSERT_FALSE(denied);
  EXPECT_EQ(
      FormatError(denied.error()),
      "spark-2: /etc/sudoers.d/spark-reconcile could not be written: exit 1: nvidia is not in "
      "the sudoers file.\n"
      "  hint: the user must be allowed to use sudo: `usermod -aG sudo nvidia` as root there\n");
}

TEST_F(FirstAccess, OnlyTheDropInThatWasWrittenHereIsRemoved) {
  const auto revoke = [&] {
    const std::string file = QuoteForShell(Path("drop-in"));
    return Run("MARK='# Written by `spark-reconcile access --fix --sudoers`.'\nFILE=" + file +
               "\n" + std::string(kRevokeSudoSh))
        .out;
  };
  EXPECT_EQ(revoke(), "absent\n");
  Put("drop-in", "nvidia ALL=(ALL) NOPASSWD: ALL\n");
  EXPECT_EQ(revoke(), "kept\n");
  EXPECT_TRUE(std::filesystem::exists(Path("drop-in")));
  Put("drop-in", "# Written by `spark-reconcile access --fix --sudoers`.\n");
  EXPECT_EQ(revoke(), "removed\n");
  EXPECT_FALSE(std::filesystem::exists(Path("drop-in")));
}

}  // namespace
}  // namespace reconciler
