#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/ssh/sshd_fixture.h"

namespace reconciler {
namespace {

using testing::HasSubstr;

using SshLogin = SshTest;

TEST_F(SshLogin, IdentityOfTheManifestLogsIn) {
  StartSshd();
  ExpectLogin();
}

TEST_F(SshLogin, IdentityBelowTheHomeDirectoryLogsIn) {
  StartSshd();
  Shell(fmt::format("mv {} {}/.ssh/special", key_, home_));
  node_.access.identity = "~/.ssh/special";
  ExpectLogin();
}

TEST_F(SshLogin, DefaultKeyFileLogsIn) {
  StartSshd();
  Shell(fmt::format("mv {} {}/.ssh/id_ed25519", key_, home_));
  node_.access.identity.clear();
  ExpectLogin();
}

TEST_F(SshLogin, DefaultKeyFileLogsInAlsoWhereTheKeyOfTheConfigIsRefused) {
  StartSshd();
  Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {}/wrong; mv {} {}/.ssh/id_ed25519", folder_,
                    key_, home_));
  node_.access.identity.clear();
  WriteConfig(fmt::format("Host *\n  IdentityFile {}/wrong\n", folder_));
  ExpectLogin();
}

TEST_F(SshLogin, EveryUsualKindOfKeyLogsIn) {
  for (const std::string kind : {"rsa -b 2048", "ecdsa", "rsa -b 2048 -m PEM"}) {
    Shell(fmt::format("rm -f {0} {0}.pub; ssh-keygen -q -t {1} -N '' -f {0}", key_, kind));
    Shell(fmt::format("rm -rf {}/sshd {}", folder_, known_hosts_));
    StartSshd();
    ExpectLogin();
  }
}

TEST_F(SshLogin, AgentLogsIn) {
  StartSshd();
  StartAgent();
  Shell(fmt::format("ssh-add -q {0}; rm {0}", key_));
  node_.access.identity.clear();
  ExpectLogin();
}

TEST_F(SshLogin, EncryptedIdentityThatTheAgentHoldsLogsIn) {
  StartSshd();
  StartAgent();
  Shell(fmt::format("ssh-add -q {0}; ssh-keygen -q -p -P '' -N secret -f {0}", key_));
  ExpectLogin();
}

TEST_F(SshLogin, AgentThatDoesNotAnswerIsLeftOut) {
  StartSshd();
  const std::string path = folder_ + "/silent";
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd silent(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(silent.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(silent.Get(), 5), 0);
  setenv("SSH_AUTH_SOCK", path.c_str(), 1);
  Shell(fmt::format("mv {} {}/.ssh/id_ed25519", key_, home_));
  node_.access.identity.clear();
  ExpectLogin();
}

TEST_F(SshLogin, HostAliasOfTheConfigLogsIn) {
  StartSshd();
  WriteConfig(
      fmt::format("Host other\n  Port 1\nHost lab-*\n  HostName 127.0.0.1\n  Port {}\n"
                  "  User {}\n  IdentityFile {}\n",
                  sshd_->Port(), user_, key_));
  node_.address = "lab-2";
  node_.access = Access{.become = Become::kNone};
  ExpectLogin();
}

TEST_F(SshLogin, ManifestWinsOverTheConfig) {
  StartSshd();
  WriteConfig("Host *\n  Port 1\n  User nobody-there\n  IdentityFile /nowhere/key\n");
  ExpectLogin();
}

TEST_F(SshLogin, EachIdentityFileOfTheConfigIsTried) {
  StartSshd();
  Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {}/wrong", folder_));
  node_.access.identity.clear();
  for (const std::string order : {"{0}/wrong {1}", "{1} {0}/wrong"}) {
    const std::vector<std::string> files =
        Split(fmt::format(fmt::runtime(order), folder_, key_), ' ');
    WriteConfig(
        fmt::format("Host elsewhere\n  IdentityFile /no/key\nHost 127.*\n"
                    "  identityfile {}\nHost *\n  IdentityFile {}\n",
                    files[0], files[1]));
    ExpectLogin();
  }
}

TEST_F(SshLogin, KnownHostsFileOfTheConfigIsRead) {
  StartSshd();
  Shell(fmt::format("mv {} {}/others", known_hosts_, folder_));
  WriteConfig(fmt::format("Host *\n  UserKnownHostsFile {}/others\n", folder_));
  ExpectLogin();
}

TEST_F(SshLogin, ProxyJumpOfTheConfigLogsIn) {
  StartSshd();
  Sshd jump(folder_ + "/jump");
  Shell(fmt::format("cp {}.pub {}/jump/authorized_keys", key_, folder_));
  Trust(jump);
  WriteConfig(
      fmt::format("Host jump\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n"
                  "  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n"
                  "Host inner\n  HostName 127.0.0.1\n  ProxyJump jump\n",
                  jump.Port(), user_, key_, known_hosts_));
  node_.address = "inner";
  ExpectLogin();
  EXPECT_THAT(jump.Log(), HasSubstr("Accepted publickey for " + user_));
  EXPECT_THAT(sshd_->Log(), HasSubstr("Accepted publickey for " + user_));
}

TEST_F(SshLogin, ProxyCommandOfTheConfigLogsIn) {
  StartSshd();
  WriteText(folder_ + "/relay.sh",
            "echo \"$@\" >" + folder_ +
                "/arguments; shift\n"
                "exec ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no "
                "-o UserKnownHostsFile=/dev/null -i " +
                key_ + " -p \"$2\" -W \"$1:$2\" \"$3@127.0.0.1\"\n");
  WriteConfig(fmt::format("Host *\n  ProxyCommand sh {}/relay.sh 100%% %h %p %r %n\n", folder_));
  ExpectLogin();
  EXPECT_EQ(ReadText(folder_ + "/arguments"),
            fmt::format("100% 127.0.0.1 {} {} 127.0.0.1\n", sshd_->Port(), user_));
}

}  // namespace
}  // namespace reconciler
