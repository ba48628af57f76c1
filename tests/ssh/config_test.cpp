#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/settings.h"
#include "tests/ssh/sshd_fixture.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Nothing but the configuration says how to log in.
class SshConfig : public SshTest {
 protected:
  void StartUnnamed(const std::string& extra = "") {
    StartSshd(extra);
    node_.address = "lab-2";
    node_.access = Access{.become = Become::kNone};
  }
  // The host key, as a line of known_hosts has it behind the name.
  std::string Key() const {
    const std::string line = sshd_->KnownHostsLine();
    return line.substr(line.find(' ') + 1);
  }
  // `does`: what the program `ssh` does meanwhile.
  std::string DialErrorWith(const std::string& does) const {
    const std::string path = std::getenv("PATH");
    const std::string folder = PutClient(does);
    setenv("PATH", (folder + ":" + path).c_str(), 1);
    std::string error = DialError();
    setenv("PATH", path.c_str(), 1);
    return error;
  }
  // The folder of a program `ssh` that does that.
  std::string PutClient(const std::string& does) const {
    const std::string folder = fmt::format("{}/{}", folder_, does.size());
    std::filesystem::create_directories(folder);
    WriteText(folder + "/ssh", "#!/bin/sh\n" + does + "\n");
    Shell("chmod 755 " + folder + "/ssh");
    return folder;
  }
  std::string AllOptions() const {
    return fmt::format("  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n",
                       sshd_->Port(), user_, key_);
  }
};

// Until it ends, no program is found but those of `folder`.
class WithoutPrograms {
 public:
  explicit WithoutPrograms(const std::string& folder = "/nowhere") : before_(std::getenv("PATH")) {
    setenv("PATH", folder.c_str(), 1);
  }
  ~WithoutPrograms() { setenv("PATH", before_.c_str(), 1); }
  WithoutPrograms(const WithoutPrograms&) = delete;
  WithoutPrograms& operator=(const WithoutPrograms&) = delete;

 private:
  std::string before_;
};

TEST_F(SshConfig, PatternsMatchTheAddressAlsoBehindAHostName) {
  StartUnnamed();
  for (const std::string block : {"Host lab-*", "Match originalhost lab-2"}) {
    WriteConfig(
        fmt::format("Host lab-2\n  HostName 127.0.0.1\n{}\n  User {}\n  Port {}\n"
                    "  IdentityFile {}\n",
                    block, user_, sshd_->Port(), key_));
    ExpectLogin();
  }
}

TEST_F(SshConfig, HostKeyIsKnownByItsAlias) {
  Shell(fmt::format("ssh-keygen -q -t ecdsa -N '' -f {}/ecdsa", folder_));
  StartUnnamed(fmt::format("HostKey {}/ecdsa", folder_));
  const std::string key = Shell(fmt::format("cut -d' ' -f1,2 {}/ecdsa.pub", folder_));
  // A key of another type is offered, unless that one is requested.
  for (const std::string alias : {"spark-2", "Spark-2", "[spark-2]:2222", "spark_2"}) {
    WriteConfig(fmt::format("Host lab-2\n{}  HostKeyAlias {}\n", AllOptions(), alias));
    WriteText(known_hosts_, ToLower(alias) + " " + key);
    ExpectLogin();
  }
}

TEST_F(SshConfig, HostKeyIsAddedUnderItsAlias) {
  StartUnnamed();
  std::filesystem::remove(known_hosts_);
  WriteConfig(fmt::format("Host lab-2\n{}  HostKeyAlias spark-2\n", AllOptions()));
  node_.access.host_keys = HostKeys::kAcceptNew;
  ExpectLogin();
  EXPECT_EQ(ReadText(known_hosts_), "spark-2 " + Key());
}

TEST_F(SshConfig, FilesThatItIncludesAreRead) {
  StartUnnamed();
  WriteText(home_ + "/.ssh/relative", fmt::format("Host lab-*\n  IdentityFile {}\n", key_));
  WriteText(folder_ + "/other", fmt::format("Host lab-2\n  HostName 127.0.0.1\n  Port {}\n"
                                            "  User {}\n",
                                            sshd_->Port(), user_));
  Shell(fmt::format("chmod 600 {}/.ssh/relative {}/other", home_, folder_));
  WriteConfig(fmt::format("Include relative\nInclude {}/other\n", folder_));
  ExpectLogin();
}

TEST_F(SshConfig, AgentOfTheConfigIsUsed) {
  StartUnnamed();
  StartAgent();
  Shell(fmt::format("ssh-add -q {0}; mv {0} {0}.away", key_));
  const std::string socket = std::getenv("SSH_AUTH_SOCK");
  unsetenv("SSH_AUTH_SOCK");
  setenv("SPARK_TEST_AGENT", socket.c_str(), 1);
  for (const std::string agent : {socket.c_str(), "$SPARK_TEST_AGENT"}) {
    WriteConfig(fmt::format("Host lab-2\n{}  IdentityAgent {}\n", AllOptions(), agent));
    ExpectLogin();
  }
  unsetenv("SPARK_TEST_AGENT");
}

TEST_F(SshConfig, NoAgentIsUsedWhereTheConfigSaysNone) {
  StartUnnamed();
  StartAgent();
  Shell(fmt::format("ssh-add -q {0}; mv {0} {0}.away", key_));
  WriteConfig(fmt::format("Host lab-2\n{}", AllOptions()));
  ExpectLogin();
  WriteConfig(fmt::format("Host lab-2\n{}  IdentityAgent none\n", AllOptions()));
  EXPECT_THAT(DialError(), HasSubstr("there is no key to try (no agent, and none of " + key_));
}

TEST_F(SshConfig, CommandsInItRunOnceForALogin) {
  StartUnnamed();
  WriteConfig(
      fmt::format("Match exec \"echo run >>{0}/runs\"\n  IdentityFile {0}/first\n"
                  "  IdentityFile {0}/second\nHost lab-2\n{1}",
                  folder_, AllOptions()));
  ExpectLogin();
  EXPECT_EQ(ReadText(folder_ + "/runs"), "run\n");
}

TEST_F(SshConfig, CommandThatDoesNotEndIsGivenUpInTime) {
  StartUnnamed();
  node_.access.connect_timeout_s = 1;
  WriteConfig("Match exec \"sleep 300\"\n  User no-one\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(DialError(),
            "spark-2: ssh did not read its configuration within 1 s\n"
            "  hint: a command of `Match exec` there, or a name that it looks up, takes that "
            "long\n");
  test::ExpectWithin(std::chrono::seconds(10), begin);
}

TEST_F(SshConfig, KindsOfKeysInEveryKnownHostsFileAreRequested) {
  Shell(fmt::format("ssh-keygen -q -t ecdsa -N '' -f {}/ecdsa", folder_));
  StartUnnamed(fmt::format("HostKey {}/ecdsa", folder_));
  Shell(fmt::format("echo \"[127.0.0.1]:{0} $(cut -d' ' -f1,2 {1}/ecdsa.pub)\" >{1}/others",
                    sshd_->Port(), folder_));
  for (const std::string option : {"UserKnownHostsFile /dev/null", "GlobalKnownHostsFile"}) {
    WriteConfig(fmt::format("Host lab-2\n{}  {} {} {}/others\n", AllOptions(), option, known_hosts_,
                            folder_));
    WriteText(known_hosts_, "elsewhere " + Key());
    ExpectLogin();
  }
}

TEST_F(SshConfig, EveryKnownHostsFileIsRead) {
  StartUnnamed();
  std::filesystem::rename(known_hosts_, folder_ + "/others");
  WriteConfig(fmt::format("Host lab-2\n{}  UserKnownHostsFile {} {}/others\n", AllOptions(),
                          known_hosts_, folder_));
  ExpectLogin();
}

TEST_F(SshConfig, TildeOfAKnownHostsFileIsHome) {
  StartUnnamed();
  std::filesystem::rename(known_hosts_, home_ + "/.ssh/others");
  WriteConfig(fmt::format("Host lab-2\n{}  UserKnownHostsFile ~/.ssh/others\n", AllOptions()));
  ExpectLogin();
}

TEST_F(SshConfig, KeysAreKeptInTheUsualFileWhereTheOneOfTheConfigKeepsNone) {
  StartUnnamed();
  for (const std::string file : {"/dev/null", "none"}) {
    std::filesystem::remove(known_hosts_);
    WriteConfig(fmt::format("Host lab-2\n{}  UserKnownHostsFile {}\n", AllOptions(), file));
    const auto before = ReadHostKey(node_);
    ASSERT_TRUE(before) << FormatError(before.error());
    EXPECT_FALSE(before->known);
    EXPECT_EQ(before->known_hosts, known_hosts_);
    ASSERT_TRUE(AddHostKey(*before));
    EXPECT_FALSE(std::filesystem::exists("none"));
    ExpectLogin();
  }
}

TEST_F(SshConfig, AddressMayBeANameThatLibsshDoesNotTake) {
  StartUnnamed();
  node_.address = "my_node";
  WriteConfig(fmt::format("Host my_node\n{}", AllOptions()));
  ExpectLogin();
}

TEST_F(SshConfig, TildeOfAnyPathIsHome) {
  StartUnnamed();
  StartAgent();
  Shell(
      fmt::format("ssh-add -q {0}; mv {0} {0}.away; ln -s \"$SSH_AUTH_SOCK\" {1}/agent; "
                  "mv {2} {1}/others",
                  key_, home_, known_hosts_));
  unsetenv("SSH_AUTH_SOCK");
  WriteConfig(fmt::format("Host lab-2\n{}  IdentityAgent ~/agent\n  UserKnownHostsFile ~/others\n",
                          AllOptions()));
  ExpectLogin();
}

// As root with the HOME of an administrator, whose files OpenSSH's client takes from them alone.
TEST_F(SshConfig, FileThatTheClientDoesNotTakeUnderAnotherHomeIsRead) {
  StartUnnamed();
  WriteText(folder_ + "/other", fmt::format("Host lab-2\n  HostName 127.0.0.1\n  Port {}\n"
                                            "  User {}\n",
                                            sshd_->Port(), user_));
  Shell(fmt::format("chmod 666 {}/other", folder_));
  WriteConfig(fmt::format("Host lab-2\n  IdentityFile {}\n  Include {}/other\n", key_, folder_));
  ExpectLogin();
}

TEST_F(SshConfig, AnotherProgramThatIsNamedSshIsNotUsed) {
  StartUnnamed();
  WriteConfig(fmt::format("Host lab-2\n{}", AllOptions()));
  const std::string path = std::getenv("PATH");
  for (const std::string does : {"echo usage >&2; exit 1", "echo version 3"}) {
    setenv("PATH", (PutClient(does) + ":" + path).c_str(), 1);
    ExpectLogin();
    setenv("PATH", path.c_str(), 1);
  }
}

TEST_F(SshConfig, AWrapperOfTheClientThatFailedOnceIsUsedFromThenOn) {
  StartUnnamed();
  WriteConfig(fmt::format("Host lab-2\n{}  HostKeyAlias spark-2\n", AllOptions()));
  WriteText(known_hosts_, "spark-2 " + Key());
  const std::string client(Trim(Shell("command -v ssh")));
  const std::string folder = PutClient(
      fmt::format("[ -e {0}/failed ] && exec {1} \"$@\"\n: >{0}/failed; exit 1", folder_, client));
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder + ":" + path).c_str(), 1);
  EXPECT_THAT(DialError(), HasSubstr("the host key is not known"));
  ExpectLogin();
  setenv("PATH", path.c_str(), 1);
}

TEST_F(SshConfig, AClientOfOpenSshThatFailsIsNotPassedOver) {
  StartUnnamed();
  WriteConfig(fmt::format("Host lab-2\n{}", AllOptions()));
  const std::string hint =
      "  hint: it reads no file for that: `ssh -F none -G localhost` shows whether `ssh` works "
      "here\n";
  EXPECT_EQ(DialErrorWith("echo no memory >&2; exit 255"),
            "spark-2: ssh cannot print its defaults: no memory\n" + hint);
  EXPECT_EQ(DialErrorWith("exec /nowhere/ssh 2>/dev/null"),
            "spark-2: ssh cannot print its defaults: exit 127\n" + hint);
  node_.access.connect_timeout_s = 1;
  EXPECT_EQ(DialErrorWith("sleep 300"),
            "spark-2: ssh did not print its defaults within 1 s\n" + hint);
}

TEST_F(SshConfig, AFolderThatIsNamedSshIsNoClient) {
  StartUnnamed();
  WriteConfig(fmt::format("Host lab-2\n{}", AllOptions()));
  std::filesystem::create_directories(folder_ + "/bin/ssh");
  const WithoutPrograms no_client(folder_ + "/bin");
  ExpectLogin();
}

TEST_F(SshConfig, JumpHostWithUserAndPortLogsIn) {
  StartUnnamed();
  Sshd jump(folder_ + "/jump");
  Shell(fmt::format("cp {}.pub {}/jump/authorized_keys", key_, folder_));
  Trust(jump);
  for (const bool is_in_jump : {true, false}) {
    const std::string port = is_in_jump ? fmt::format(":{}", jump.Port()) : "";
    const std::string own = is_in_jump ? "" : fmt::format("  Port {}\n", jump.Port());
    WriteConfig(
        fmt::format("Host 127.0.0.1\n  IdentityFile {}\n  UserKnownHostsFile {}\n{}"
                    "  GlobalKnownHostsFile /dev/null\nHost lab-2\n{}"
                    "  ProxyJump {}@127.0.0.1{}\n",
                    key_, known_hosts_, own, AllOptions(), user_, port));
    ExpectLogin();
  }
  EXPECT_THAT(jump.Log(), HasSubstr("Accepted publickey for " + user_));
}

TEST_F(SshConfig, CiphersOfTheConfigAreTheOnlyOnes) {
  StartUnnamed("Ciphers aes256-ctr");
  WriteConfig(fmt::format("Host lab-2\n{}", AllOptions()));
  ExpectLogin();
  WriteConfig(fmt::format("Host lab-2\n{}  Ciphers aes128-ctr\n", AllOptions()));
  EXPECT_THAT(DialError(), StartsWith(fmt::format("spark-2 (lab-2 = 127.0.0.1:{}): the key "
                                                  "exchange failed: ",
                                                  sshd_->Port())));
}

TEST_F(SshConfig, IsReadWithoutOpenSshToo) {
  StartUnnamed();
  WriteConfig(fmt::format("Host other\n  Port 1\nHost lab-2\n{}", AllOptions()));
  const WithoutPrograms no_client;
  ExpectLogin();
}

TEST_F(SshConfig, RevokedHostKeysAreReadWithoutOpenSshToo) {
  StartUnnamed();
  WriteText(home_ + "/.ssh/revoked", Key());
  const std::string first =
      fmt::format("Host other\n  RevokedHostKeys /nowhere\nHost lab-2\n{}", AllOptions());
  const WithoutPrograms no_client;
  WriteConfig(first);
  ExpectLogin();
  WriteConfig(first + "  RevokedHostKeys none\n  RevokedHostKeys ~/.ssh/revoked\n");
  ExpectLogin();
  WriteConfig(first + "  RevokedHostKeys=~/.ssh/revoked\n  RevokedHostKeys none\n");
  EXPECT_THAT(DialError(), StartsWith(home_ + "/.ssh/revoked:1: spark-2 ("));
}

TEST_F(SshConfig, AnIncludedIdentityFileIsNoFileOfRevokedHostKeys) {
  StartUnnamed();
  WriteText(home_ + "/.ssh/revoked", Key());
  WriteText(folder_ + "/included", "IdentityFile " + folder_ + "/no-list\n");
  const std::string include = fmt::format("Include {}/included\n", folder_);
  const WithoutPrograms no_client;
  WriteConfig(fmt::format("{}Host other\n  RevokedHostKeys /nowhere\nHost lab-2\n{}  {}", include,
                          AllOptions(), include));
  ExpectLogin();
  WriteConfig(fmt::format("{}Host lab-2\n{}  RevokedHostKeys ~/.ssh/revoked\n  {}", include,
                          AllOptions(), include));
  EXPECT_THAT(DialError(), StartsWith(home_ + "/.ssh/revoked:1: spark-2 ("));
}

TEST_F(SshConfig, IncludedFilesOfTheSystemCountBeforeTheOneThatIncludesThem) {
  for (const std::string name : {"b.conf", "a.conf", "a.conf.bak"}) {
    WriteText(folder_ + "/" + name, "");
  }
  EXPECT_THAT(ListSystemConfigs(folder_ + "/*.conf"),
              testing::ElementsAre(folder_ + "/a.conf", folder_ + "/b.conf", kGlobalConfig));
  EXPECT_THAT(ListSystemConfigs(folder_ + "/none/*.conf"), testing::ElementsAre(kGlobalConfig));
}

TEST_F(SshConfig, MistakeIsNamedWithoutOpenSshToo) {
  StartUnnamed();
  WriteConfig("Host *\n  Match user\n");
  const WithoutPrograms no_client;
  EXPECT_EQ(DialError(), fmt::format("spark-2: cannot read {}/.ssh/config: line 2: ERROR - Match "
                                     "user keyword requires argument\n",
                                     home_));
}

}  // namespace
}  // namespace reconciler
