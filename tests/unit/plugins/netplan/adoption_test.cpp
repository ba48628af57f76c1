#include "plugins/netplan/adoption.h"

#include <gmock/gmock.h>

#include "plugins/netplan/activation.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "reconciler/base/digest.h"
#include "reconciler/yaml/yaml_document.h"
#include "tests/unit/plugins/pair_scenario.h"

// Files of other owners that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kAdopted = "/etc/netplan/40-cx7.yaml";
constexpr const char* kOursAtEtc = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kTaken0 = "enp1s0f1np1";
constexpr const char* kTaken1 = "enP2p1s0f1np1";

std::string FormatPorts(const std::string& mtu = "9000") {
  return "network:\n  version: 2\n  ethernets:\n"
         "    enp1s0f1np1: {dhcp4: false, addresses: [192.168.177.1/24], mtu: " +
         mtu +
         "}\n"
         "    enP2p1s0f1np1: {dhcp4: no, addresses: [192.168.178.1/24], mtu: " +
         mtu + "}\n";
}

const std::string kGuideText = FormatPorts();

struct AdoptCase : test::PairScenario {
  std::vector<Value> entries = {};

  AdoptCase() {
    facts.files[kOursAtEtc] = Absent{};
    for (const char* netdev : {kTaken0, kTaken1}) {
      facts.links.at(netdev).mtu = 9000;
      facts.links.at(netdev).manager = LinkManager::kNetworkd;
    }
    facts.links.at(kTaken0).ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
    facts.links.at(kTaken1).ipv4 = {*ParseIpv4Prefix("192.168.178.1/24")};
  }

  void Name(const std::string& path, const std::string& digest) {
    entries.push_back(test::Map(
        {{"file", test::Text(path)}, {"nodes", test::Map({{"spark-1", test::Text(digest)}})}}));
    cluster.settings = test::Map({{"adopt", test::List(entries)}});
  }

  // The file with this text, and `adopt` with its digest.
  void Adopt(const std::string& text, const std::string& path = kAdopted) {
    AddFile(path, text);
    Name(path, ComputeSha256Hex(text).substr(0, 12));
  }

  Change Plan(const std::string& name) const {
    const auto change = Diff(Find(Get(), name), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }

  Ownership Prune(Change& change, bool uninstall) const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    return CheckPrune({cluster, fabric, cluster.nodes[0], facts, all, uninstall}, change);
  }
};

// The plan's line of a file with this text.
std::string DetailOfText(const std::string& text) {
  AdoptCase one;
  one.Adopt(text);
  return one.Detail(Get(), kAdopted);
}

TEST(NetplanAdopt, AFileThatSaysTheSameIsTakenOverWithoutAnyOtherChange) {
  AdoptCase one;
  one.Adopt(kGuideText);
  const Change file = one.Plan(kAdopted);
  EXPECT_EQ(file.change, ChangeKind::kAdopt);
  EXPECT_EQ(file.detail,
            "into 60-spark-reconcile.yaml, 2 ports, same addresses and MTU; not carried over: IPv6 "
            "link-local, router advertisements");
  EXPECT_EQ(file.diff, "");
  EXPECT_EQ(file.impact, Impact::kLinkFlap);
  EXPECT_EQ(file.actions[0], Action(RemoveFile{kAdopted, MakeTrial("/run/netplan/40-cx7.yaml")}));
  EXPECT_EQ(one.Plan(kOursAtEtc).change, ChangeKind::kAdopt);
  EXPECT_EQ(one.Plan(kTaken0).detail, "holds");
  EXPECT_EQ(one.Plan(kTaken1).detail, "holds");
  EXPECT_EQ(one.Warning(Get(), kAdopted), "none");
}

TEST(NetplanAdopt, WhereValuesChangeOurFileIsAChangeOfItsOwn) {
  AdoptCase one;
  one.Adopt(FormatPorts("1500"));
  for (const char* netdev : {kTaken0, kTaken1}) one.facts.links.at(netdev).mtu = 1500;
  EXPECT_EQ(one.Plan(kAdopted).change, ChangeKind::kAdopt);
  EXPECT_THAT(one.Plan(kAdopted).detail, HasSubstr("2 ports, other addresses and MTU;"));
  EXPECT_EQ(one.Plan(kOursAtEtc).change, ChangeKind::kAdd);
  EXPECT_EQ(one.Plan(kTaken0).detail, "mtu 1500 → 9000");
}

TEST(NetplanAdopt, NothingDiffersWhenItIsGone) {
  AdoptCase one;
  one.Name(kAdopted, "7ad321ebe07d");
  one.facts.files[kAdopted] = Absent{};
  one.facts.files[kOursAtEtc] = one.File(Get(), kOursAtEtc);
  for (const char* name : {kAdopted, kOursAtEtc, kTaken0, kTaken1}) {
    EXPECT_EQ(one.Detail(Get(), name), "holds") << name;
  }
}

TEST(NetplanAdopt, KeysThatOursHasNoPlaceForAreNamed) {
  const auto with = [](const std::string& keys) {
    return DetailOfText(
        "network: {ethernets: {enp1s0f1np1: {addresses: [192.168.177.1/24], mtu: 9000, " + keys +
        "}}}\n");
  };
  const std::string head = "into 60-spark-reconcile.yaml, 1 port, same addresses and MTU";
  EXPECT_EQ(with("link-local: []"), head);
  EXPECT_EQ(with("link-local: [], accept-ra: false, dhcp6: off, optional: true"), head);
  EXPECT_EQ(with("link-local: [], accept-ra: true"),
            head + "; not carried over: router advertisements");
  EXPECT_EQ(with("link-local: [ipv4], dhcp4: yes, routes: [], nameservers: {}"),
            head + "; not carried over: IPv4 link-local, dhcp4, routes, nameservers");
  EXPECT_EQ(
      DetailOfText("network: {ethernets: {enp1s0f1np1: {link-local: [], mtu: 9000, addresses: "
                   "[{192.168.177.1/24: {label: a}}]}}}\n"),
      head + "; not carried over: options of addresses");
}

TEST(NetplanAdopt, Ipv6AddressesAreNamedAmongWhatIsNotCarriedOver) {
  EXPECT_EQ(DetailOfText("network: {ethernets: {enp1s0f1np1: {link-local: [], mtu: 9000, routes: "
                         "[], addresses: [192.168.177.1/24, 'fd00::10/64', 'FE80::1/64']}}}\n"),
            "into 60-spark-reconcile.yaml, 1 port, other addresses and MTU; not carried over: "
            "fd00::10/64, routes");
}

TEST(NetplanAdopt, ADigestThatDiffersBlocksWithBothDigests) {
  AdoptCase one;
  one.AddFile(kAdopted, kGuideText);
  one.Name(kAdopted, "0123456789abcdef");
  const std::string now = ComputeSha256Hex(kGuideText).substr(0, 12);
  const std::string why =
      "is not adopted: its SHA-256 begins with " + now +
      ", and the manifest has 0123456789ab: read what it says now; to adopt that, write " + now +
      " into the manifest";
  EXPECT_EQ(one.Detail(Get(), kAdopted), "blocked: " + why);
  EXPECT_EQ(one.Detail(Get(), kOursAtEtc),
            "blocked: /etc/netplan/40-cx7.yaml configures enp1s0f1np1, enP2p1s0f1np1 (probably "
            "written by NVIDIA's spark_cluster_setup or sparkrun) and " +
                why);
  EXPECT_EQ(one.Warning(Get(), kAdopted),
            "/etc/netplan/40-cx7.yaml configures enp1s0f1np1, enP2p1s0f1np1 (probably written by "
            "NVIDIA's spark_cluster_setup or sparkrun) and " +
                why);
}

TEST(NetplanAdopt, AFileOfAnInterfaceThatLeadsToTheNodeIsNeverAdopted) {
  const std::string with_session = kGuideText + "    enP7s7: {addresses: [192.168.1.21/24]}\n";
  const std::string why =
      "blocked: is not adopted: it configures enP7s7 too, which carries this session: move what it "
      "says of enP7s7 to another file and leave it in effect";
  EXPECT_EQ(DetailOfText(with_session), why);
  AdoptCase one;  // whatever else is wrong with it
  one.AddFile(kAdopted, with_session);
  one.Name(kAdopted, "0123456789ab");
  EXPECT_EQ(one.Detail(Get(), kAdopted), why + "; also: its SHA-256 begins with " +
                                             ComputeSha256Hex(with_session).substr(0, 12) +
                                             ", and the manifest has 0123456789ab");
}

TEST(NetplanAdopt, OnlyPlainDefinitionsOfPortsOfCagesAreAdopted) {
  EXPECT_EQ(
      DetailOfText(kGuideText + "    eth7: {dhcp4: true}\n"),
      "blocked: is not adopted: it configures eth7 too, which is no port of a cage: move what "
      "it says of eth7 to another file");
  EXPECT_EQ(
      DetailOfText("network: {ethernets: {enp1s0f0np0: {mtu: 1500}}}\n"),
      "blocked: is not adopted: it configures none of this node's ports of the fabric: remove "
      "it from adopt");
  EXPECT_EQ(DetailOfText("network: {ethernets: {enp1s0f1np1: {}}, bonds: {bond0: {}}}\n"),
            "blocked: is not adopted: it has 'bonds', which our file cannot express: add {master: "
            "bond0, nodes: [spark-1]} to adopt, which dissolves it, or remove the file from adopt");
  EXPECT_EQ(DetailOfText("network: {ethernets: {enp1s0f1np1: {}}, bonds: {'b 0': {}}}\n"),
            "blocked: is not adopted: it has 'bonds', which our file cannot express: remove it "
            "from adopt");
  EXPECT_EQ(DetailOfText("network: {ethernets: {enp1s0f1np1: {}}, vlans: {v: {}}}\n"),
            "blocked: is not adopted: it has 'vlans', which our file cannot express: move that to "
            "another file, or remove it from adopt");
  EXPECT_EQ(
      DetailOfText("network: {ethernets: {cx: {match: {name: enp1s0f1np1}}}}\n"),
      "blocked: is not adopted: it has 'match' of cx, which our file cannot express: move that "
      "to another file, or remove it from adopt");
  EXPECT_EQ(DetailOfText("a: 1\n"),
            "blocked: is not adopted: it is no netplan file: remove it from adopt");
}

TEST(NetplanAdopt, AFileOfTheSameNameElsewhereBlocks) {
  AdoptCase one;
  one.Adopt(kGuideText);
  one.AddFile("/lib/netplan/40-cx7.yaml", kGuideText);
  EXPECT_EQ(one.Detail(Get(), kAdopted),
            "blocked: is not adopted: /lib/netplan/40-cx7.yaml is there too: move "
            "/lib/netplan/40-cx7.yaml away");
  one.facts.files.erase("/lib/netplan/40-cx7.yaml");
  one.AddFile("/run/netplan/40-cx7.yaml", "");  // the trial of an unfinished apply
  EXPECT_EQ(one.Plan(kAdopted).change, ChangeKind::kAdopt);
}

TEST(NetplanAdopt, TheRendererOfOtherInterfacesStays) {
  constexpr const char* kGeneral = "/etc/netplan/01-network-manager-all.yaml";
  const std::string text = "network:\n  renderer: NetworkManager\n" + kGuideText.substr(9);
  AdoptCase one;
  for (const char* netdev : {kTaken0, kTaken1}) {
    one.facts.links.at(netdev).manager = LinkManager::kNetworkManager;
  }
  one.Adopt(text);
  EXPECT_EQ(one.Detail(Get(), kAdopted),
            "blocked: is not adopted: no other netplan file says 'renderer: NetworkManager' as it "
            "does: write `network: {version: 2, renderer: NetworkManager}` to a file of its own, "
            "such as /etc/netplan/90-renderer.yaml");
  one.AddFile(kGeneral, "network: {version: 2, renderer: NetworkManager}\n");
  EXPECT_EQ(one.Plan(kAdopted).change, ChangeKind::kAdopt);
  EXPECT_THAT(test::Lines(one.Plan(kAdopted).triggers),
              Contains(HasSubstr("connection up id netplan-enp1s0f1np1 ")));
}

TEST(NetplanAdopt, ARendererOfAPortAloneMustBeThatOfAllOthers) {
  const auto with = [](const std::string& renderer) {
    return DetailOfText("network: {ethernets: {enp1s0f1np1: {renderer: " + renderer + "}}}\n");
  };
  EXPECT_THAT(with("networkd"), StartsWith("into 60-spark-reconcile.yaml, 1 port, "));
  EXPECT_EQ(with("NetworkManager"),
            "blocked: is not adopted: no other netplan file says 'renderer: NetworkManager' as it "
            "does: take 'renderer: NetworkManager' of enp1s0f1np1 out of it");
}

TEST(NetplanAdopt, ARendererBelowADeviceTypeIsNoPort) {
  const std::string text =
      "network: {ethernets: {renderer: NetworkManager, enp1s0f1np1: {mtu: 9000}}}\n";
  EXPECT_EQ(DetailOfText(text),
            "blocked: is not adopted: no other netplan file says 'renderer: NetworkManager' as it "
            "does: take 'renderer: NetworkManager' of ethernets out of it");
  AdoptCase one;
  one.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  for (const char* netdev : {kTaken0, kTaken1}) {
    one.facts.links.at(netdev).manager = LinkManager::kNetworkManager;
  }
  one.Adopt(text);
  EXPECT_THAT(one.Detail(Get(), kAdopted), StartsWith("into 60-spark-reconcile.yaml, 1 port, "));
}

TEST(NetplanAdopt, AllThatKeepsAFileFromBeingAdoptedIsNamedAtOnce) {
  EXPECT_EQ(DetailOfText("network:\n  renderer: NetworkManager\n"
                         "  ethernets: {enp1s0f1np1: {}, enP7s7: {}, eth7: {}}\n"
                         "  wifis: {w: {}}\n  vlans: {v: {}}\n"),
            "blocked: is not adopted: it configures enP7s7 too, which carries this session: move "
            "what it says of enP7s7 to another file and leave it in effect; also: it has 'wifis', "
            "'vlans', which our file cannot express; it configures eth7 too, which is no port of a "
            "cage; no other netplan file says 'renderer: NetworkManager' as it does");
}

TEST(NetplanAdopt, PortsOfTheOtherCageAreAsAfterARestart) {
  AdoptCase one;
  one.Adopt(kGuideText + "    enp1s0f0np0: {addresses: [10.0.0.1/24]}\n");
  const Change file = one.Plan(kAdopted);
  EXPECT_THAT(file.detail, EndsWith("; no longer configured: enp1s0f0np0"));
  EXPECT_EQ(test::Lines(std::vector<RunCommand>{std::get<RunCommand>(file.actions[1])}),
            std::vector<std::string>{"rm -f -- /run/systemd/network/10-netplan-enp1s0f0np0.network "
                                     "/run/systemd/network/10-netplan-enp1s0f0np0.link"});
  const std::vector<std::string> triggers = test::Lines(file.triggers);
  EXPECT_THAT(
      std::vector<std::string>(triggers.end() - 4, triggers.end()),
      ElementsAre("networkctl reload", "ip address flush dev enp1s0f0np0",
                  "ip link set dev enp1s0f0np0 mtu 1500", "ip link set dev enp1s0f0np0 down"));
  // The guard reads from it that the port is the apply's.
  EXPECT_EQ(file.triggers.back().sets, "/sys/class/net/enp1s0f0np0");
  EXPECT_THAT(test::Lines(file.revert), Contains("networkctl reconfigure enp1s0f0np0"));
  EXPECT_THAT(test::Lines(file.revert), Contains("ip link set dev enp1s0f0np0 up"));
  EXPECT_THAT(test::Lines(file.prune_commands.after),
              Contains("networkctl reconfigure enp1s0f0np0"));
}

// netplan would refuse all files.
TEST(NetplanAdopt, AFileThatAloneDefinesWhatAVlanOfAnotherOneIsOnStays) {
  AdoptCase one;
  one.Adopt(kGuideText + "    enp1s0f0np0: {}\n");
  one.AddFile("/etc/netplan/50-x.yaml", "network: {vlans: {st.50: {id: 5, link: enp1s0f0np0}}}\n");
  EXPECT_EQ(one.Detail(Get(), kAdopted),
            "blocked: is not adopted: /etc/netplan/50-x.yaml puts st.50 on enp1s0f0np0, which no "
            "other file defines: take st.50 out of /etc/netplan/50-x.yaml, or remove "
            "/etc/netplan/40-cx7.yaml from adopt");
  one.AddFile("/etc/netplan/50-x.yaml", "network: {vlans: {st.50: {id: 5, link: enp1s0f1np1}}}\n");
  EXPECT_THAT(one.Detail(Get(), kAdopted), StartsWith("into 60-spark-reconcile.yaml"));
}

// Only networkd's ports that stay down are in our file.
TEST(NetplanAdopt, AFileThatAloneDefinesAPortThatNetworkManagerKeepsDownStaysBelowAVlan) {
  AdoptCase one;
  one.cluster.fabric.unused_cages = UnusedCages::kDown;
  one.Adopt(kGuideText + "    enp1s0f0np0: {}\n");
  one.AddFile("/etc/netplan/50-x.yaml", "network: {vlans: {st.50: {id: 5, link: enp1s0f0np0}}}\n");
  EXPECT_THAT(one.Detail(Get(), kAdopted), StartsWith("into 60-spark-reconcile.yaml"));
  one.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  for (const char* netdev : {kTaken0, kTaken1}) {
    one.facts.links.at(netdev).manager = LinkManager::kNetworkManager;
  }
  EXPECT_EQ(one.Detail(Get(), kAdopted),
            "blocked: is not adopted: /etc/netplan/50-x.yaml puts st.50 on enp1s0f0np0, which no "
            "other file defines: take st.50 out of /etc/netplan/50-x.yaml, or remove "
            "/etc/netplan/40-cx7.yaml from adopt");
}

TEST(NetplanAdopt, APortThatAFileBesideItConfiguresTooBlocks) {
  AdoptCase one;
  one.Adopt(kGuideText + "    enp1s0f0np0: {}\n");
  one.AddFile("/etc/netplan/50-x.yaml", "network: {ethernets: {enp1s0f0np0: {mtu: 1400}}}\n");
  EXPECT_EQ(one.Detail(Get(), kAdopted),
            "blocked: is not adopted: /etc/netplan/50-x.yaml configures enp1s0f0np0 as well: adopt "
            "/etc/netplan/50-x.yaml too, or remove enp1s0f0np0 from it");
}

TEST(NetplanAdopt, AnyOtherFileBlocksAsBefore) {
  AdoptCase one;
  one.Adopt(kGuideText);
  one.AddFile("/etc/netplan/50-x.yaml", "network: {ethernets: {enp1s0f1np1: {mtu: 1400}}}\n");
  EXPECT_EQ(
      one.Detail(Get(), kAdopted),
      "blocked: /etc/netplan/50-x.yaml configures enp1s0f1np1: add {file: "
      "/etc/netplan/50-x.yaml, nodes: {spark-1: \"85c9710b596a\"}} to adopt, or move it away or "
      "remove them from it, then plan again");
}

TEST(NetplanAdopt, TheFileAndOursNeedEachOther) {
  AdoptCase one;
  one.Adopt(kGuideText);
  EXPECT_THAT(one.Find(Get(), kAdopted).needs,
              ElementsAre(std::string("spark-1/file/") + kOursAtEtc));
  EXPECT_THAT(one.Find(Get(), kOursAtEtc).needs, Contains(std::string("spark-1/file/") + kAdopted));
}

TEST(NetplanAdopt, APruneMakesTheManagerUseTheFileAgain) {
  AdoptCase one;
  one.Adopt(kGuideText);
  const PruneCommands prune = one.Plan(kAdopted).prune_commands;
  EXPECT_THAT(prune.before, IsEmpty());
  const std::vector<std::string> lines = test::Lines(prune.after);
  EXPECT_THAT(lines, Contains(HasSubstr(" netplan generate --root-dir ")));
  EXPECT_THAT(std::vector<std::string>(lines.end() - 3, lines.end()),
              ElementsAre("networkctl reload", "networkctl reconfigure enp1s0f1np1",
                          "networkctl reconfigure enP2p1s0f1np1"));
  // One that another prune has as well would run once, and too early.
  for (const RunCommand& command : prune.after) EXPECT_EQ(command.id, "");
  EXPECT_EQ(prune.after.back().sets, "/sys/class/net/enP2p1s0f1np1");
}

TEST(NetplanAdopt, NetworkManagerActivatesOnlyWhatItCan) {
  AdoptCase one;
  one.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  for (const char* netdev : {kTaken0, kTaken1}) {
    one.facts.links.at(netdev).manager = LinkManager::kNetworkManager;
  }
  one.Adopt(kGuideText);
  EXPECT_EQ(test::Lines(one.Plan(kAdopted).prune_commands.after).back(),
            "find /run -maxdepth 3 -path "
            "/run/NetworkManager/system-connections/netplan-enP2p1s0f1np1.nmconnection -exec nmcli "
            "--wait 45 connection up id netplan-enP2p1s0f1np1 ifname enP2p1s0f1np1 ;");
}

Change MakeAdoptedPrune() {
  return {.kind = "file",
          .name = kAdopted,
          .actions = {WriteFile{kAdopted, FileState{kGuideText}, {"/run/netplan/40-cx7.yaml"}}}};
}

TEST(NetplanAdopt, AFileTakenOutOfTheManifestStaysAwayWhileOursHasItsPorts) {
  const AdoptCase one;
  Change change = MakeAdoptedPrune();
  EXPECT_EQ(one.Prune(change, /*uninstall=*/false), Ownership::kOurs);
  EXPECT_EQ(change.code, "netplan-adopted-in-use");
  EXPECT_EQ(change.detail,
            "adopt names it no more, but /etc/netplan/60-spark-reconcile.yaml configures "
            "enp1s0f1np1 instead of it: name it there again; uninstall writes it back");
  EXPECT_THAT(change.actions, IsEmpty());
}

TEST(NetplanAdopt, AnUninstallWritesItBack) {
  const AdoptCase one;
  Change change = MakeAdoptedPrune();
  EXPECT_EQ(one.Prune(change, /*uninstall=*/true), Ownership::kOurs);
  EXPECT_EQ(change.actions, (std::vector<Action>{WriteFile{
                                kAdopted, {kGuideText}, MakeTrial("/run/netplan/40-cx7.yaml")}}));
}

// Not the commands of the ledger: a file of netplan that they name may be gone by now.
TEST(NetplanAdopt, WhatIsWrittenBackComesToEffectBesideTheFilesOfToday) {
  AdoptCase one;
  one.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  Change change = MakeAdoptedPrune();
  change.triggers = {{.argv = {"cp", "/lib/netplan/gone.yaml", "/run"}}};
  one.Prune(change, /*uninstall=*/true);
  const std::vector<std::string> lines = test::Lines(change.triggers);
  EXPECT_THAT(lines, Contains(HasSubstr(" netplan generate --root-dir ")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("gone.yaml"))));
  EXPECT_THAT(lines.back(), HasSubstr("nmcli --wait 45 connection up id netplan-enP2p1s0f1np1"));
}

TEST(NetplanAdopt, NetplanOfAnEarlierLedgerReloadsNoUnit) {
  AdoptCase one;
  one.AddFile("/etc/netplan/01-x.yaml", "network: [\n");
  Change change = MakeAdoptedPrune();
  change.triggers = {{.argv = {"netplan", "generate", "--root-dir", "/run/x"}}};
  one.Prune(change, /*uninstall=*/true);
  EXPECT_THAT(test::Lines(change.triggers),
              ElementsAre("env SYSTEMD_OFFLINE=1 netplan generate --root-dir /run/x"));
  EXPECT_TRUE(change.triggers[0].without_reload);
}

TEST(NetplanAdopt, WhereNetplanRunsNoContainerLosesItsGpu) {
  AdoptCase one;
  one.Adopt(kGuideText);
  one.facts.units.gpu_containers = std::vector<std::string>{"docker-1a.scope"};
  EXPECT_EQ(one.Plan(kAdopted).interrupts, "");
}

TEST(NetplanAdopt, APruneWritesNoFileOfWhatLeadsToTheNodeByNow) {
  AdoptCase one;
  one.facts.network.default_route = std::vector<std::string>{kTaken0};
  Change change = MakeAdoptedPrune();
  one.Prune(change, /*uninstall=*/true);
  EXPECT_EQ(change.detail, "enp1s0f1np1 carries the default route and is never touched");
}

// "9:11: message; hint" of each mistake in `adopt`.
std::vector<std::string> CheckOf(const std::string& adopt) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  for (const char* name : {"spark-1", "spark-2"}) cluster.nodes.push_back({.name = name});
  cluster.settings = *ParseYaml("adopt:\n" + adopt, "cluster.yaml");
  std::vector<std::string> lines;
  for (const Error& error : Get().check(cluster, Fabric())) {
    lines.push_back(std::to_string(error.where->position.line) + ":" +
                    std::to_string(error.where->position.column) + ": " + error.message + "; " +
                    error.hint);
  }
  return lines;
}

TEST(NetplanAdoptSection, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/a.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"
                      "- {file: /etc/netplan/b.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"),
              IsEmpty());
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/a.yaml, nodes: {spark-3: aaaaaaaaaaaa, x: b}}\n"),
              ElementsAre("2:39: adopt: /etc/netplan/a.yaml: unknown node 'spark-3', did you mean "
                          "'spark-1'?; nodes: spark-1, spark-2",
                          "2:62: adopt: /etc/netplan/a.yaml: unknown node 'x'; nodes: spark-1, "
                          "spark-2"));
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/60-spark-reconcile.yaml, nodes: {spark-1: a}}\n"),
              ElementsAre("2:10: adopt: wanted a file of another owner, found our own, "
                          "/etc/netplan/60-spark-reconcile.yaml; remove the entry"));
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/a.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"
                      "- {file: /etc/netplan/a.yaml, nodes: {spark-2: aaaaaaaaaaaa}}\n"),
              ElementsAre("3:10: adopt: wanted one entry for /etc/netplan/a.yaml, found another on "
                          "line 2; name all its nodes in one entry"));
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/a.yaml, nodes: {}}\n"),
              ElementsAre("2:10: adopt: /etc/netplan/a.yaml: wanted at least one node, found none; "
                          "write nodes: {NAME: DIGEST}, with the first 12 digits of the file's "
                          "SHA-256"));
  const std::string tail = "each entry names one thing";
  EXPECT_THAT(CheckOf("- {nodes: {spark-1: aaaaaaaaaaaa}}\n"),
              ElementsAre("2:3: adopt: wanted one of file, nm_profile, networkd_unit, master, "
                          "unit, lines, found none; " +
                          tail));
  EXPECT_THAT(
      CheckOf("- {file: /etc/netplan/a.yaml, nm_profile: a, nodes: {spark-1: aaaaaaaaaaaa}}\n"),
      ElementsAre("2:3: adopt: wanted one of file, nm_profile, networkd_unit, master, unit, lines, "
                  "found file "
                  "and nm_profile; " +
                  tail));
  EXPECT_THAT(CheckOf("- {master: bond0, nodes: [spark-1, spark-2]}\n"), IsEmpty());
  EXPECT_THAT(CheckOf("- {lines: /etc/sysctl.d/90-x.conf, match: [a.b], nodes: {spark-1: a}}\n"),
              IsEmpty());
  EXPECT_THAT(CheckOf("- {lines: /etc/sysctl.d/90-x.conf, nodes: {spark-1: a}}\n"),
              ElementsAre("2:11: adopt: /etc/sysctl.d/90-x.conf: wanted match, found none; write "
                          "match: [KEY], with the keys whose lines are taken over"));
  EXPECT_THAT(CheckOf("- {file: /etc/netplan/a.yaml, match: [a.b], nodes: {spark-1: a}}\n"),
              ElementsAre("2:10: adopt: /etc/netplan/a.yaml: wanted match with lines only; remove "
                          "match: what else is named is taken over as a whole"));
  EXPECT_THAT(
      CheckOf("- {lines: /etc/sysctl.d/60-spark-reconcile.conf, match: [a.b], nodes: {spark-1: "
              "a}}\n"),
      ElementsAre("2:11: adopt: wanted a file of another owner, found our own, "
                  "/etc/sysctl.d/60-spark-reconcile.conf; remove the entry"));
  EXPECT_THAT(CheckOf("- {master: bond0, nodes: [spark-1]}\n"
                      "- {nm_profile: bond0, nodes: {spark-2: aaaaaaaaaaaa}}\n"),
              IsEmpty());
  EXPECT_THAT(CheckOf("- {master: bond0, nodes: {spark-1: aaaaaaaaaaaa}}\n"),
              ElementsAre("2:12: adopt: bond0: wanted a list of nodes, found a map; write nodes: "
                          "[NAME]"));
  EXPECT_THAT(CheckOf("- {master: bond0, nodes: [spark-4]}\n"),
              ElementsAre("2:27: adopt: bond0: unknown node 'spark-4', did you mean 'spark-1'?; "
                          "nodes: spark-1, spark-2"));
  EXPECT_THAT(
      CheckOf("- {file: /etc/netplan/a.yaml, nodes: [spark-1]}\n"),
      ElementsAre("2:10: adopt: /etc/netplan/a.yaml: wanted a map of each node to a digest, "
                  "found a list; write nodes: {NAME: DIGEST}, with the first 12 "
                  "digits of the file's SHA-256"));
  EXPECT_THAT(
      CheckOf("- {unit: a.service, nodes: {spark-1: aaaaaaaaaaaa}}\nunits:\n"
              "- {name: a.service}\n"),
      ElementsAre("2:10: adopt: a.service is in units too, on line 4; remove one of the two "
                  "entries"));
  EXPECT_THAT(CheckOf("- {nm_profile: cx7-a, nodes: {spark-1: aaaaaaaaaaaa}}\n"
                      "- {nm_profile: cx7-a, nodes: {spark-4: aaaaaaaaaaaa}}\n"),
              ElementsAre("3:16: adopt: wanted one entry for cx7-a, found another on line 2; name "
                          "all its nodes in one entry",
                          "3:31: adopt: cx7-a: unknown node 'spark-4', did you mean 'spark-1'?; "
                          "nodes: spark-1, spark-2"));
}

TEST(NetplanAdopt, WhatCouldBeNamedIsListedAndNothingElse) {
  const auto list = [](const AdoptCase& one) {
    const ClusterFacts all{.nodes = {{one.facts.node, one.facts}}};
    std::vector<std::string> lines;
    for (const AdoptableFile& file : Get().adoptable(one.cluster, one.fabric, all)) {
      lines.push_back(file.entry + " " + file.digest + " " + file.owner);
    }
    return lines;
  };
  AdoptCase one;
  EXPECT_THAT(list(one), IsEmpty());
  one.AddFile("/etc/netplan/01-management.yaml", "network: {ethernets: {enP7s7: {}}}\n");
  one.AddFile("/lib/netplan/02-x.yaml", kGuideText);
  EXPECT_THAT(list(one), IsEmpty());
  one.facts.files.erase("/lib/netplan/02-x.yaml");
  one.AddFile(kAdopted, kGuideText);
  EXPECT_THAT(list(one),
              ElementsAre("file: " + std::string(kAdopted) + " " + ComputeSha256Hex(kGuideText) +
                          " NVIDIA's spark_cluster_setup or sparkrun"));
  one.AddFile(kAdopted, kGuideText + "    enP7s7: {}\n");
  EXPECT_THAT(list(one), IsEmpty());
  one.facts.files.erase(kAdopted);
  one.AddFile("/etc/netplan/4 0.yaml", kGuideText);
  EXPECT_THAT(list(one), IsEmpty());
}

// A manifest without their entries could never be applied to the end: their prune is blocked.
TEST(NetplanAdopt, WhatAnEarlierApplyAdoptedIsListedWithTheDigestOfTheLedgersText) {
  const std::string bond =
      "network:\n  ethernets: {enp1s0f1np1: {}, enP2p1s0f1np1: {}}\n"
      "  bonds: {bond0: {interfaces: [enp1s0f1np1, enP2p1s0f1np1]}}\n";
  const std::string profile =
      "[connection]\nid=cx7-a\ntype=ethernet\ninterface-name=enp1s0f1np1\n"
      "[ipv4]\naddress1=192.168.177.1/24\nmethod=manual\n";
  const std::string unit = "[Match]\nName=enp1s0f1np1\n[Network]\nAddress=192.168.177.1/24\n";
  const std::string profile_path = "/etc/NetworkManager/system-connections/cx7-a.nmconnection";
  Ledger ledger{.cluster = "homelab"};
  const auto add = [&](const std::string& path, Action original) {
    ledger.entries.push_back(
        {.kind = "file", .name = path, .plugin = "netplan", .original = {std::move(original)}});
  };
  const auto write = [](const std::string& path, const std::string& text) {
    return WriteFile{path, FileState{text}};
  };
  add(kOursAtEtc, RemoveFile{kOursAtEtc});
  add(kAdopted, write(kAdopted, kGuideText));
  add("/etc/netplan/50-bond.yaml", write("/etc/netplan/50-bond.yaml", bond));
  add("/etc/netplan/70-other.yaml",
      write("/etc/netplan/70-other.yaml", "network: {ethernets: {enP7s7: {}}}\n"));
  add(profile_path, write(profile_path, profile));
  add("/etc/systemd/network/05-x.network", write("/etc/systemd/network/05-x.network", unit));
  AdoptCase one;
  for (const LedgerEntry& entry : ledger.entries) one.facts.files[entry.name] = Absent{};
  one.facts.ledger = ledger;
  const auto list = [&] {
    const ClusterFacts all{.nodes = {{one.facts.node, one.facts}}};
    std::vector<std::string> lines;
    for (const AdoptableFile& file : Get().adoptable(one.cluster, one.fabric, all)) {
      lines.push_back(file.entry + " " + file.digest);
    }
    return lines;
  };
  EXPECT_THAT(
      list(),
      ElementsAre("file: " + std::string(kAdopted) + " " + ComputeSha256Hex(kGuideText),
                  "file: /etc/netplan/50-bond.yaml " + ComputeSha256Hex(bond), "master: bond0 ",
                  "nm_profile: cx7-a " + ComputeSha256Hex(profile),
                  "networkd_unit: /etc/systemd/network/05-x.network " + ComputeSha256Hex(unit)));
  // Its owner wrote one again: what it says now counts.
  one.AddFile(kAdopted, FormatPorts("1500"));
  EXPECT_THAT(list(), Contains("file: " + std::string(kAdopted) + " " +
                               ComputeSha256Hex(FormatPorts("1500"))));
  EXPECT_THAT(list(),
              Not(Contains("file: " + std::string(kAdopted) + " " + ComputeSha256Hex(kGuideText))));
}

TEST(NetplanAdopt, ADefinitionThatIsNoMapOrNoListCrashesNothing) {
  for (const char* text :
       {"network: [1]\n", "network: {ethernets: 7}\n", "network: {ethernets: [a]}\n",
        "network: {ethernets: {enp1s0f1np1: 7}}\n", "network: {renderer: [x], ethernets: {}}\n",
        "network: {ethernets: {enp1s0f1np1: {addresses: 7, link-local: x, mtu: []}}}\n",
        "network: {ethernets: {enp1s0f1np1: {addresses: [[], {}]}}}\n"}) {
    EXPECT_THAT(DetailOfText(text), Not(IsEmpty())) << text;
  }
}

}  // namespace
}  // namespace reconciler::plugins::netplan
