#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "plugins/ssh/public_key.h"
#include "plugins/ssh/ssh.h"
#include "reconciler/base/text.h"
#include "tests/support/run_here.h"
#include "tests/unit/plugins/ssh/ssh_scenario.h"

// What goes in from a node as text, and what comes out for an ssh client to read.
namespace reconciler::plugins::ssh {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Output(const std::string& command) {
  return reconciler::test::RunHere({"sh", "-c", command}).out;
}

// A file of the test's own, gone with it.
class Scratch : public ::testing::Test {
 protected:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "ssh_test.XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~Scratch() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name) << content;
    return QuoteForShell((directory_ / name).string());
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path directory_;
};
using SshFiles = Scratch;

TEST_F(SshFiles, ClientReadsTheConfigAsMeant) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].access.port = 2222;
  scenario.facts.nodes["spark-1"].files[kConfig] =
      FileState{.content = "ServerAliveInterval 7\nHost other\n  User root\n"};
  const Resource resource = scenario.Find("spark-1", kConfig);
  const std::string path =
      Write("config", std::get<FileState>(std::get<ResourceState>(resource.desired)).content);
  const std::string rail = Output("ssh -G -F " + path + " spark-2-rail0");
  for (const char* line : {"hostname 192.168.177.2\n", "user nvidia\n", "port 2222\n",
                           "identityfile ~/.ssh/id_ed25519_spark\n", "identitiesonly yes\n",
                           "serveraliveinterval 7\n"}) {
    EXPECT_THAT(rail, HasSubstr(line));
  }
  const std::string other = Output("ssh -G -F " + path + " other");
  EXPECT_THAT(other, HasSubstr("serveraliveinterval 7\n"));
  EXPECT_THAT(other, HasSubstr("user root\n"));
  EXPECT_THAT(other, HasSubstr("identitiesonly no\n"));
  EXPECT_THAT(other, Not(HasSubstr("id_ed25519_spark")));
}

TEST_F(SshFiles, ClientFindsTheHostKeysUnderEveryName) {
  Scenario scenario = Cluster();
  for (const std::string type : {"ed25519", "ecdsa", "rsa"}) {
    Output("ssh-keygen -q -t " + type + " -N '' -f " + Write(type + ".seed", "") + ".key");
    scenario.facts.nodes["spark-2"].files["/etc/ssh/ssh_host_" + type + "_key.pub"] =
        FileState{.content = Read(type + ".seed.key.pub")};
  }
  const Resource resource = scenario.Find("spark-1", kKnown);
  const std::string path =
      Write("known_hosts", std::get<FileState>(std::get<ResourceState>(resource.desired)).content);
  const std::string prints = Output("ssh-keygen -lf " + path);
  EXPECT_EQ(SplitLines(prints).size(), 4u) << prints;  // three of spark-2, one of spark-3
  for (const char* name : {"spark-2", "spark-2-rail1", "192.168.177.2", "192.168.1.22"}) {
    const std::string found = Output("ssh-keygen -F " + std::string(name) + " -f " + path);
    for (const std::string type : {"ed25519", "ecdsa", "rsa"}) {
      const auto key = ParsePublicKey(Read(type + ".seed.key.pub"));
      ASSERT_TRUE(key);
      EXPECT_THAT(found, HasSubstr(key->Line())) << name;
    }
  }
}

TEST(SshPublicKey, PlainKeysOfEveryKindAreReadWithoutTheirComment) {
  EXPECT_EQ(ParsePublicKey(Ed25519('q') + " who said what\n")->Line(), Ed25519('q'));
  EXPECT_EQ(ParsePublicKey(Ed25519('q'))->Line(), Ed25519('q'));
}

TEST(SshPublicKey, AnythingButOnePlainLineIsRefused) {
  const std::string good = Ed25519('q');
  const std::string base64 = good.substr(good.find(' ') + 1);
  for (const std::string& text : std::vector<std::string>{
           std::string(),
           std::string("\n"),
           good + "\n" + good + "\n",
           good + "\n\n",
           good + " x\rssh-rsa",
           good + std::string(" a\0b", 4),
           "\n" + good,
           " " + good,
           "command=\"rm -rf /\" " + good,
           "from=\"*\",no-pty " + good,
           "@cert-authority * " + good,
           "* " + good,
           "# " + good,
           std::string("ssh-ed25519"),
           std::string("ssh-ed25519 "),
           "ssh-ed25519  " + base64,
           "ssh-rsa " + base64,  // the wire form disagrees
           "ssh-dss " + base64,
           "ssh-ed25519-cert-v01@openssh.com " + base64,
           good.substr(0, good.size() - 1) + "!",
           good.substr(0, good.size() - 4),  // a shorter point
           good + "AAAA",                    // a longer one
           "ssh-ed25519 AAAA",
           "ssh-ed25519 /////w==",  // a length beyond the end
           good.substr(0, good.size() - 1) + "=",
           "ssh-rsa " + std::string(8192, 'A'),
       }) {
    EXPECT_FALSE(ParsePublicKey(text)) << MakePrintable(text);
  }
}

TEST(SshAccount, ModesAndOwnersComeFromStatAndMissingFilesAreAbsent) {
  NodeFacts facts;
  Get().parse({.commands = {{"ssh.account",
                             {.exit_code = 1,
                              .out = "/proc/self/|555|nvidia|users\n.ssh|700|nvidia|dialout\n",
                              .err = "stat: cannot statx '.ssh/id_ed25519_spark': No such file or "
                                     "directory\n"}}}},
              facts);
  EXPECT_EQ(facts.ssh.group, Observed<std::string>("users"));
  EXPECT_EQ(facts.ssh.directory, Observed<FileAccess>(FileAccess{{0700}, "nvidia"}));
  EXPECT_EQ(facts.ssh.private_key, Observed<FileAccess>(Absent{}));
}

TEST(SshAccount, WhatCouldNotBeSeenIsUnknownAndNotAbsent) {
  const auto key = [](const CommandReply& reply) {
    NodeFacts facts;
    Get().parse({.commands = {{"ssh.account", reply}}}, facts);
    const Unknown* unknown = FindUnknown(facts.ssh.private_key);
    return unknown == nullptr ? "not unknown" : unknown->why;
  };
  EXPECT_EQ(key({.exit_code = 3}), "the user does not exist on the node");
  EXPECT_EQ(key({.exit_code = 124}), "looking up the user gave no answer in 5 s");
  EXPECT_EQ(key({.exit_code = 5, .err = "sh: 5: cd: can't cd to /home/x\n"}),
            "sh: 5: cd: can't cd to /home/x");
  EXPECT_EQ(key({.exit_code = 4}), "looking up the user ended with exit 4");
  EXPECT_EQ(key({.exit_code = 1,
                 .out = "/proc/self/|555|nvidia|users\n",
                 .err = "stat: cannot statx '.ssh/id_ed25519_spark': Permission denied\n"}),
            "stat: cannot statx '.ssh/id_ed25519_spark': Permission denied");
  EXPECT_EQ(key({.out = "/proc/self/|555|nvidia|users\n"}), "stat gave no answer");
  EXPECT_EQ(key({.out = "/proc/self/|555|nvidia|users\n.ssh/id_ed25519_spark|rw|nvidia|users\n"}),
            "stat gave no answer");
}

TEST(SshAccount, AGroupWithoutANameIsUnknown) {
  for (const char* out : {"", ".ssh|700|nvidia|users\n", "/proc/self/|555|nvidia|UNKNOWN\n"}) {
    NodeFacts facts;
    Get().parse({.commands = {{"ssh.account", {.out = out}}}}, facts);
    EXPECT_EQ(facts.ssh.group, Observed<std::string>(Unknown{"the user has no primary group"}));
  }
}

// The probe as it runs on a node, against the account that runs the test.
TEST(SshAccount, ProbeAnswersForARealUser) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[0].access.user = "root";
  const auto reads = Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]);
  const std::string out = Output("LC_ALL=C " + JoinForShell(std::get<RunProbe>(reads.back()).argv));
  EXPECT_EQ(SplitLines(out).front(), "/proc/self/|555|root|root") << out;

  scenario.cluster.nodes[0].access.user = "$(touch /tmp/x)'; nobody-of-that-name";
  const auto hostile = Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]);
  EXPECT_EQ(Output(JoinForShell(std::get<RunProbe>(hostile.back()).argv) + "; echo $?"), "3\n");
}

// A user who is not root: "daemon" with a home of the test's.
class AccountHome : public Scratch {
 protected:
  void SetUp() override {
    const passwd* account = getpwnam("daemon");
    if (geteuid() != 0 || account == nullptr) GTEST_SKIP() << "becoming another user needs root";
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    database_ = fmt::format("getent() {{ echo 'daemon:x:{}:{}::{}:/bin/sh'; }}\n", account->pw_uid,
                            account->pw_gid, directory_.string());
  }
  NodeFacts Look() {
    Scenario scenario = Cluster();
    scenario.cluster.nodes[0].access.user = "daemon";
    const auto reads = Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]);
    std::vector<std::string> argv = std::get<RunProbe>(reads.back()).argv;
    argv[2] = database_ + argv[2];
    CommandReply reply{.exit_code = 1, .err = Output("LC_ALL=C " + JoinForShell(argv))};
    reply.out = reply.err;  // Output has both
    NodeFacts facts;
    Get().parse({.commands = {{"ssh.account", reply}}}, facts);
    return facts;
  }
  static std::string Why(const Fact<FileAccess>& fact) {
    const Unknown* unknown = FindUnknown(fact);
    return unknown == nullptr ? "not unknown" : unknown->why;
  }
  std::string database_;
};

TEST_F(AccountHome, AFolderThatIsALinkIsNotFollowed) {
  std::filesystem::create_directory_symlink("/root", directory_ / ".ssh");
  const NodeFacts facts = Look();
  EXPECT_EQ(facts.ssh.group, Fact<std::string>("daemon"));
  EXPECT_EQ(Why(facts.ssh.directory), "'.ssh' is a symbolic link");
  EXPECT_EQ(Why(facts.ssh.private_key),
            "'.ssh/id_ed25519_spark' cannot be reached: ~/.ssh is a symbolic link");
}

TEST_F(AccountHome, AKeyThatIsALinkIsNotFollowed) {
  std::filesystem::create_directory(directory_ / ".ssh");
  std::filesystem::permissions(directory_ / ".ssh", std::filesystem::perms(0755));
  std::filesystem::create_symlink("/etc/shadow", directory_ / ".ssh/id_ed25519_spark");
  const NodeFacts facts = Look();
  EXPECT_EQ(facts.ssh.directory, Fact<FileAccess>(FileAccess{{0755}, "root"}));
  EXPECT_EQ(Why(facts.ssh.private_key), "'.ssh/id_ed25519_spark' is a symbolic link");
}

TEST_F(AccountHome, ItIsTheUserWhoLooksAndNotRoot) {
  std::filesystem::create_directory(directory_ / ".ssh");
  std::filesystem::permissions(directory_ / ".ssh", std::filesystem::perms(0700));
  const NodeFacts facts = Look();
  EXPECT_EQ(Why(facts.ssh.private_key),
            "stat: cannot statx '.ssh/id_ed25519_spark': Permission denied");
}

}  // namespace
}  // namespace reconciler::plugins::ssh
