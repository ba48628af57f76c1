#include <fmt/format.h>

#include <filesystem>

#include "reconciler/transport/ssh/password.h"
#include "tests/ssh/sshd_fixture.h"

namespace reconciler {
namespace {

using SshLoginRefused = SshTest;

TEST_F(SshLoginRefused, WrongKeyIsNamed) {
  StartSshd();
  Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {}/wrong", folder_));
  node_.access.identity = folder_ + "/wrong";
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: refused: {2}/wrong\n"
                        "  hint: put the public key there: ssh-copy-id -p {3} {1}@127.0.0.1\n",
                        Place(), user_, folder_, sshd_->Port()));
}

TEST_F(SshLoginRefused, KeysOfTheAgentThatWereNotTriedBeforeAreCounted) {
  StartSshd();
  StartAgent();
  for (const std::string name : {"a", "b"}) {
    Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {0}/{1}; ssh-add -q {0}/{1}", folder_,
                      name));
  }
  node_.access.identity = folder_ + "/a";
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: refused: {2}/a, 1 key of the agent\n"
                        "  hint: put the public key there: ssh-copy-id -p {3} {1}@127.0.0.1\n",
                        Place(), user_, folder_, sshd_->Port()));
}

TEST_F(SshLoginRefused, TooManyKeysOfTheAgentAreSaidToBeTooMany) {
  StartSshd("MaxAuthTries 2");
  StartAgent();
  for (const std::string name : {"a", "b", "c"}) {
    Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {0}/{1}; ssh-add -q {0}/{1}", folder_,
                      name));
  }
  node_.access.identity.clear();
  EXPECT_EQ(DialError(), fmt::format("{}: cannot log in as {}: too many keys were tried (3 keys of "
                                     "the agent)\n"
                                     "  hint: name the right key file as `identity` in `access`\n",
                                     Place(), user_));
}

// sshd sends the banner with its answer to the first key, and is ended at the second one.
TEST_F(SshLoginRefused, ALoginThatBreaksQuotesTheLastMessageOfSshd) {
  WriteText(folder_ + "/banner", "notice\nSystem is going down.\n");
  StartSshd(
      fmt::format("Banner {0}/banner\nAuthorizedKeysCommandUser {1}\n"
                  "AuthorizedKeysCommand /bin/sh -c \"test -e {0}/first && kill $PPID || "
                  ": >{0}/first\"",
                  folder_, user_));
  Sshd jump(folder_ + "/jump");
  std::filesystem::copy_file(key_ + ".pub", folder_ + "/jump/authorized_keys");
  WriteText(folder_ + "/relay.sh",
            fmt::format("ssh -F /dev/null -o StrictHostKeyChecking=no -o LogLevel=QUIET "
                        "-o UserKnownHostsFile=/dev/null -i {} -p {} -W 127.0.0.1:{} {}@127.0.0.1\n"
                        "echo the relay ended >&2\n",
                        key_, jump.Port(), sshd_->Port(), user_));
  std::string keys;
  for (const std::string name : {"a", "b"}) {
    Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {}/{}", folder_, name));
    keys += fmt::format("  IdentityFile {}/{}\n", folder_, name);
  }
  node_.access.identity.clear();
  const std::string lost = fmt::format(
      "{}: the last message of sshd in the login as {} is 'System is going down.', and then the "
      "connection was lost",
      Place(), user_);
  const std::string hint =
      "\n  hint: if that message is about the login: a node that is starting or stopping lets in "
      "only root, and an account may be locked or expired\n";
  WriteConfig("Host *\n" + keys);
  EXPECT_EQ(DialError(), lost + hint);
  std::filesystem::remove(folder_ + "/first");
  WriteConfig(fmt::format("Host *\n{}  ProxyCommand sh {}/relay.sh\n", keys, folder_));
  EXPECT_EQ(DialError(), lost + ": the relay ended" + hint);
}

TEST_F(SshLoginRefused, EncryptedKeyWithoutAgentIsToBeLoaded) {
  StartSshd();
  for (const std::string form : {"", "-m PEM "}) {
    Shell(fmt::format("rm -f {0} {0}.pub; ssh-keygen -q -t rsa -b 2048 {1}-N secret -f {0}", key_,
                      form));
    EXPECT_EQ(DialError(),
              fmt::format("{0}: cannot log in as {1}: {2} is encrypted and no agent has it\n"
                          "  hint: load it into the agent: ssh-add '{2}'\n",
                          Place(), user_, key_));
  }
}

TEST_F(SshLoginRefused, EncryptedKeyAmongRefusedOnesIsNamedFirst) {
  StartSshd();
  StartAgent();
  Shell(
      fmt::format("ssh-keygen -q -t ed25519 -N '' -f {0}/a; ssh-add -q {0}/a; "
                  "ssh-keygen -q -p -P '' -N secret -f {1}",
                  folder_, key_));
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: {2} is encrypted and no agent has it; "
                        "refused: 1 key of the agent\n"
                        "  hint: load it into the agent: ssh-add '{2}'\n",
                        Place(), user_, key_));
}

TEST_F(SshLoginRefused, MissingIdentityFileIsReportedBeforeTheNetworkIsUsed) {
  node_ = NodeSpec{.name = "spark-2", .address = "127.0.0.1"};
  node_.access.port = FreePort();
  node_.access.identity = "~/.ssh/nothing";
  EXPECT_EQ(DialError(), fmt::format("spark-2: the identity file {}/.ssh/nothing does not exist\n"
                                     "  hint: it is `identity` in `access` of the manifest\n",
                                     home_));
}

TEST_F(SshLoginRefused, FileThatIsNoKeyIsSaidToBeNone) {
  node_ = NodeSpec{.name = "spark-2", .address = "127.0.0.1"};
  node_.access.identity = folder_ + "/text";
  WriteText(node_.access.identity, "hello\n");
  EXPECT_EQ(DialError(),
            fmt::format("spark-2: the identity file {}/text is no private key that can be read\n"
                        "  hint: it is `identity` in `access` of the manifest\n",
                        folder_));
}

TEST_F(SshLoginRefused, NoKeyAtAllListsWhereItWasLookedFor) {
  StartSshd();
  node_.access.identity.clear();
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: there is no key to try (no agent, and none of "
                        "{2}/.ssh/id_ed25519, {2}/.ssh/id_ecdsa, {2}/.ssh/id_rsa)\n"
                        "  hint: make one with ssh-keygen, or name its file as `identity` in "
                        "`access`\n",
                        Place(), user_, home_));
}

TEST_F(SshLoginRefused, ServerThatTakesOnlyPasswordsIsSaidTo) {
  StartSshd("PubkeyAuthentication no\nPasswordAuthentication yes");
  EXPECT_EQ(DialError(),
            fmt::format(
                "{}: cannot log in as {}: no keys are taken there, only: password\n"
                "  hint: PubkeyAuthentication yes in its sshd_config; an apply uses no passwords\n",
                Place(), user_));
}

TEST_F(SshLoginRefused, ServerThatWantsAPasswordOnTopIsSaidTo) {
  StartSshd("PasswordAuthentication yes\nAuthenticationMethods publickey,password");
  EXPECT_EQ(DialError(),
            fmt::format("{}: cannot log in as {}: the key is accepted, but another login method is "
                        "required (password)\n"
                        "  hint: set `AuthenticationMethods publickey` in its sshd_config\n",
                        Place(), user_));
}

TEST_F(SshLoginRefused, AKeyCanBeAddedWhereAPasswordIsTakenOfAMachineThatAnswers) {
  StartSshd("PasswordAuthentication yes");
  EXPECT_TRUE(CheckKeyCanBeAdded(node_));
  const std::string place = Place();
  sshd_.reset();
  const auto gone = CheckKeyCanBeAdded(node_);
  ASSERT_FALSE(gone);
  EXPECT_TRUE(FormatError(gone.error()).starts_with(place)) << FormatError(gone.error());
}

TEST_F(SshLoginRefused, AKeyCannotBeAddedWhereNoneIsTaken) {
  StartSshd("PubkeyAuthentication no\nPasswordAuthentication yes");
  EXPECT_EQ(FormatError(CheckKeyCanBeAdded(node_).error()),
            fmt::format(
                "{}: cannot log in as {}: no keys are taken there\n"
                "  hint: PubkeyAuthentication yes in its sshd_config; an apply uses no passwords\n",
                Place(), user_));
}

TEST_F(SshLoginRefused, AKeyCannotBeAddedWhereNoPasswordIsTaken) {
  StartSshd("PasswordAuthentication no\nKbdInteractiveAuthentication no");
  EXPECT_EQ(FormatError(CheckKeyCanBeAdded(node_).error()),
            fmt::format("{}: cannot log in as {}: no passwords are taken there\n"
                        "  hint: add the key at the machine itself, or set PasswordAuthentication "
                        "yes in its sshd_config\n",
                        Place(), user_));
}

TEST_F(SshLoginRefused, LoginThatTakesTooLongIsGivenUpInTime) {
  StartSshd("AuthorizedKeysCommand /bin/sleep 6\nAuthorizedKeysCommandUser " + user_);
  std::filesystem::remove(folder_ + "/sshd/authorized_keys");
  node_.access.connect_timeout_s = 2;
  EXPECT_EQ(DialError(), fmt::format("{}: the login as {} took longer than 2 s\n"
                                     "  hint: an sshd that looks up names without an answer is "
                                     "slow: UseDNS no in its sshd_config\n",
                                     Place(), user_));
}

TEST_F(SshLoginRefused, UserNameWithShellSignsIsNotTaken) {
  StartSshd();
  node_.access.user = "$(reboot)";
  EXPECT_EQ(DialError(),
            "spark-2: the user name '$(reboot)' is not one that libssh takes\n"
            "  hint: letters, digits, '.' and '-' are safe\n");
}

TEST_F(SshLoginRefused, AddressWithShellSignsIsNotTaken) {
  StartSshd();
  node_.address = "a;reboot";
  EXPECT_EQ(DialError(),
            "spark-2: the address 'a;reboot' is not one that libssh takes\n"
            "  hint: letters, digits, '.' and '-' are safe\n");
}

TEST_F(SshLoginRefused, ConfigThatCannotBeReadIsNamed) {
  StartSshd();
  WriteConfig("Host *\n  Nonsense yes\n");
  EXPECT_EQ(DialError(),
            fmt::format("spark-2: ssh cannot read its configuration: {}/.ssh/config: line 2: Bad "
                        "configuration option: nonsense\n"
                        "  hint: OpenSSH's `ssh` refuses it as well: correct that file\n",
                        home_));
}

}  // namespace
}  // namespace reconciler
