#include "plugins/firewall/firewall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::firewall {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFirst = "enp1s0f1np1 from 192.168.177.0/24";

struct Scenario : test::PairScenario {
  explicit Scenario(bool allow, const std::vector<std::string>& rules = {}, bool enabled = true) {
    cluster.settings = test::Map({{"firewall", test::Map({{"allow_fabric", test::Flag(allow)}})}});
    facts.rdma.ufw = enabled;
    AddFile("/etc/default/ufw", "IPV6=yes\nDEFAULT_INPUT_POLICY=\"DROP\"\n");
    SetRules(rules);
  }
  void SetRules(const std::vector<std::string>& rules) {
    std::string text = "*filter\n";
    for (const std::string& rule : rules) text += "### tuple ### " + rule + "\n-A ufw-user-input\n";
    AddFile("/etc/ufw/user.rules", text);
  }
  std::string Said() const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    std::string text;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      EXPECT_EQ(one.severity, Severity::kInforms);
      text += one.code + ": " + one.message + ": " + one.next_step + "\n";
    }
    return text;
  }
};

TEST(Firewall, EachPortOfTheFabricGetsARuleForItsSubnetAndARevertDeletesIt) {
  const Scenario scenario(true);
  EXPECT_THAT(scenario.Names(Get()), ElementsAre(kFirst, "enP2p1s0f1np1 from 192.168.178.0/24"));
  const auto change = Diff(scenario.Find(Get(), kFirst), "firewall");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kAdd);
  EXPECT_EQ(change->detail, "allowed");
  EXPECT_THAT(test::Lines(change->actions),
              ElementsAre("ufw allow in on enp1s0f1np1 from 192.168.177.0/24"));
  EXPECT_THAT(test::Lines(change->revert),
              ElementsAre("ufw delete allow in on enp1s0f1np1 from 192.168.177.0/24"));
  EXPECT_THAT(test::Lines(change->prune_commands.after),
              ElementsAre("ufw delete allow in on enp1s0f1np1 from 192.168.177.0/24"));
  EXPECT_TRUE(std::get<RunCommand>(change->revert.front()).at_boot);
  // It is what reverts a prune.
  EXPECT_TRUE(std::get<RunCommand>(change->actions.front()).at_boot);
}

TEST(Firewall, ARuleThatIsThereHolds) {
  for (const std::string rule : {"allow any any 0.0.0.0/0 any 192.168.177.0/24 in_enp1s0f1np1",
                                 "allow any any 0.0.0.0/0 any 192.168.0.0/16 in",
                                 "allow tcp any 0.0.0.0/0 any 0.0.0.0/0 in"}) {
    EXPECT_EQ(Scenario(true, {rule}).Detail(Get(), kFirst), "holds") << rule;
  }
}

TEST(Firewall, ARuleForTheAddressOfThePortHolds) {
  for (const std::string to : {"192.168.177.1", "192.168.177.0/24"}) {
    EXPECT_EQ(
        Scenario(true, {"allow any any " + to + " any 192.168.177.0/24 in"}).Detail(Get(), kFirst),
        "holds")
        << to;
  }
}

TEST(Firewall, ARuleForLessDoesNot) {
  for (const std::string rule :
       {"allow any any 0.0.0.0/0 any 192.168.177.2 in_enp1s0f1np1",
        "allow any any 0.0.0.0/0 any 192.168.177.0/24 in_enP2p1s0f1np1",
        "allow tcp 22 0.0.0.0/0 any 192.168.177.0/24 in",
        "allow udp any 0.0.0.0/0 any 0.0.0.0/0 in",
        "route:allow any any 0.0.0.0/0 any 0.0.0.0/0 in",
        "allow any any 192.168.1.21 any 0.0.0.0/0 in",
        "allow any any 192.168.177.2 any 0.0.0.0/0 in", "allow any any nonsense any 0.0.0.0/0 in",
        "allow any any 0.0.0.0/0 any nonsense in"}) {
    EXPECT_EQ(Scenario(true, {rule}).Detail(Get(), kFirst), "allowed") << rule;
  }
}

TEST(Firewall, ARuleThatDeniesFirstBlocksAndIsNamed) {
  const std::string deny = "deny any any 0.0.0.0/0 any 192.168.0.0/16 in";
  const Scenario scenario(true, {deny, "allow any any 0.0.0.0/0 any 192.168.177.0/24 in"});
  EXPECT_EQ(scenario.Detail(Get(), kFirst),
            "blocked: a rule of ufw denies it first (" + deny +
                "): ufw status numbered shows it, ufw delete NUMBER removes it");
  EXPECT_EQ(Scenario(true, {"allow any any 0.0.0.0/0 any 192.168.177.0/24 in", deny})
                .Detail(Get(), kFirst),
            "holds");
}

TEST(Firewall, ARuleThatDeniesOnePortOrAnotherAddressBlocksNothing) {
  const std::string allow = "allow any any 0.0.0.0/0 any 192.168.177.0/24 in_enp1s0f1np1";
  for (const std::string deny :
       {"deny tcp 11434 0.0.0.0/0 any 0.0.0.0/0 in", "deny any any 224.0.0.251 any 0.0.0.0/0 in",
        "deny any any 0.0.0.0/0 53 0.0.0.0/0 in", "reject any any 192.168.1.21 any 0.0.0.0/0 in"}) {
    EXPECT_EQ(Scenario(true, {deny}).Detail(Get(), kFirst), "allowed") << deny;
    EXPECT_EQ(Scenario(true, {deny, allow}).Detail(Get(), kFirst), "holds") << deny;
  }
  const std::string own = "deny any any 192.168.177.1 any 0.0.0.0/0 in";
  EXPECT_EQ(Scenario(true, {own, allow}).Detail(Get(), kFirst),
            "blocked: a rule of ufw denies it first (" + own +
                "): ufw status numbered shows it, ufw delete NUMBER removes it");
}

TEST(Firewall, WhereUfwIsOffOrDeniesNothingAllHolds) {
  EXPECT_EQ(Scenario(true, {}, false).Detail(Get(), kFirst), "holds");
  Scenario absent(true);
  absent.facts.rdma.ufw = Absent{};
  EXPECT_EQ(absent.Detail(Get(), kFirst), "holds");
  Scenario open(true);
  open.AddFile("/etc/default/ufw", "DEFAULT_INPUT_POLICY=\"ACCEPT\"\n");
  EXPECT_EQ(open.Detail(Get(), kFirst), "holds");
}

TEST(Firewall, RulesOfAnUfwThatIsGoneAreNothingToDelete) {
  Scenario scenario(false);
  const ClusterFacts all;
  const auto prune = [&](Change& change) {
    return Get().check_prune(
        {scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(), scenario.facts, all},
        change);
  };
  Change change{.detail = "uninstall"};
  for (const Fact<bool>& there : {Fact<bool>(true), Fact<bool>(false), Fact<bool>(Unknown{"no"})}) {
    scenario.facts.rdma.ufw = there;
    EXPECT_EQ(prune(change), Ownership::kOurs);
    EXPECT_EQ(change.detail, "uninstall");
  }
  scenario.facts.rdma.ufw = Absent{};
  EXPECT_EQ(prune(change), Ownership::kNoOnes);
  EXPECT_EQ(change.detail, "firewall: rules of ufw are not deleted: it is not installed any more");
}

TEST(Firewall, WhatCouldNotBeReadIsBlocked) {
  Scenario scenario(true);
  scenario.facts.files["/etc/ufw/user.rules"] = Unknown{"permission denied"};
  EXPECT_EQ(scenario.Detail(Get(), kFirst),
            "blocked: unknown: /etc/ufw/user.rules: permission denied");
  scenario.facts.files["/etc/ufw/user.rules"] = Absent{};
  EXPECT_EQ(scenario.Detail(Get(), kFirst),
            "blocked: unknown: ufw is enabled, and /etc/ufw/user.rules is not there");
  scenario.facts.rdma.ufw = Unknown{"grep gave no answer in 5 s"};
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "blocked: unknown: grep gave no answer in 5 s");
}

TEST(Firewall, WithoutTheKeyNothingIsWrittenAndTheRulesToAddAreNamed) {
  const Scenario scenario(false);
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
  EXPECT_EQ(scenario.Said(),
            "firewall-fabric-denied: ufw drops what other nodes send from 192.168.177.0/24 on "
            "enp1s0f1np1, 192.168.178.0/24 on enP2p1s0f1np1, but for what its rules allow; RDMA "
            "itself does not pass it: write firewall: {allow_fabric: true}, or run ufw allow in on "
            "enp1s0f1np1 from 192.168.177.0/24; ufw allow in on enP2p1s0f1np1 from "
            "192.168.178.0/24\n");
  EXPECT_EQ(Scenario(false, {"allow any any 0.0.0.0/0 any 192.168.0.0/16 in"}).Said(), "");
  EXPECT_EQ(Scenario(true).Said(), "");
}

TEST(Firewall, AChainThatDropsWhereUfwIsOffIsNamedWithTheRuleToAdd) {
  Scenario scenario(false, {}, false);
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.facts.rdma.firewall = std::vector<FirewallChain>{{"inet", "site", "in", "drop"},
                                                            {"ip", "filter", "INPUT", "drop"},
                                                            {"ip", "raw", "PREROUTING", "accept"},
                                                            {"ip6", "filter", "INPUT", "drop"}};
  EXPECT_EQ(
      scenario.Said(),
      "firewall-chain-drops: the chain inet site in drops what comes in, but for what its "
      "rules allow; whether they allow the fabric is not looked at: if they do not: nft insert "
      "rule inet site in iifname enp1s0f1np1 ip saddr 192.168.177.0/24 accept\n"
      "firewall-chain-drops: the chain ip filter INPUT drops what comes in, but for what its "
      "rules allow; whether they allow the fabric is not looked at: if they do not: iptables "
      "-I INPUT -i enp1s0f1np1 -s 192.168.177.0/24 -j ACCEPT\n");
  scenario.facts.rdma.ufw = true;
  scenario.SetRules({"allow any any 0.0.0.0/0 any 192.168.0.0/16 in"});
  EXPECT_EQ(scenario.Said(), "");
}

}  // namespace
}  // namespace reconciler::plugins::firewall
