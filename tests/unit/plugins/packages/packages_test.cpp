#include "plugins/packages/packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reconciler/base/text.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::packages {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Value Package(const std::string& name, const std::string& at_least = "") {
  if (at_least.empty()) return test::Text(name);
  return test::Map({{"name", test::Text(name)}, {"at_least", test::Text(at_least)}});
}

struct Scenario : test::PairScenario {
  explicit Scenario(std::vector<Value> packages, const std::string& reply = "") {
    int line = 30;
    for (Value& package : packages) package = test::At(line++, std::move(package));
    cluster.settings = test::Map({{"packages", test::List(std::move(packages))}});
    if (!reply.empty()) Read({.out = "apt yes\n" + reply});
  }

  void Read(const CommandReply& reply) {
    Get().parse({.commands = {{"packages.apt", reply}}}, facts);
  }
  Change Plan(const std::string& name) const {
    return Diff(Find(Get(), name), "packages").value_or(Change());
  }
};

// A command of apt without what all of them have; of a script, its arguments.
std::string Shorten(const Action& action) {
  std::vector<std::string> argv = std::get<RunCommand>(action).argv;
  if (argv[0] == "sh") {
    argv[2] = argv[2].find("apt-mark showmanual") == argv[2].npos ? "REMOVE" : "PRUNE";
  } else if (argv[0] == "env") {
    argv.erase(argv.begin() + 4, argv.begin() + 16);
    argv.erase(argv.begin(), argv.begin() + 3);
  }
  return Join(argv, " ");
}

template <class List>
std::vector<std::string> ShortenAll(const List& actions) {
  std::vector<std::string> lines;
  for (const auto& action : actions) lines.push_back(Shorten(action));
  return lines;
}

constexpr const char* kNvme =
    "package nvme-cli unknown not-installed -\n"
    "available nvme-cli 2.4-3\n"
    "step nvme-cli uuid-runtime - 2.38.1-5\n"
    "step nvme-cli libnvme1 - 1.3-1\n"
    "step nvme-cli nvme-cli - 2.4-3\n"
    "simulated nvme-cli\n";

TEST(Packages, OneThatIsInstalledHolds) {
  const Scenario scenario({Package("nvme-cli"), Package("libnccl2", "2.28.3")},
                          "package nvme-cli install installed 2.4-3\n"
                          "package libnccl2 hold installed 2.28.3-1+cuda13.0\n");
  EXPECT_EQ(scenario.Detail(Get(), "nvme-cli"), "holds");
  EXPECT_EQ(scenario.Detail(Get(), "libnccl2"), "holds");
}

TEST(Packages, ANewOneComesAtTheVersionsOfTheSimulationWithWhatItNeeds) {
  const Scenario scenario({Package("nvme-cli")}, kNvme);
  const Change change = scenario.Plan("nvme-cli");
  EXPECT_EQ(change.change, ChangeKind::kAdd);
  EXPECT_EQ(change.detail, "2.4-3, with uuid-runtime 2.38.1-5, libnvme1 1.3-1");
  EXPECT_EQ(change.impact, Impact::kNone);
  EXPECT_THAT(ShortenAll(change.actions),
              ElementsAre("apt-get install uuid-runtime=2.38.1-5 libnvme1=1.3-1 nvme-cli=2.4-3",
                          "apt-mark auto libnvme1 uuid-runtime"));
}

TEST(Packages, AptWaitsForItsLockWithALimitAndRemovesNothing) {
  const Scenario scenario({Package("nvme-cli")}, kNvme);
  const Change change = scenario.Plan("nvme-cli");
  const auto& command = std::get<RunCommand>(change.actions.front());
  EXPECT_EQ(Join(command.argv, " "),
            "env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -y "
            "--no-install-recommends --no-remove -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -o "
            "Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold install "
            "uuid-runtime=2.38.1-5 libnvme1=1.3-1 nvme-cli=2.4-3");
  EXPECT_EQ(command.time_limit_s, 900);
}

TEST(Packages, ARevertRemovesExactlyWhatWasNew) {
  const Scenario scenario({Package("nvme-cli")}, kNvme);
  const Change change = scenario.Plan("nvme-cli");
  EXPECT_THAT(ShortenAll(change.revert),
              ElementsAre("sh -c REMOVE sh uuid-runtime libnvme1 nvme-cli"));
  const auto& command = std::get<RunCommand>(change.revert.front());
  EXPECT_TRUE(command.must_succeed);
  EXPECT_TRUE(command.at_boot);
}

TEST(Packages, APruneLeavesWhatOthersNeedByThen) {
  const Scenario scenario({Package("nvme-cli")}, kNvme);
  const Change change = scenario.Plan("nvme-cli");
  EXPECT_THAT(change.prune_commands.before, IsEmpty());
  EXPECT_THAT(ShortenAll(change.prune_commands.after),
              ElementsAre("sh -c PRUNE sh nvme-cli libnvme1 uuid-runtime"));
}

// The prune of `name`, by the commands that a ledger has.
Change Prune(const Scenario& scenario, const std::string& name, std::vector<RunCommand> commands,
             bool uninstall = false) {
  Change change{.kind = "package", .name = name, .triggers = std::move(commands), .prune = true};
  const ClusterFacts all;
  const NodeSpec& node = scenario.cluster.nodes.front();
  EXPECT_EQ(Get().check_prune(
                {scenario.cluster, scenario.fabric, node, scenario.facts, all, uninstall}, change),
            Ownership::kOurs);
  return change;
}

TEST(Packages, APruneLeavesWhatTheManifestListsByThen) {
  const Scenario scenario({Package("libnvme1")}, "package libnvme1 install installed 1.3-1\n");
  const std::vector<RunCommand> commands =
      Scenario({Package("nvme-cli")}, kNvme).Plan("nvme-cli").prune_commands.after;
  const Change change = Prune(scenario, "nvme-cli", commands);
  EXPECT_THAT(ShortenAll(change.triggers), ElementsAre("sh -c PRUNE sh nvme-cli uuid-runtime"));
  EXPECT_EQ(change.detail, "no longer in the manifest: removed, unless another package needs it");
  const Change whole = Prune(scenario, "nvme-cli", commands, /*uninstall=*/true);
  EXPECT_THAT(ShortenAll(whole.triggers),
              ElementsAre("sh -c PRUNE sh nvme-cli libnvme1 uuid-runtime"));
  EXPECT_EQ(whole.detail, "uninstall: removed, unless another package needs it");
}

// Earlier ones failed where another package needed one of these, and so did the whole apply.
TEST(Packages, APruneOfAnEarlierVersionIsCarriedOutAsOneOfThisVersion) {
  const Scenario scenario({Package("other")});
  const std::vector<RunCommand> commands = {{.argv = {"sh", "-c", "OLD", "sh", "nvme-cli"}},
                                            {.argv = {"sh", "-c", "OLDER", "sh", "libnvme1"}}};
  EXPECT_THAT(ShortenAll(Prune(scenario, "nvme-cli", commands).triggers),
              ElementsAre("sh -c PRUNE sh nvme-cli libnvme1"));
  // Of an upgrade: only what came along is new.
  const Change upgraded = Prune(scenario, "nvme-cli", {commands[1]});
  EXPECT_THAT(ShortenAll(upgraded.triggers), ElementsAre("sh -c PRUNE sh - libnvme1"));
  EXPECT_EQ(upgraded.detail,
            "no longer in the manifest: what came along is removed, unless another package needs "
            "it");
}

TEST(Packages, WhatTwoNeedBelongsToTheFirstOfThem) {
  const Scenario scenario({Package("a"), Package("b"), Package("shared")},
                          "package a unknown not-installed -\navailable a 1\nstep a shared - 3\n"
                          "step a a - 1\npackage b unknown not-installed -\navailable b 2\n"
                          "step b shared - 3\nstep b b - 2\n"
                          "package shared unknown not-installed -\navailable shared 3\n"
                          "step shared shared - 3\n");
  EXPECT_THAT(ShortenAll(scenario.Plan("a").actions),
              ElementsAre("apt-get install shared=3 a=1", "apt-mark auto shared"));
  EXPECT_THAT(ShortenAll(scenario.Plan("b").actions), ElementsAre("apt-get install b=2"));
  EXPECT_THAT(ShortenAll(scenario.Plan("b").revert), ElementsAre("sh -c REMOVE sh b"));
  // It came along: its own step counts it as wanted for its own sake.
  EXPECT_THAT(ShortenAll(scenario.Plan("shared").actions), ElementsAre("apt-get install shared=3"));
  EXPECT_THAT(ShortenAll(scenario.Plan("shared").revert), ElementsAre("sh -c REMOVE sh shared a"));
  EXPECT_THAT(ShortenAll(scenario.Plan("shared").prune_commands.after),
              ElementsAre("sh -c PRUNE sh shared"));
}

constexpr const char* kUpgrade =
    "package libnccl2 install installed 2.27.7-1\n"
    "available libnccl2 2.28.9-1\n"
    "available libnccl2 2.27.7-1\n"
    "step libnccl2 libnccl2 2.27.7-1 2.28.9-1\n"
    "simulated libnccl2\n";

TEST(Packages, AnOlderOneIsUpgradedAndARevertBringsItBack) {
  const Scenario scenario({Package("libnccl2", "2.28")}, kUpgrade);
  const Change change = scenario.Plan("libnccl2");
  EXPECT_EQ(change.detail, "2.27.7-1 → 2.28.9-1");
  EXPECT_EQ(change.impact, Impact::kServiceRestart);
  EXPECT_THAT(ShortenAll(change.actions), ElementsAre("apt-get install libnccl2=2.28.9-1"));
  EXPECT_THAT(ShortenAll(change.revert),
              ElementsAre("apt-get --allow-downgrades install libnccl2=2.27.7-1"));
  EXPECT_FALSE(std::get<RunCommand>(change.revert.front()).at_boot);
  EXPECT_TRUE(std::get<RunCommand>(change.revert.front()).after_boot);  // it may need the network
  // A newer version stays when the manifest no longer requires it.
  EXPECT_THAT(change.prune_commands.after, IsEmpty());
}

TEST(Packages, TwoThatNeedOneVersionAreUpgradedAndRevertedTogether) {
  const std::string reply =
      "package libnccl2 install installed 2.27\navailable libnccl2 2.28\navailable libnccl2 2.27\n"
      "step libnccl2 libnccl-dev 2.27 2.28\nstep libnccl2 libnccl2 2.27 2.28\n"
      "available libnccl-dev 2.28\navailable libnccl-dev 2.27\n"
      "package libnccl-dev install installed 2.27\n"
      "step libnccl-dev libnccl2 2.27 2.28\nstep libnccl-dev libnccl-dev 2.27 2.28\n";
  const Scenario both({Package("libnccl2", "2.28"), Package("libnccl-dev", "2.28")}, reply);
  EXPECT_THAT(ShortenAll(both.Plan("libnccl2").actions),
              ElementsAre("apt-get install libnccl-dev=2.28 libnccl2=2.28"));
  const auto back =
      ElementsAre("apt-get --allow-downgrades install libnccl-dev=2.27 libnccl2=2.27");
  EXPECT_THAT(ShortenAll(both.Plan("libnccl2").revert), back);
  EXPECT_THAT(ShortenAll(both.Plan("libnccl-dev").actions),
              ElementsAre("apt-get install libnccl-dev=2.28"));
  EXPECT_THAT(ShortenAll(both.Plan("libnccl-dev").revert), back);
  const Scenario one({Package("libnccl2", "2.28")}, reply);
  EXPECT_EQ(one.Detail(Get(), "libnccl2"),
            "blocked: apt would also upgrade libnccl-dev 2.27 → 2.28, which `packages` does not "
            "list");
}

TEST(Packages, AHeldOneIsBlockedAndTheHoldNamed) {
  const Scenario scenario(
      {Package("libnccl2", "2.28")},
      "package libnccl2 hold installed 2.27.7-1\navailable libnccl2 2.28.9-1\n");
  EXPECT_EQ(scenario.Detail(Get(), "libnccl2"),
            "blocked: held at 2.27.7-1: apt-mark unhold libnccl2 by hand");
  EXPECT_EQ(scenario.Find(Get(), "libnccl2").blocked.code, "packages-held");
}

struct BlockedCase {
  std::string at_least;
  std::string reply;
  std::string code;
  std::string why;
};

TEST(Packages, WhatAptMustNotOrCannotDoIsBlockedWithTheReason) {
  const std::vector<BlockedCase> cases = {
      {"", "package a unknown not-installed -\nrefused a Unable to locate package a\n",
       "packages-no-source",
       "no source of apt on the node has it: apt-get update, or add the source"},
      {"3", "package a unknown not-installed -\navailable a 2\nstep a a - 2\n",
       "packages-no-source",
       "no source of apt on the node has 3 or later; the newest there is 2: apt-get update, or add "
       "the source"},
      {"3", "package a install installed 2\navailable a 2\nsimulated a\n", "packages-no-source",
       "no source of apt on the node has 3 or later; the newest there is 2: apt-get update, or add "
       "the source"},
      {"",
       "package a unknown not-installed -\navailable a 2\nrefused a Unable to correct problems\n",
       "packages-refused", "apt would not install it: Unable to correct problems"},
      {"", "package a unknown not-installed -\navailable a 2\nrefused a \n", "packages-refused",
       "apt would not install it: it says no reason"},
      {"", "package a install half-configured 2\n", "packages-half-done",
       "dpkg left it half-configured: dpkg --configure -a by hand"},
      {"",
       "package a unknown not-installed -\navailable a 2\nstep a libc6 2.36-9 2.36-10\n"
       "step a old 1 -\nstep a a - 2\n",
       "packages-beyond-the-list",
       "apt would also upgrade libc6 2.36-9 → 2.36-10, remove old, which `packages` does not list"},
      {"3", "package a install installed 2\navailable a 3\nstep a a 2 3\n", "packages-no-way-back",
       "no source of apt has a 2 any more, so that a failed apply could not bring it back: apt-get "
       "install a by hand"},
      {"",
       "package a unknown not-installed -\navailable a 2\nstep a a - 2\n"
       "unreachable a ports.ubuntu.com\n",
       "packages-offline",
       "the node cannot reach ports.ubuntu.com, from which apt would fetch it"}};
  for (const BlockedCase& one : cases) {
    const Scenario scenario({Package("a", one.at_least)}, one.reply);
    const Resource resource = scenario.Find(Get(), "a");
    EXPECT_EQ(resource.blocked.code, one.code) << one.reply;
    EXPECT_EQ(resource.blocked.why, one.why) << one.reply;
    EXPECT_THAT(resource.apply, IsEmpty()) << one.reply;
    EXPECT_EQ(scenario.Detail(Get(), "a"), "blocked: " + one.why);
  }
}

TEST(Packages, ABlockedOneLeavesWhatItSharesToTheNext) {
  const Scenario scenario({Package("a"), Package("b")},
                          "package a hold not-installed -\navailable a 1\n"
                          "package b unknown not-installed -\navailable b 2\nstep b shared - 3\n"
                          "step b b - 2\n");
  EXPECT_THAT(ShortenAll(scenario.Plan("b").actions),
              ElementsAre("apt-get install shared=3 b=2", "apt-mark auto shared"));
}

TEST(Packages, WhatCouldNotBeReadCausesNoChange) {
  Scenario late({Package("a")});
  late.Read({.exit_code = 124, .out = "apt yes\npackage a unknown not-installed -\n"});
  EXPECT_EQ(late.Detail(Get(), "a"), "blocked: unknown: apt-get gave no answer in 45 s");
  Scenario none({Package("a")});
  none.Read({.out = "apt no\n"});
  EXPECT_EQ(none.Detail(Get(), "a"), "blocked: not supported: the node has no apt");
  const Scenario silent({Package("a")}, "package b install installed 1\n");
  EXPECT_EQ(silent.Detail(Get(), "a"), "blocked: unknown: dpkg said nothing about it");
  const Scenario unread({Package("a")});
  EXPECT_EQ(unread.Detail(Get(), "a"), "blocked: unknown: not read");
}

TEST(Packages, AChangeThatMayReloadSystemdNamesContainersThatLoseTheirGpu) {
  Scenario scenario({Package("nvme-cli")}, kNvme);
  scenario.facts.units.gpu_containers = std::vector<std::string>{"docker-0123456789abcdef.scope"};
  EXPECT_THAT(scenario.Find(Get(), "nvme-cli").interrupts, HasSubstr("may lose its GPU"));
}

TEST(Packages, OnlyTheNodesOfAnEntryHaveIt) {
  Scenario scenario(
      {test::Map({{"name", test::Text("a")}, {"nodes", test::List({test::Text("spark-2")})}})});
  EXPECT_THAT(scenario.Names(Get()), IsEmpty());
  EXPECT_THAT(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]), IsEmpty());
  EXPECT_EQ(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[1]).size(), 2U);
}

TEST(Packages, APackageThatNcclNamesIsOneOfThem) {
  test::PairScenario scenario;
  scenario.cluster.settings =
      test::Map({{"nccl", test::Map({{"library", test::Text("package 2.28.9-1")}})}});
  EXPECT_THAT(scenario.Names(Get()), ElementsAre("libnccl2"));
  scenario.cluster.settings =
      test::Map({{"nccl", test::Map({{"library", test::Text("/opt/libnccl.so.2")}})}});
  EXPECT_THAT(scenario.Names(Get()), IsEmpty());
}

TEST(Packages, WithoutTheirSectionsNothingIsReadOrSaid) {
  const test::PairScenario scenario;
  EXPECT_THAT(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]), IsEmpty());
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
}

std::vector<std::string> Check(const ClusterSpec& cluster) {
  std::vector<std::string> lines;
  for (const Error& error : Get().check(cluster, {})) {
    lines.push_back(std::to_string(error.where->position.line) + " " + error.message + ": " +
                    error.hint);
  }
  return lines;
}

TEST(Packages, ANameThatAptWouldTakeForSomethingElseIsRefused) {
  EXPECT_THAT(
      Check(Scenario({Package("NVMe-CLI")}).cluster),
      ElementsAre("30 packages: wanted a package's name such as nvme-cli, found 'NVMe-CLI': "
                  "small letters, digits and +-. as `dpkg-query -W` prints it"));
  for (const std::string name : {"-oDebug", "ssh-", "a b", "a=1", "a/sid", ""}) {
    EXPECT_THAT(Check(Scenario({Package(name)}).cluster), testing::SizeIs(1)) << name;
  }
  EXPECT_THAT(Check(Scenario({Package("g++"), Package("libnccl2")}).cluster), IsEmpty());
}

TEST(Packages, MistakesOfTheManifestAreNamedWithTheirLine) {
  Scenario scenario(
      {Package("a", "2"), Package("b"), Package("b", "1"),
       test::Map({{"name", test::Text("c")}, {"nodes", test::List({test::Text("spark-3")})}})});
  EXPECT_THAT(
      Check(scenario.cluster),
      ElementsAre(
          "33 packages: c: unknown node 'spark-3', did you mean 'spark-1'?: nodes: spark-1, "
          "spark-2",
          "32 packages: wanted one entry for b on spark-1, found another on line 31: merge "
          "them, or give them different nodes"));
}

TEST(Packages, TwoEntriesAreReportedOnceWhateverTheNumberOfTheirNodes) {
  const auto on = [](const std::string& node) {
    return test::Map({{"name", test::Text("b")}, {"nodes", test::List({test::Text(node)})}});
  };
  EXPECT_THAT(Check(Scenario({on("spark-1"), on("spark-2")}).cluster), IsEmpty());
  EXPECT_THAT(Check(Scenario({Package("b"), Package("b"), Package("b")}).cluster),
              testing::SizeIs(2));
  EXPECT_THAT(
      Check(Scenario({on("spark-1"), on("spark-2"), Package("b")}).cluster),
      ElementsAre("32 packages: wanted one entry for b on spark-1, found another on line 30: merge "
                  "them, or give them different nodes",
                  "32 packages: wanted one entry for b on spark-2, found another on line 31: merge "
                  "them, or give them different nodes"));
}

// Minimum versions.

struct ToolScenario : test::PairScenario {
  ClusterFacts all = {};

  ToolScenario() {
    cluster.settings =
        test::Map({{"minimum_versions", test::Map({{"driver", test::Text("580.95")},
                                                   {"container_toolkit", test::Text("1.17.8")}})}});
  }
  std::string Diagnose(const std::string& here, const std::string& there = "", int status = 0) {
    Get().parse({.commands = {{"packages.tools", {.exit_code = status, .out = here}}}}, facts);
    all.nodes["spark-1"] = facts;
    Get().parse({.commands = {{"packages.tools", {.out = there}}}}, all.nodes["spark-2"]);
    std::string text;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      text += std::string(one.severity == Severity::kWarns ? "warning" : "note") + " " + one.code +
              ": " + one.message + (one.next_step.empty() ? "" : ": " + one.next_step) + "\n";
    }
    return text;
  }
};

TEST(MinimumVersions, WhatIsNewEnoughAndTheSameEverywhereIsNotMentioned) {
  const std::string versions = "driver 580.95.05\ncontainer_toolkit 1.18.0\n";
  EXPECT_EQ(ToolScenario().Diagnose(versions, versions), "");
}

TEST(MinimumVersions, WhatIsTooOldOrMissingIsAWarning) {
  EXPECT_EQ(
      ToolScenario().Diagnose("driver 570.211.01\n"),
      "warning packages-tool-too-old: NVIDIA driver: wanted 580.95 or later, found "
      "570.211.01: update it; `packages` with at_least does so for a package of apt\n"
      "warning packages-tool-missing: NVIDIA container toolkit: wanted 1.17.8 or later, found "
      "none: install it, or remove it from minimum_versions\n");
}

TEST(MinimumVersions, WhatIsBehindAnotherNodeIsANote) {
  EXPECT_EQ(
      ToolScenario().Diagnose("driver 580.95.05\ncontainer_toolkit 1.18.0\n",
                              "driver 580.142\ncontainer_toolkit 1.17.8\n"),
      "note packages-tools-differ: NVIDIA driver: 580.95.05, and spark-2 has 580.142: install "
      "one version on all nodes\n");
}

TEST(MinimumVersions, WhatIsUnknownIsSaidToBe) {
  EXPECT_EQ(ToolScenario().Diagnose("", "", 124),
            "warning packages-tool-unknown: NVIDIA driver: wanted 580.95 or later, and its version "
            "is unknown: sh gave no answer in 10 s\n"
            "warning packages-tool-unknown: NVIDIA container toolkit: wanted 1.17.8 or later, and "
            "its version is unknown: sh gave no answer in 10 s\n");
  EXPECT_THAT(ToolScenario().Diagnose("driver 580.95\ncontainer_toolkit ?\n"),
              HasSubstr("is unknown: it does not say its version\n"));
}

}  // namespace
}  // namespace reconciler::plugins::packages
