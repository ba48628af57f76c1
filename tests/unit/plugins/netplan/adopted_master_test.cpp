#include <gmock/gmock.h>

#include "plugins/netplan/adopt/section.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Bonds and bridges of netplan files that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kBridgeFile = "/etc/netplan/40-bridge.yaml";
constexpr const char* kFileAfter = "/etc/netplan/60-spark-reconcile.yaml";

std::string FormatBridge(const std::string& members = "enp1s0f1np1, enP2p1s0f1np1") {
  return "network:\n  version: 2\n  ethernets: {enp1s0f1np1: {}, enP2p1s0f1np1: {}}\n"
         "  bridges:\n    br0: {interfaces: [" +
         members + "], addresses: [192.168.177.1/24]}\n";
}

// Both ports are members of br0, which the file makes.
struct MasterCase : test::PairScenario {
  std::vector<Value> entries = {};

  explicit MasterCase(const std::string& text = FormatBridge()) {
    facts.files[kFileAfter] = Absent{};
    for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
      facts.links.at(netdev).manager = LinkManager::kNetworkd;
      facts.links.at(netdev).master = "br0";
    }
    facts.links["br0"] = test::Bare("02:53:50:00:01:99");
    facts.links["br0"].ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
    facts.network.routes = std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.177.0/24"), "br0"}};
    AddFile(kBridgeFile, text);
    Add(test::Map(
        {{"file", test::Text(kBridgeFile)},
         {"nodes", test::Map({{"spark-1", test::Text(ComputeSha256Hex(text).substr(0, 12))}})}}));
  }

  void Add(Value entry) {
    entries.push_back(std::move(entry));
    cluster.settings = test::Map({{"adopt", test::List(entries)}});
  }

  void NameMaster(const std::string& name = "br0") {
    Add(test::Map({{"master", test::Text(name)}, {"nodes", test::List({test::Text("spark-1")})}}));
  }

  // What an uninstall does for the file, after an apply removed it.
  Change WriteBack() {
    facts.files.erase(kBridgeFile);
    Change change{.kind = "file",
                  .name = kBridgeFile,
                  .actions = {WriteFile{kBridgeFile, FileState{FormatBridge()}}}};
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    EXPECT_EQ(CheckPrune({cluster, fabric, cluster.nodes[0], facts, all, true}, change),
              Ownership::kOurs);
    return change;
  }

  Change Plan(const std::string& name) const {
    const auto change = Diff(Find(Get(), name), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }
};

std::string DetailOfNamed(const std::string& text) {
  MasterCase one(text);
  one.NameMaster();
  return one.Detail(Get(), kBridgeFile);
}

TEST(NetplanAdoptMaster, AFileThatMakesABridgeIsNotAdoptedUntilTheBridgeIsNamed) {
  MasterCase one;
  EXPECT_EQ(one.Detail(Get(), kBridgeFile),
            "blocked: is not adopted: it has 'bridges', which our file cannot express: add "
            "{master: br0, nodes: [spark-1]} to adopt, which dissolves it, or remove the file from "
            "adopt");
  one.NameMaster();
  EXPECT_EQ(one.Plan(kBridgeFile).change, ChangeKind::kAdopt);
  EXPECT_EQ(one.Detail(Get(), kBridgeFile),
            "into 60-spark-reconcile.yaml, 2 ports, other addresses and MTU; dissolves br0; not "
            "carried over: IPv6 link-local, router advertisements");
  EXPECT_EQ(one.Plan(kFileAfter).change, ChangeKind::kAdd);
  EXPECT_EQ(one.Detail(Get(), "enp1s0f1np1"), "mtu 1500 → 9000, +192.168.177.1/24");
}

TEST(NetplanAdoptMaster, WhatWasGeneratedForItGoesAndThenItIsDeleted) {
  MasterCase one;
  one.NameMaster();
  const std::vector<Action> actions = one.Plan(kBridgeFile).actions;
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_THAT(test::Lines(std::vector<Action>{actions[1], actions[2]}),
              ElementsAre("rm -f -- /run/systemd/network/10-netplan-br0.network "
                          "/run/systemd/network/10-netplan-br0.netdev",
                          "ip link delete dev br0"));
  EXPECT_THAT(std::get<RunCommand>(actions[1]).makes,
              Contains("/run/systemd/network/10-netplan-br0.netdev"));
  one.facts.links.erase("br0");
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    one.facts.links.at(netdev).master.clear();
  }
  EXPECT_EQ(one.Plan(kBridgeFile).actions.size(), 2u);
}

TEST(NetplanAdoptMaster, ARevertHasNetworkdMakeItAgainAndTakeItsMembers) {
  MasterCase one;
  one.NameMaster();
  EXPECT_THAT(test::Lines(one.Plan(kBridgeFile).revert),
              ElementsAre("networkctl reload", "networkctl reconfigure enp1s0f1np1",
                          "networkctl reconfigure enP2p1s0f1np1"));
}

TEST(NetplanAdoptMaster, AnUninstallMakesItAgain) {
  MasterCase one;
  const Change change = one.WriteBack();
  const std::vector<std::string> lines = test::Lines(change.triggers);
  EXPECT_THAT(lines, Contains(HasSubstr(" -name 10-netplan-br0.netdev ")));
  EXPECT_THAT(lines, Contains(StartsWith("stat ")));
  EXPECT_THAT(std::vector<std::string>(lines.end() - 3, lines.end()),
              ElementsAre("networkctl reload", "networkctl reconfigure enp1s0f1np1",
                          "networkctl reconfigure enP2p1s0f1np1"));
}

TEST(NetplanAdoptMaster, AFileWhoseBridgeLeadsToTheNodeByNowIsNotWrittenBack) {
  MasterCase one;
  one.facts.network.default_route = std::vector<std::string>{"br0"};
  const Change change = one.WriteBack();
  EXPECT_EQ(change.code, "netplan-leads-to-node");
  EXPECT_EQ(change.detail, "br0 carries the default route and is never touched");
}

TEST(NetplanAdoptMaster, OneThatOthersUseIsNotDissolved) {
  const std::string not_adopted = "blocked: is not adopted: ";
  const std::string advice = ": take that from br0, or remove br0 from adopt";
  EXPECT_EQ(DetailOfNamed(FormatBridge("enp1s0f1np1, eth7")),
            not_adopted + "br0 has the member eth7, which is no port of the fabric" + advice);
  MasterCase member;
  member.NameMaster();
  member.facts.links["tap0"] = test::Bare("02:53:50:00:01:98");
  member.facts.links["tap0"].master = "br0";
  EXPECT_EQ(member.Detail(Get(), kBridgeFile),
            not_adopted + "tap0 is a member of br0 by now" + advice);
  MasterCase above;
  above.NameMaster();
  above.facts.links["br0.7"] = test::Bare("02:53:50:00:01:98");
  above.facts.links["br0.7"].below = "br0";
  EXPECT_EQ(above.Detail(Get(), kBridgeFile), not_adopted + "br0.7 is on top of br0" + advice);
  MasterCase inside;
  inside.NameMaster();
  inside.facts.links["br0"].master = "vrf0";
  EXPECT_EQ(inside.Detail(Get(), kBridgeFile), not_adopted + "br0 is a member of vrf0" + advice);
}

TEST(NetplanAdoptMaster, OneThatLeadsToTheNodeIsNotDissolved) {
  MasterCase one;
  one.NameMaster();
  one.facts.network.default_route = std::vector<std::string>{"br0"};
  EXPECT_THAT(one.Detail(Get(), kBridgeFile), StartsWith("blocked: "));
  EXPECT_THAT(one.Detail(Get(), kBridgeFile),
              HasSubstr("it configures br0 too, which carries the default route: move what it says "
                        "of br0 to another file and leave it in effect"));
}

TEST(NetplanAdoptMaster, OneThatAnotherFileOrProgramMakesTooIsNotDissolved) {
  MasterCase one;
  one.NameMaster();
  one.AddFile("/etc/netplan/50-x.yaml", "network: {bridges: {br0: {mtu: 1400}}}\n");
  EXPECT_EQ(one.Detail(Get(), kBridgeFile),
            "blocked: is not adopted: /etc/netplan/50-x.yaml configures br0 as well: adopt "
            "/etc/netplan/50-x.yaml too, or remove br0 from it");
  EXPECT_EQ(DetailOfNamed("network: {ethernets: {enp1s0f1np1: {}, enP2p1s0f1np1: {}}, bridges: "
                          "{br0: {interfaces: [enp1s0f1np1, enP2p1s0f1np1], openvswitch: {}}}}\n"),
            "blocked: is not adopted: it has 'openvswitch' of br0, which our file cannot express: "
            "move that to another file, or remove it from adopt");
}

// The renderer that the bridge names is not the one of the ports.
TEST(NetplanAdoptMaster, OneOfAnotherManagerThanThePortsIsNotDissolved) {
  const auto name_renderer = [](const std::string& renderer) {
    std::string text = FormatBridge();
    const std::string members = "{interfaces: ";
    return text.insert(text.find(members) + 1, "renderer: " + renderer + ", ");
  };
  EXPECT_EQ(DetailOfNamed(name_renderer("NetworkManager")),
            "blocked: is not adopted: br0 is NetworkManager's, and the ports of the fabric are "
            "networkd's: remove it from adopt");
  EXPECT_EQ(DetailOfNamed(name_renderer("networkd")),
            "into 60-spark-reconcile.yaml, 2 ports, other addresses and MTU; dissolves br0; not "
            "carried over: IPv6 link-local, router advertisements");
}

// Another file has NetworkManager as the renderer, so that the bridge's may go.
struct NetworkManagersMaster : MasterCase {
  NetworkManagersMaster() {
    AddFile("/etc/netplan/01-all.yaml", "network: {version: 2, renderer: NetworkManager}\n");
    for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
      facts.links.at(netdev).manager = LinkManager::kNetworkManager;
    }
    NameMaster();
  }
};

TEST(NetplanAdoptMaster, NetworkManagerDeletesItAndDropsItsProfile) {
  NetworkManagersMaster one;
  const std::vector<Action> actions = one.Plan(kBridgeFile).actions;
  ASSERT_EQ(actions.size(), 4u);
  EXPECT_THAT(
      test::Lines(std::vector<Action>(actions.begin() + 1, actions.end())),
      ElementsAre("find /run -maxdepth 3 -path "
                  "/run/NetworkManager/system-connections/netplan-br0.nmconnection -exec "
                  "nmcli --wait 45 connection down id netplan-br0 ;",
                  "rm -f -- /run/NetworkManager/system-connections/netplan-br0.nmconnection",
                  "nmcli connection reload"));
  EXPECT_THAT(std::get<RunCommand>(actions[2]).makes,
              ElementsAre("/run/NetworkManager/system-connections/netplan-br0.nmconnection"));
}

TEST(NetplanAdoptMaster, ARevertHasNetworkManagerMakeItAgainWithItsMembers) {
  NetworkManagersMaster one;
  EXPECT_THAT(test::Lines(one.Plan(kBridgeFile).revert),
              ElementsAre("nmcli connection reload",
                          "nmcli --wait 45 connection up id netplan-enp1s0f1np1 ifname enp1s0f1np1",
                          "nmcli --wait 45 connection up id netplan-enP2p1s0f1np1 ifname "
                          "enP2p1s0f1np1"));
}

TEST(NetplanAdoptMaster, AnUninstallHasNetworkManagerReadItsProfileAgain) {
  NetworkManagersMaster one;
  const Change change = one.WriteBack();
  const std::vector<std::string> lines = test::Lines(change.triggers);
  EXPECT_THAT(lines, Contains(HasSubstr(" -name netplan-br0.nmconnection ")));
  EXPECT_THAT(lines,
              Contains("nmcli connection load "
                       "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection "
                       "/run/NetworkManager/system-connections/netplan-enP2p1s0f1np1.nmconnection "
                       "/run/NetworkManager/system-connections/netplan-br0.nmconnection"));
}

TEST(NetplanAdoptMaster, OneThatNoAdoptedFileMakesBlocksWhereAManagerHasItsMembers) {
  MasterCase one;
  one.entries.clear();
  one.NameMaster();
  one.facts.files.erase(kBridgeFile);
  one.facts.network.routes = Absent{};
  EXPECT_EQ(one.Warning(Get(), "br0"),
            "br0 has enp1s0f1np1, enP2p1s0f1np1 among its members, and is not adopted: networkd "
            "configures enp1s0f1np1: delete br0 and remove what makes it at boot");
}

TEST(NetplanAdoptMaster, BothEntriesAreOfferedAndListed) {
  MasterCase one;
  one.cluster.settings = {};
  const ClusterFacts all{.nodes = {{one.facts.node, one.facts}}};
  std::vector<std::string> lines;
  for (const AdoptableFile& file : Get().adoptable(one.cluster, one.fabric, all)) {
    lines.push_back(file.entry);
  }
  EXPECT_THAT(lines, ElementsAre(std::string("file: ") + kBridgeFile, std::string("master: br0")));
  EXPECT_THAT(one.Warning(Get(), kBridgeFile),
              HasSubstr(std::string(": add {file: ") + kBridgeFile + ", nodes: {spark-1: \"" +
                        ComputeSha256Hex(FormatBridge()).substr(0, 12) +
                        "\"}} and {master: br0, nodes: [spark-1]} to adopt, or move it away or "
                        "remove them from it, then plan again"));
}

}  // namespace
}  // namespace reconciler::plugins::netplan
