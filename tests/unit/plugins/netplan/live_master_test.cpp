#include "plugins/netplan/live_master.h"

#include <gmock/gmock.h>

#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "tests/unit/plugins/pair_scenario.h"

// Bonds and bridges that are there live alone, and that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOursPath = "/etc/netplan/60-spark-reconcile.yaml";
const std::vector<std::string> kBothPorts = {"enP2p1s0f1np1", "enp1s0f1np1"};

// Both ports are members of br0, which no file makes.
struct LiveCase : test::PairScenario {
  explicit LiveCase(const std::string& kind = "bridge", std::vector<std::string> options = {}) {
    facts.files[kOursPath] = Absent{};
    for (const std::string& netdev : kBothPorts) facts.links.at(netdev).master = "br0";
    facts.links["br0"] = test::Bare("02:53:50:00:01:99");
    facts.links["br0"].ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
    facts.links["br0"].ipv6 = {"fe80::1/64"};
    facts.network.routes = std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.177.0/24"), "br0"}};
    facts.network.masters["br0"] = {.kind = kind, .options = std::move(options)};
    NameMaster();
  }

  void NameMaster(const std::string& name = "br0") {
    cluster.settings = test::Map(
        {{"adopt",
          test::List({test::At(9, test::Map({{"master", test::Text(name)},
                                             {"nodes", test::List({test::Text("spark-1")})}}))})}});
  }

  void NameNone() { cluster.settings = {}; }

  Change Plan(const std::string& name) const {
    const auto change = Diff(Find(Get(), name), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }

  // What stands in the way of the bridge.
  std::string WhyNot() const {
    const std::string start = "blocked: is not adopted: ";
    const std::string detail = Detail(Get(), "br0");
    EXPECT_THAT(detail, StartsWith(start));
    return detail.substr(std::min(detail.size(), start.size()));
  }

  // The prune of what an apply made of it, where it is gone.
  Ownership Prune(bool uninstall, Change& change) {
    change = Change{.kind = "master",
                    .name = "br0",
                    .detail = "set back",
                    .triggers = Plan("br0").prune_commands.after};
    facts.links.erase("br0");
    for (const std::string& netdev : kBothPorts) facts.links.at(netdev).master.clear();
    return CheckAgain(uninstall, change);
  }

  Ownership CheckAgain(bool uninstall, Change& change) const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    return CheckPrune({cluster, fabric, cluster.nodes[0], facts, all, uninstall}, change);
  }
};

TEST(NetplanLiveMaster, ItBlocksUntilAdoptNamesIt) {
  LiveCase one;
  one.NameNone();
  EXPECT_EQ(
      one.Warning(Get(), "br0"),
      "br0 has enp1s0f1np1, enP2p1s0f1np1 among its members, and no netplan file says so: an "
      "apply would cut off what uses br0: add {master: br0, nodes: [spark-1]} to adopt, or: "
      "ip link set dev enp1s0f1np1 nomaster && ip link set dev enP2p1s0f1np1 nomaster, remove "
      "what makes br0 at boot, then plan again");
  one.NameMaster();
  EXPECT_EQ(one.Warning(Get(), "br0"), "none");
  EXPECT_EQ(one.Plan("br0").change, ChangeKind::kAdopt);
  EXPECT_EQ(one.Detail(Get(), "br0"),
            "bridge of enP2p1s0f1np1, enp1s0f1np1, dissolved; it is live only: uninstall makes it "
            "again, a restart does not");
  EXPECT_EQ(one.Plan(kOursPath).change, ChangeKind::kAdd);
  EXPECT_THAT(one.Find(Get(), kOursPath).needs, Contains("spark-1/master/br0"));
  EXPECT_EQ(one.Detail(Get(), "enp1s0f1np1"), "mtu 1500 → 9000, +192.168.177.1/24");
}

TEST(NetplanLiveMaster, ItIsDeletedBeforeOursIsActivated) {
  LiveCase one;
  const Change change = one.Plan("br0");
  EXPECT_THAT(test::Lines(change.actions), ElementsAre("ip link delete dev br0"));
  EXPECT_THAT(test::Lines(change.triggers), Contains("networkctl reconfigure enp1s0f1np1"));
  EXPECT_EQ(change.impact, Impact::kLinkFlap);
  EXPECT_EQ(change.owner.claims, kBothPorts);
  // A revert sets back what comes last first: the ports have their values when it gets them again.
  EXPECT_EQ(one.Names(Get()).front(), "br0");
}

TEST(NetplanLiveMaster, ARevertAndAPruneMakeItAgainAsItWas) {
  LiveCase one("bridge", {"stp_state", "1", "priority", "4096"});
  one.facts.links.at("enp1s0f1np1").admin_up = false;
  const Change change = one.Plan("br0");
  EXPECT_THAT(
      test::Lines(change.revert),
      ElementsAre("sh -c [ -e \"/sys/class/net/$1\" ] || exec ip link add name \"$@\" sh "
                  "br0 address 02:53:50:00:01:99 type bridge stp_state 1 priority 4096",
                  "ip link set dev enP2p1s0f1np1 master br0", "ip link set dev enP2p1s0f1np1 up",
                  "ip link set dev enp1s0f1np1 master br0", "ip link set dev enp1s0f1np1 down",
                  "ip link set dev br0 mtu 1500",
                  "ip address replace 192.168.177.1/24 broadcast + dev br0",
                  "ip link set dev br0 up"));
  EXPECT_EQ(test::Lines(change.prune_commands.after), test::Lines(change.revert));
  EXPECT_THAT(change.prune_commands.before, IsEmpty());
  for (const RunCommand& command : change.prune_commands.after) EXPECT_TRUE(command.must_succeed);
}

TEST(NetplanLiveMaster, ABondTakesAPortThatIsDown) {
  LiveCase one("bond", {"mode", "802.3ad", "miimon", "100"});
  EXPECT_THAT(one.Detail(Get(), "br0"),
              StartsWith("bond of enP2p1s0f1np1, enp1s0f1np1, dissolved"));
  const std::vector<std::string> lines = test::Lines(one.Plan("br0").revert);
  EXPECT_THAT(lines.front(), testing::EndsWith(" type bond mode 802.3ad miimon 100"));
  EXPECT_THAT(
      std::vector<std::string>(lines.begin() + 1, lines.begin() + 4),
      ElementsAre("ip link set dev enP2p1s0f1np1 down", "ip link set dev enP2p1s0f1np1 master br0",
                  "ip link set dev enP2p1s0f1np1 up"));
}

TEST(NetplanLiveMaster, OneThatIsGoneHolds) {
  LiveCase one;
  one.facts.links.erase("br0");
  for (const std::string& netdev : kBothPorts) one.facts.links.at(netdev).master.clear();
  EXPECT_EQ(one.Detail(Get(), "br0"), "holds");
}

TEST(NetplanLiveMaster, WhatCouldNotBeMadeAgainIsNotDissolved) {
  LiveCase kind("vrf");
  EXPECT_EQ(kind.WhyNot(), "it is a vrf: remove it from adopt");
  LiveCase setting;
  setting.facts.network.masters["br0"].not_kept = "vlan_filtering";
  EXPECT_EQ(setting.WhyNot(),
            "its setting vlan_filtering could not be made again: remove it from adopt");
  LiveCase unread;
  unread.facts.network.masters.clear();
  EXPECT_EQ(unread.WhyNot(), "its settings cannot be read: remove it from adopt");
  LiveCase address;
  address.facts.links.at("br0").ipv6.push_back("fd00::1/64");
  EXPECT_EQ(address.WhyNot(),
            "its address fd00::1/64 could not be made again: remove it from adopt");
  LiveCase route;
  route.facts.network.routes = std::vector<RouteFact>{{*ParseIpv4Prefix("10.9.0.0/16"), "br0"}};
  EXPECT_EQ(route.WhyNot(),
            "the route to 10.9.0.0/16 goes over it, and could not be made again: remove the route, "
            "or remove it from adopt");
}

TEST(NetplanLiveMaster, OneThatOthersUseOrConfigureIsNotDissolved) {
  LiveCase member;
  member.facts.links["tap0"] = test::Bare("02:53:50:00:01:98");
  member.facts.links["tap0"].master = "br0";
  EXPECT_EQ(member.WhyNot(),
            "br0 has the member tap0, which is no port of the fabric: take that from br0, or "
            "remove it from adopt");
  LiveCase leads;
  leads.facts.network.default_route = std::vector<std::string>{"br0"};
  EXPECT_EQ(leads.WhyNot(), "it carries the default route: remove it from adopt");
  LiveCase managed;
  managed.facts.links.at("enp1s0f1np1").manager = LinkManager::kNetworkd;
  EXPECT_EQ(managed.WhyNot(),
            "networkd configures enp1s0f1np1: delete br0 and remove what makes it at boot");
  EXPECT_EQ(managed.Warning(Get(), "br0"),
            "br0 has enp1s0f1np1, enP2p1s0f1np1 among its members, and is not adopted: networkd "
            "configures enp1s0f1np1: delete br0 and remove what makes it at boot");
  managed.NameNone();
  EXPECT_THAT(managed.Warning(Get(), "br0"), Not(HasSubstr("to adopt")));
  LiveCase unread;
  unread.facts.network.managers_unclear = "grep gave no answer in 5 s";
  EXPECT_EQ(unread.WhyNot(),
            "it is unknown what configures it: grep gave no answer in 5 s: delete br0 and remove "
            "what makes it at boot");
  LiveCase manager;
  manager.AddFile("/etc/netplan/01-all.yaml", "network: {version: 2, renderer: NetworkManager}\n");
  EXPECT_EQ(manager.WhyNot(),
            "the node's ports of the fabric are NetworkManager's: delete br0 and remove what makes "
            "it at boot");
  LiveCase other;
  other.facts.links["br1"] = test::Bare("02:53:50:00:01:97");
  other.facts.network.masters["br1"] = {.kind = "bridge"};
  other.facts.links["tap1"] = test::Bare("02:53:50:00:01:96");
  other.facts.links["tap1"].master = "br1";
  other.NameMaster("br1");
  EXPECT_EQ(other.Detail(Get(), "br1"),
            "blocked: is not adopted: it has no port of the fabric among its members: remove it "
            "from adopt");
}

TEST(NetplanLiveMaster, AnUninstallMakesItAgainAndSaysThatARestartDoesNot) {
  LiveCase one;
  Change change;
  EXPECT_EQ(one.Prune(true, change), Ownership::kOurs);
  EXPECT_EQ(change.change, ChangeKind::kModify);
  EXPECT_EQ(change.detail,
            "made again of enP2p1s0f1np1, enp1s0f1np1, live: a restart does not bring it");
  EXPECT_EQ(change.triggers.size(), 8u);
}

TEST(NetplanLiveMaster, WhileOurFileConfiguresAMemberItIsNotMadeAgain) {
  LiveCase one;
  Change change;
  EXPECT_EQ(one.Prune(false, change), Ownership::kOurs);
  EXPECT_EQ(change.code, "netplan-adopted-in-use");
  EXPECT_EQ(change.detail,
            "adopt names it no more, but /etc/netplan/60-spark-reconcile.yaml configures its "
            "member enP2p1s0f1np1: name it there again; uninstall makes it again");
}

TEST(NetplanLiveMaster, WhatAnotherOwnerHasByNowIsLeftAsItIs) {
  LiveCase one;
  Change change;
  one.Prune(true, change);
  const Change pruned = change;
  one.AddFile("/etc/netplan/50-x.yaml", "network: {ethernets: {enp1s0f1np1: {mtu: 1400}}}\n");
  EXPECT_EQ(one.CheckAgain(true, change), Ownership::kOthers);
  EXPECT_EQ(change.code, "netplan-port-claimed");
  EXPECT_EQ(change.detail,
            "is not made again: its member enp1s0f1np1 is now configured by "
            "/etc/netplan/50-x.yaml");
  one.facts.files.erase("/etc/netplan/50-x.yaml");
  one.facts.links["br0"] = test::Bare("02:53:50:00:01:99");
  change = pruned;
  EXPECT_EQ(one.CheckAgain(true, change), Ownership::kOthers);
  EXPECT_EQ(change.code, "netplan-master-made-again");
  EXPECT_EQ(change.detail, "is there again, and left as it is");
  one.facts.network.default_route = std::vector<std::string>{"br0"};
  change = pruned;
  EXPECT_EQ(one.CheckAgain(true, change), Ownership::kOurs);
  EXPECT_EQ(change.code, "netplan-leads-to-node");
}

TEST(NetplanLiveMaster, OneThatAnEarlierApplyDissolvedIsStillListed) {
  LiveCase one;
  one.facts.ledger = Ledger{.cluster = "homelab",
                            .entries = {{.kind = "master",
                                         .name = "br0",
                                         .plugin = "netplan",
                                         .triggers = one.Plan("br0").prune_commands.after}}};
  one.facts.links.erase("br0");
  for (const std::string& netdev : kBothPorts) one.facts.links.at(netdev).master.clear();
  const ClusterFacts all{.nodes = {{one.facts.node, one.facts}}};
  std::vector<std::string> entries;
  for (const AdoptableFile& file : Get().adoptable(one.cluster, one.fabric, all)) {
    entries.push_back(file.entry);
  }
  EXPECT_THAT(entries, ElementsAre("master: br0"));
}

}  // namespace
}  // namespace reconciler::plugins::netplan
