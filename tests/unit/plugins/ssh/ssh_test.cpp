#include "plugins/ssh/ssh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/mark.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/ssh/ssh_scenario.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::ssh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(SshMesh, WithoutItNothingIsReadOrHeld) {
  Scenario scenario = Cluster();
  scenario.cluster.settings = test::Map({{"ssh", test::Map({{"mesh", test::Flag(false)}})}});
  EXPECT_THAT(scenario.Resources("spark-1"), IsEmpty());
  EXPECT_TRUE(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]).empty());
}

TEST(SshMesh, PrivateKeyIsNeverReadOnlyLookedAt) {
  const Scenario scenario = Cluster();
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    if (const auto* file = std::get_if<ReadFile>(&read)) {
      EXPECT_TRUE(file->path.find("id_") == std::string::npos || file->path.ends_with(".pub"));
    } else {
      const auto& probe = std::get<RunProbe>(read);
      EXPECT_THAT(probe.argv[2], Not(HasSubstr("cat ")));
      EXPECT_EQ(probe.argv.back(), "nvidia");
      EXPECT_EQ(probe.time_limit_s, 5);
    }
  }
}

TEST(SshMesh, UserIsTheSectionsElseTheNodesOwn) {
  Scenario scenario = Cluster();
  scenario.cluster.settings =
      test::Map({{"ssh", test::Map({{"mesh", test::Flag(true)}, {"user", test::Text("ml")}})}});
  const auto reads = Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]);
  EXPECT_EQ(std::get<RunProbe>(reads.back()).argv.back(), "ml");
}

TEST(SshMesh, ManifestWithoutAUserIsRefused) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].access.user.clear();
  const Errors errors = Get().check(scenario.cluster, scenario.fabric);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "ssh.mesh: wanted a user for spark-2, found none");
  EXPECT_EQ(errors[0].hint, "set ssh.user, or access.user");
  EXPECT_EQ(errors[0].where, (SourceMark{"cluster.yaml", {6, 5}}));
}

TEST(SshMesh, AKeyThatEveryNodeSharesIsNamedWhereItIsOfferedToAllHosts) {
  Scenario scenario = Cluster();
  const auto find = [&](const std::string& config) {
    scenario.facts.nodes["spark-1"].files[kConfig] = FileState{.content = config};
    for (const Diagnostic& one :
         Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes[0],
                         scenario.facts.nodes.at("spark-1"), scenario.facts})) {
      if (one.code != "ssh-shared-key") continue;
      EXPECT_EQ(one.severity, Severity::kInforms);
      EXPECT_EQ(one.next_step,
                "where nothing needs it any more, remove that section, the key, and its line in "
                "authorized_keys, on every node");
      return one.message;
    }
    return std::string();
  };
  const std::string key = "IdentityFile ~/.ssh/id_ed25519_shared\n";
  EXPECT_EQ(find("Host a\n  User b\n\nHost *\n    " + key),
            "~nvidia/.ssh/config:5 offers ~/.ssh/id_ed25519_shared to every host, one private key "
            "that NVIDIA's script copies to every node");
  const std::vector<std::string> shared = {
      key, "host b *\n\tidentityfile=%d/.ssh/id_ed25519_shared\n", "Match all\n" + key};
  for (const std::string& config : shared) EXPECT_NE(find(config), "") << config;
  const std::vector<std::string> others = {"",
                                           "Host *\n",
                                           "Host spark-2\n" + key,
                                           "Match host a\n" + key,
                                           "# Host *\n# " + key,
                                           "Host *\n  IdentityFile ~/.ssh/id_ed25519_spark\n"};
  for (const std::string& config : others) EXPECT_EQ(find(config), "") << config;
}

TEST(SshMesh, AddressesThatSshConfigWouldExpandAreRefused) {
  Scenario scenario = Cluster();
  EXPECT_THAT(Get().check(scenario.cluster, scenario.fabric), IsEmpty());
  for (const std::string address : {"fe80::1%eth0", "a b", "x\nHost *", "-oProxyCommand=x", "*"}) {
    scenario.cluster.nodes[0].address = address;
    ASSERT_EQ(Get().check(scenario.cluster, scenario.fabric).size(), 1u) << address;
  }
  scenario.cluster.nodes[0].address = "fe80::1%eth0";
  const Errors errors = Get().check(scenario.cluster, scenario.fabric);
  EXPECT_EQ(errors[0].message,
            "ssh.mesh: wanted a host name or an address for spark-1, found 'fe80::1%eth0'");
  EXPECT_EQ(errors[0].hint, "letters, digits, '_', '.', ':' and '-'");
}

TEST(SshKeyPair, IsMadeByTheUserOnTheNodeAfterItsDirectory) {
  Scenario scenario = Cluster();
  NodeFacts& facts = scenario.facts.nodes["spark-1"];
  facts.ssh.directory = Absent{};
  facts.ssh.private_key = Absent{};
  facts.files[kPublic] = Absent{};
  const auto resources = scenario.Resources("spark-1");
  const auto directory = Diff(resources[0], "ssh");
  EXPECT_EQ(directory->name, "~nvidia/.ssh");
  EXPECT_THAT(directory->actions,
              ElementsAre(Action(
                  RunCommand{.argv = {"install", "-d", "-m", "00700", ".ssh"}, .user = "nvidia"})));
  const auto pair = Diff(resources[1], "ssh");
  EXPECT_EQ(pair->change, ChangeKind::kAdd);
  EXPECT_EQ(pair->name, "~nvidia/.ssh/id_ed25519_spark");
  EXPECT_EQ(pair->detail, "(new ed25519 key pair, made on the node)");
  EXPECT_THAT(pair->actions,
              ElementsAre(Action(RunCommand{
                  .argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
                           "spark-reconcile homelab spark-1", "-f", ".ssh/id_ed25519_spark"},
                  .user = "nvidia"})));
  EXPECT_THAT(pair->revert, IsEmpty());
}

TEST(SshKeyPair, WrongModeIsPutRightAndCanBeReverted) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].ssh.private_key = FileAccess{{0644}, "nvidia"};
  const auto change = Diff(scenario.Find("spark-1", "~nvidia/.ssh/id_ed25519_spark"), "ssh");
  EXPECT_EQ(change->detail, "0644 nvidia → 0600 nvidia");
  const auto chmod = [](const std::string& mode) {
    return Action(RunCommand{.argv = {"chmod", mode, ".ssh/id_ed25519_spark"}, .user = "nvidia"});
  };
  EXPECT_THAT(change->actions, ElementsAre(chmod("0600")));
  EXPECT_THAT(change->revert, ElementsAre(chmod("0644")));
}

TEST(SshKeyPair, WhatIsNotOursToRepairIsBlockedWithTheReason) {
  const auto detail = [](const Observed<FileAccess>& key, const Observed<FileState>& pub,
                         const Observed<FileAccess>& directory = FileAccess{{0700}, "nvidia"}) {
    Scenario scenario = Cluster();
    NodeFacts& facts = scenario.facts.nodes["spark-1"];
    facts.ssh.private_key = key;
    facts.ssh.directory = directory;
    facts.files[kPublic] = pub;
    return scenario.Detail("spark-1", "~nvidia/.ssh/id_ed25519_spark");
  };
  const FileState good{.content = Ed25519('a')};
  const FileAccess mode{{0600}, "nvidia"};
  EXPECT_EQ(detail(mode, Absent{}),
            "blocked: the private key lacks its public key: ssh-keygen -y -f "
            "~/.ssh/id_ed25519_spark prints it");
  EXPECT_EQ(
      detail(Absent{}, good),
      "blocked: the public key lacks its private key: move the public key away, and a new pair "
      "is made");
  EXPECT_EQ(detail(mode, FileState{.content = "garbage"}),
            "blocked: the public key is not one ssh-ed25519 line: ssh-keygen -y -f "
            "~/.ssh/id_ed25519_spark prints it");
  EXPECT_EQ(detail(FileAccess{{0600}, "root"}, good), "blocked: belongs to root, wanted nvidia");
  EXPECT_EQ(detail(Absent{}, Absent{}, FileAccess{{0700}, "root"}),
            "blocked: ~/.ssh belongs to root, wanted nvidia");
  EXPECT_EQ(detail(Unknown{"no"}, good), "blocked: unknown: no");
  EXPECT_EQ(detail(mode, Unknown{"is a symbolic link"}),
            "blocked: unknown: public key: is a symbolic link");
  EXPECT_EQ(detail(Absent{}, Absent{}, Unknown{"no"}), "blocked: unknown: no");
}

TEST(SshDirectory, ForeignOwnerBlocksAndWideModeIsNarrowed) {
  Scenario scenario = Cluster();
  Fact<FileAccess>& directory = scenario.facts.nodes["spark-1"].ssh.directory;
  directory = FileAccess{{0775}, "nvidia"};
  EXPECT_EQ(scenario.Detail("spark-1", "~nvidia/.ssh"), "0775 nvidia → 0700 nvidia");
  directory = FileAccess{{0700}, "root"};
  EXPECT_EQ(scenario.Detail("spark-1", "~nvidia/.ssh"), "blocked: belongs to root, wanted nvidia");
}

// Of a directory, chmod keeps the setgid bit where the mode has four digits.
TEST(SshDirectory, SetgidIsClearedAndCanBeReverted) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].ssh.directory = FileAccess{{02700}, "nvidia"};
  const auto change = Diff(scenario.Find("spark-1", "~nvidia/.ssh"), "ssh");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->detail, "2700 nvidia → 0700 nvidia");
  const auto chmod = [](const std::string& mode) {
    return Action(RunCommand{.argv = {"chmod", mode, ".ssh"}, .user = "nvidia"});
  };
  EXPECT_THAT(change->actions, ElementsAre(chmod("00700")));
  EXPECT_THAT(change->revert, ElementsAre(chmod("02700")));
}

TEST(SshDirectory, WhatBlocksItBlocksAllThatLiesInIt) {
  for (const auto& [directory, why] :
       {std::pair<Fact<FileAccess>, std::string>{FileAccess{{0700}, "root"},
                                                 "belongs to root, wanted nvidia"},
        {Unknown{"'.ssh' is a symbolic link"}, "'.ssh' is a symbolic link"}}) {
    Scenario scenario = Cluster();
    scenario.facts.nodes["spark-1"].ssh.directory = directory;
    for (const char* file : {kAuthorized, kKnown, kConfig}) {
      EXPECT_EQ(scenario.Detail("spark-1", file), "blocked: ~nvidia/.ssh: " + why) << file;
    }
  }
}

TEST(SshFiles, AFileOfAnotherUserIsBlocked) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].files[kAuthorized] =
      FileState{.content = "key\n", .mode = 0644, .owner = "root", .group = "root"};
  EXPECT_EQ(scenario.Detail("spark-1", kAuthorized), "blocked: belongs to root, wanted nvidia");
}

TEST(SshAuthorizedKeys, HoldsEachPeersKeyUnderANameThatWeChose) {
  Scenario scenario = Cluster();
  NodeFacts& liar = scenario.facts.nodes["spark-2"];
  liar.files[kPublic] = FileState{.content = Ed25519('b') + " spark-reconcile homelab spark-3\n"};
  EXPECT_EQ(scenario.BlockIn("spark-1", kAuthorized),
            Ed25519('b') + " spark-reconcile homelab spark-2\n" + Ed25519('c') +
                " spark-reconcile homelab spark-3\n");
}

TEST(SshAuthorizedKeys, FileIsTheUsersAlone) {
  Scenario scenario = Cluster();
  const std::string own = "ssh-rsa AAAA someone@laptop";
  scenario.facts.nodes["spark-1"].files[kAuthorized] =
      FileState{.content = own, .mode = 0644, .owner = "root", .group = "root"};
  const Resource resource = scenario.Find("spark-1", kAuthorized);
  const auto& state = std::get<FileState>(std::get<ResourceState>(resource.desired));
  EXPECT_EQ(state.mode, 0600u);
  EXPECT_EQ(state.owner, "nvidia");
  EXPECT_EQ(state.group, "users");
  EXPECT_TRUE(state.content.starts_with(own + "\n# BEGIN spark-reconcile homelab ssh-mesh\n"));
}

TEST(SshAuthorizedKeys, KeyThatIsYetToBeMadeIsKnownAfterApply) {
  Scenario scenario = Cluster();
  for (const char* node : {"spark-2", "spark-3"}) {
    scenario.facts.nodes[node].ssh.private_key = Absent{};
    scenario.facts.nodes[node].files[kPublic] = Absent{};
    EXPECT_EQ(scenario.Detail("spark-1", kAuthorized),
              node == std::string("spark-2")
                  ? "known after apply: public key of spark-2"
                  : "known after apply: public keys of spark-2, spark-3");
  }
  EXPECT_THAT(Diff(scenario.Find("spark-1", kAuthorized), "ssh")->actions, IsEmpty());
}

TEST(SshAuthorizedKeys, KeyThatCannotBeMadeIsNotWaitedFor) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-2"].files[kPublic] = Absent{};  // its private key stands
  EXPECT_EQ(scenario.BlockIn("spark-1", kAuthorized),
            Ed25519('c') + " spark-reconcile homelab spark-3\n");
  EXPECT_EQ(scenario.Warning("spark-1", "public key of spark-2"),
            "cannot determine the public key of spark-2: on spark-2: the private key lacks its "
            "public key: ssh-keygen -y -f ~/.ssh/id_ed25519_spark prints it");
}

TEST(SshMesh, WhatIsWrongOnAPeerIsSaidToBeThere) {
  Scenario scenario = Cluster();
  const auto detail = [&] { return scenario.Warning("spark-1", "public key of spark-2"); };
  scenario.facts.nodes["spark-2"].files[kPublic] = FileState{.content = "garbage"};
  EXPECT_EQ(detail(),
            "cannot determine the public key of spark-2: on spark-2: the public key is not one "
            "ssh-ed25519 line: ssh-keygen -y -f ~/.ssh/id_ed25519_spark prints it");
  scenario.facts.nodes["spark-2"].files[kPublic] = Unknown{"is a symbolic link"};
  EXPECT_EQ(
      detail(),
      "cannot determine the public key of spark-2: on spark-2: public key: is a symbolic link");
}

TEST(SshMesh, UnreachablePeerWithoutEntriesIsWarnedOf) {
  Scenario scenario = Cluster();
  scenario.facts.nodes.erase("spark-3");
  scenario.facts.unreachable["spark-3"] = {.message = "no route"};
  EXPECT_EQ(scenario.Warning("spark-1", "public key of spark-3"),
            "cannot determine the public key of spark-3: spark-3 was not reached");
  EXPECT_EQ(scenario.Warning("spark-1", "host keys of spark-3"),
            "cannot determine the host keys of spark-3: spark-3 was not reached");
  EXPECT_EQ(scenario.BlockIn("spark-1", kAuthorized),
            Ed25519('b') + " spark-reconcile homelab spark-2\n");
}

TEST(SshMesh, UnreachablePeerKeepsTheEntriesThatItHas) {
  Scenario scenario = Cluster();
  NodeFacts& facts = scenario.facts.nodes["spark-1"];
  for (const char* path : {kAuthorized, kKnown, kConfig}) {
    const Resource resource = scenario.Find("spark-1", path);
    facts.files[path] = std::get<FileState>(std::get<ResourceState>(resource.desired));
  }
  scenario.facts.nodes.erase("spark-2");
  EXPECT_EQ(scenario.Warning("spark-1", "public key of spark-2"), "none");
  EXPECT_EQ(scenario.Warning("spark-1", "host keys of spark-2"), "none");
  for (const Resource& resource : scenario.Resources("spark-1")) {
    EXPECT_FALSE(Diff(resource, "ssh")) << resource.name;
  }
}

// As if the manifest had been applied with these names before; its own names stay as they are.
void ApplyUnderFormerNames(Scenario& scenario, const std::string& cluster, const NodeName& node) {
  Scenario before = scenario;
  before.cluster.name = cluster;
  before.cluster.nodes[1].name = node;
  before.facts.nodes[node] = before.facts.nodes["spark-2"];
  for (Segment& segment : before.fabric.segments) segment.ports[1].node = node;
  for (const char* path : {kAuthorized, kKnown, kConfig}) {
    const Resource resource = before.Find("spark-1", path);
    scenario.facts.nodes["spark-1"].files[path] =
        std::get<FileState>(std::get<ResourceState>(resource.desired));
  }
}

TEST(SshMesh, APeerThatWasNotReadKeepsItsKeysThroughARename) {
  for (const auto& [cluster, node] : {std::pair<std::string, NodeName>{"oldlab", "spark-2"},
                                      {"homelab", "old-2"},
                                      {"oldlab", "old-2"}}) {
    Scenario scenario = Cluster();
    scenario.cluster.nodes[1].address = "sparkb";  // an alias: the config has the session's address
    scenario.facts.nodes["spark-2"].session.address = "192.168.1.22";
    const std::string keys = scenario.BlockIn("spark-1", kAuthorized);
    const std::string hosts = scenario.BlockIn("spark-1", kKnown);
    const std::string config = scenario.BlockIn("spark-1", kConfig);
    ASSERT_THAT(config, HasSubstr("  HostName 192.168.1.22\n"));
    ApplyUnderFormerNames(scenario, cluster, node);
    if (cluster != scenario.cluster.name) scenario.cluster.former_name = cluster;
    if (node != "spark-2") {
      scenario.cluster.settings = test::Map(
          {{"ssh", test::Map({{"mesh", test::Flag(true)}})},
           {"moved", test::Map({{"nodes", test::Map({{node, test::Text("spark-2")}})}})}});
    }
    scenario.facts.nodes.erase("spark-2");
    EXPECT_EQ(scenario.BlockIn("spark-1", kAuthorized), keys) << cluster << ' ' << node;
    EXPECT_EQ(scenario.BlockIn("spark-1", kKnown), hosts) << cluster << ' ' << node;
    EXPECT_EQ(scenario.BlockIn("spark-1", kConfig), config) << cluster << ' ' << node;
    EXPECT_EQ(scenario.Warning("spark-1", "public key of spark-2"), "none") << cluster;
    EXPECT_EQ(scenario.Warning("spark-1", "host keys of spark-2"), "none") << cluster;
  }
}

TEST(SshMesh, OnlyEntriesOfOurOwnFormAreKept) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].files[kAuthorized] = FileState{
      .content = SetBlock("", "homelab", "ssh-mesh",
                          "command=\"sh\" " + Ed25519('x') + " spark-reconcile homelab spark-2\n" +
                              Ed25519('y') + " someone\n")};
  scenario.facts.nodes.erase("spark-2");
  EXPECT_EQ(scenario.BlockIn("spark-1", kAuthorized),
            Ed25519('c') + " spark-reconcile homelab spark-3\n");
  EXPECT_EQ(scenario.Warning("spark-1", "public key of spark-2"),
            "cannot determine the public key of spark-2: spark-2 was not reached");
}

TEST(SshMesh, NodeThatLeftTheManifestLosesItsEntries) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].files[kAuthorized] =
      FileState{.content = SetBlock("", "homelab", "ssh-mesh",
                                    Ed25519('z') + " spark-reconcile homelab spark-9\n")};
  EXPECT_THAT(scenario.BlockIn("spark-1", kAuthorized), Not(HasSubstr("spark-9")));
}

TEST(SshMesh, WhatWasWrittenHoldsAfterwards) {
  Scenario scenario = Cluster();
  for (const char* path : {kAuthorized, kKnown, kConfig}) {
    const Resource resource = scenario.Find("spark-1", path);
    scenario.facts.nodes["spark-1"].files[path] =
        std::get<FileState>(std::get<ResourceState>(resource.desired));
  }
  for (const Resource& resource : scenario.Resources("spark-1")) {
    EXPECT_FALSE(Diff(resource, "ssh")) << resource.name;
  }
}

TEST(SshMesh, SingleNodeNeedsNoFiles) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes.resize(1);
  EXPECT_EQ(scenario.Resources("spark-1").size(), 2u);
}

TEST(SshMesh, UnknownFileBlocksInsteadOfChanging) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].files[kConfig] = Unknown{"is a symbolic link"};
  EXPECT_EQ(scenario.Detail("spark-1", kConfig), "blocked: unknown: is a symbolic link");
  scenario.facts.nodes["spark-1"].ssh.group = Unknown{"no such user"};
  EXPECT_EQ(scenario.Detail("spark-1", kKnown), "blocked: unknown: no such user");
}

TEST(SshKnownHosts, HoldsHostKeysUnderEveryNameOfThePeer) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[2].access.port = 2222;
  EXPECT_EQ(scenario.BlockIn("spark-1", kKnown),
            "spark-2,192.168.1.22,spark-2-rail0,192.168.177.2,spark-2-rail1,192.168.178.2 " +
                Ed25519('B') + "\n[spark-3]:2222,[192.168.1.23]:2222 " + Ed25519('C') + "\n");
}

TEST(SshKnownHosts, HostKeysThatCannotBeTrustedAreNotWritten) {
  const auto detail = [](const Observed<FileState>& key) {
    Scenario scenario = Cluster();
    scenario.facts.nodes["spark-2"].files[kHostKey] = key;
    EXPECT_THAT(scenario.BlockIn("spark-1", kKnown), Not(HasSubstr("spark-2")));
    return scenario.Warning("spark-1", "host keys of spark-2");
  };
  EXPECT_EQ(detail(Absent{}),
            "cannot determine the host keys of spark-2: spark-2 has no host key in /etc/ssh");
  EXPECT_EQ(detail(Unknown{"permission denied"}),
            "cannot determine the host keys of spark-2: on spark-2: "
            "/etc/ssh/ssh_host_ed25519_key.pub: permission denied");
  EXPECT_EQ(
      detail(FileState{.content = Ed25519('B') + "\n* " + Ed25519('E') + "\n"}),
      "cannot determine the host keys of spark-2: on spark-2: /etc/ssh/ssh_host_ed25519_key.pub is "
      "not one public key line: ssh-keygen -y -f /etc/ssh/ssh_host_ed25519_key prints it");
}

TEST(SshConfig, NamesEveryRailAndGivesTheUsersOptionsBackTheirReach) {
  const Scenario scenario = Cluster();
  const auto host = [](const std::string& name, const std::string& address) {
    return "Host " + name + " " + address + "\n  HostName " + address +
           "\n  User nvidia\n  IdentityFile ~/.ssh/id_ed25519_spark\n  IdentitiesOnly yes\n";
  };
  EXPECT_EQ(scenario.BlockIn("spark-1", kConfig),
            host("spark-2", "192.168.1.22") + host("spark-2-rail0", "192.168.177.2") +
                host("spark-2-rail1", "192.168.178.2") + host("spark-3", "192.168.1.23") +
                "Match all\n");
}

TEST(SshConfig, AnAddressThatIsTheNameStandsOnce) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].address = "spark-2";
  EXPECT_THAT(scenario.BlockIn("spark-1", kConfig),
              HasSubstr("Host spark-2\n  HostName spark-2\n"));
  EXPECT_THAT(scenario.BlockIn("spark-1", kKnown), testing::StartsWith("spark-2,spark-2-rail0,"));
}

// No node can resolve an alias of the controller's ~/.ssh/config. The host keys of a peer never
// hold for an address that it names itself.
TEST(SshConfig, AnAddressThatIsAnAliasLeadsToTheOneOfTheSession) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].address = "sparkb";
  std::string& session = scenario.facts.nodes["spark-2"].session.address;
  session = "192.168.1.22";
  EXPECT_THAT(scenario.BlockIn("spark-1", kConfig),
              HasSubstr("Host spark-2 sparkb\n  HostName 192.168.1.22\n  HostKeyAlias spark-2\n"
                        "  User nvidia\n"));
  EXPECT_THAT(scenario.BlockIn("spark-1", kKnown),
              testing::StartsWith("spark-2,sparkb,spark-2-rail0,"));
  scenario.cluster.nodes[1].access.port = 2222;
  EXPECT_THAT(scenario.BlockIn("spark-1", kConfig),
              HasSubstr("  HostKeyAlias [spark-2]:2222\n  Port 2222\n"));
  for (const char* useless :
       {"", "127.0.0.1", "169.254.1.2", "fe80::1%eth0", "192.168.1.22\n  ProxyCommand sh"}) {
    session = useless;
    EXPECT_THAT(scenario.BlockIn("spark-1", kConfig),
                HasSubstr("Host spark-2 sparkb\n  HostName sparkb\n  Port"))
        << useless;
  }
  session = "192.168.1.22";
  scenario.cluster.nodes[1].address = "sparkb.lan";  // of DNS, which nodes have too
  EXPECT_THAT(scenario.BlockIn("spark-1", kConfig), HasSubstr("  HostName sparkb.lan\n  Port"));
}

TEST(SshConfig, TheAddressOfAnAliasStaysWhileThePeerHoldsItOrIsNotRead) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].address = "sparkb";
  NodeFacts& peer = scenario.facts.nodes["spark-2"];
  peer.session.address = "::ffff:192.168.1.22";
  const std::string block = scenario.BlockIn("spark-1", kConfig);
  EXPECT_THAT(block, HasSubstr("  HostName 192.168.1.22\n"));
  scenario.facts.nodes["spark-1"].files[kConfig] =
      FileState{.content = SetBlock("", "homelab", "ssh-mesh", block)};
  peer.session.address = "192.168.9.9";
  peer.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.22/24")};
  EXPECT_EQ(scenario.BlockIn("spark-1", kConfig), block);
  peer.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.99/24")};
  EXPECT_THAT(scenario.BlockIn("spark-1", kConfig), HasSubstr("  HostName 192.168.9.9\n"));
  scenario.facts.nodes.erase("spark-2");
  EXPECT_EQ(scenario.BlockIn("spark-1", kConfig), block);
}

// "message: next step" of each line of the user's that differs from ours.
std::vector<std::string> FindForeignLines(const std::string& config, int port = 0) {
  Scenario scenario = Cluster();
  scenario.cluster.nodes[1].access.port = port;
  scenario.facts.nodes["spark-1"].files[kConfig] = FileState{.content = config};
  std::vector<std::string> found;
  for (const Diagnostic& one :
       Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes[0],
                       scenario.facts.nodes.at("spark-1"), scenario.facts})) {
    if (one.code != "ssh-foreign-host") continue;
    const bool wins = one.message.find("wins over ours") != std::string::npos;
    EXPECT_EQ(one.severity, wins ? Severity::kWarns : Severity::kInforms) << one.message;
    EXPECT_EQ(one.where.position.line, 18);
    found.push_back(one.message + ": " + one.next_step);
  }
  return found;
}

TEST(SshConfig, AnEntryOfTheUsersWithOtherValuesIsNamedAndAWarningWhereItWins) {
  const std::string entry = "Host box spark-2\n  User alice\n\tPort=2222\n  HostName 10.9.0.2\n";
  const std::string alice =
      " has User alice for spark-2, and our lines are read first: User nvidia: remove that line, "
      "or give it our value";
  const std::string address =
      " has HostName 10.9.0.2 for spark-2, and our lines are read first: HostName 192.168.1.22: "
      "remove that line, or give it our value";
  const std::string port_step =
      ": remove that line; where sshd has that port, write it into access.port";
  // Our lines have no port where it is 22, so that the user's counts.
  EXPECT_THAT(FindForeignLines(entry),
              ElementsAre("~nvidia/.ssh/config:2" + alice,
                          "~nvidia/.ssh/config:3 has Port 2222 for spark-2, and wins over ours: "
                          "Port 22" +
                              port_step,
                          "~nvidia/.ssh/config:4" + address));
  EXPECT_THAT(FindForeignLines(entry, 22022),
              testing::Contains("~nvidia/.ssh/config:3 has Port 2222 for spark-2, and our lines "
                                "are read first: Port 22022" +
                                port_step));
  const std::string block = SetBlock("", "homelab", "ssh-mesh", "Host spark-2\n  User bob\n");
  EXPECT_THAT(FindForeignLines(block + entry), testing::Contains("~nvidia/.ssh/config:6" + alice));
  EXPECT_THAT(FindForeignLines(entry + block),
              testing::Contains("~nvidia/.ssh/config:2 has User alice for spark-2, and wins over "
                                "ours: User nvidia: remove that line, or give it our value"));
}

TEST(SshConfig, AnEntryOfTheUsersThatChangesNothingIsNotWarnedOf) {
  for (const char* entry :
       {"Host spark-2\n  User nvidia\n  Port 22\n  HostName 192.168.1.22\n",
        "Host spark-2\n  HostName 192.168.177.2\n", "Host spark-2\n  HostName spark-2.lan\n",
        "Host spark-*\n  User alice\n", "Host box\n  User alice\n", "User alice\n",
        "Host spark-2\n  User nvidia\nMatch host spark-2\n  User alice\n",
        "Host spark-2\n  # User alice\n  IdentityFile ~/.ssh/id_rsa\n"}) {
    EXPECT_THAT(FindForeignLines(entry), IsEmpty()) << entry;
  }
}

// As before a rename, with another user.
TEST(SshConfig, TheBlockThatTheClusterHadUnderAFormerNameIsNoEntryOfTheUsers) {
  const std::string former = SetBlock("", "office", "ssh-mesh", "Host spark-2\n  User bob\n");
  Scenario scenario = Cluster();
  NodeFacts& facts = scenario.facts.nodes["spark-1"];
  facts.files[kConfig] = FileState{.content = "# mine\n" + former + "Host spark-3\n  User alice\n"};
  const auto find_places = [&] {
    std::vector<std::string> places;
    for (const Diagnostic& one :
         Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes[0], facts,
                         scenario.facts})) {
      if (one.code == "ssh-foreign-host") places.push_back(one.subject);
    }
    return places;
  };
  const std::string alice = std::string(kConfig) + ":7";
  EXPECT_THAT(find_places(), ElementsAre(std::string(kConfig) + ":4", alice)) << "of others";
  scenario.cluster.former_name = "office";
  EXPECT_THAT(find_places(), ElementsAre(alice));
  scenario.cluster.former_name.clear();
  facts.ledger = Ledger{.cluster = "office"};
  EXPECT_THAT(find_places(), ElementsAre(alice));
  facts.files[kConfig] = FileState{
      .content = SetBlock("", "homelab", "ssh-mesh", "Host spark-2\n  User nvidia\n") + former};
  EXPECT_THAT(find_places(), IsEmpty()) << "beside the block of now";
}

TEST(SshConfig, AliasesAreNamesOfTheFirstSharedRailOrElseOfManagement) {
  Scenario scenario = Cluster();
  const auto node = [](const std::string& name, const std::string& alias) {
    return test::Map({{"name", test::Text(name)}, {"aliases", test::List({test::Text(alias)})}});
  };
  scenario.cluster.settings =
      test::Map({{"ssh", test::Map({{"mesh", test::Flag(true)}})},
                 {"nodes", test::List({node("spark-3", "mesh-3"), node("spark-2", "mesh-2")})}});
  const std::string config = scenario.BlockIn("spark-1", kConfig);
  EXPECT_THAT(config,
              HasSubstr("Host spark-2-rail0 mesh-2 192.168.177.2\n  HostName 192.168.177.2\n"));
  EXPECT_THAT(config, HasSubstr("Host spark-2-rail1 192.168.178.2\n"));
  EXPECT_THAT(config, HasSubstr("Host spark-3 mesh-3 192.168.1.23\n  HostName 192.168.1.23\n"));
  const std::string known = scenario.BlockIn("spark-1", kKnown);
  EXPECT_THAT(known, HasSubstr("spark-2,192.168.1.22,spark-2-rail0,mesh-2,192.168.177.2,"
                               "spark-2-rail1,192.168.178.2 ssh-ed25519 "));
  EXPECT_THAT(known, HasSubstr("spark-3,mesh-3,192.168.1.23 ssh-ed25519 "));
}

TEST(SshConfig, NamesOfRailsDoNotDependOnThoseInEtcHosts) {
  Scenario scenario = Cluster();
  const std::string config = scenario.BlockIn("spark-1", kConfig);
  const std::string known = scenario.BlockIn("spark-1", kKnown);
  scenario.cluster.settings = test::Map({{"ssh", test::Map({{"mesh", test::Flag(true)}})},
                                         {"hosts", test::Map({{"manage", test::Flag(false)}})}});
  EXPECT_THAT(config, HasSubstr("Host spark-2-rail0 192.168.177.2\n  HostName 192.168.177.2\n"));
  EXPECT_EQ(scenario.BlockIn("spark-1", kConfig), config);
  EXPECT_EQ(scenario.BlockIn("spark-1", kKnown), known);
}

TEST(SshConfig, ModeIsTheUsersButNoOneElseMayWrite) {
  Scenario scenario = Cluster();
  scenario.facts.nodes["spark-1"].files[kConfig] = FileState{.content = "Host x\n", .mode = 0664};
  const Resource resource = scenario.Find("spark-1", kConfig);
  EXPECT_EQ(std::get<FileState>(std::get<ResourceState>(resource.desired)).mode, 0644u);
}

TEST(SshMesh, FilesThatNameRailsNeedTheNodesOwnPortsAndKeysNeedNone) {
  Scenario scenario = Cluster();
  for (Segment& segment : scenario.fabric.segments) {
    for (RailPort& port : segment.ports) port.netdev = "p" + std::to_string(segment.rail);
  }
  for (const char* file : {kKnown, kConfig}) {
    EXPECT_THAT(scenario.Find("spark-1", file).needs,
                testing::ElementsAre("spark-1/link/p0", "spark-1/link/p1"));
    EXPECT_THAT(scenario.Find("spark-3", file).needs, testing::IsEmpty());
  }
  EXPECT_THAT(scenario.Find("spark-1", kAuthorized).needs, testing::IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins::ssh
