#include "plugins/netplan/prune_check.h"

#include <gmock/gmock.h>

#include <map>
#include <utility>

#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/render.h"
#include "reconciler/base/mark.h"
#include "tests/unit/plugins/pair_scenario.h"

// What a prune leaves alone, because others have it by now.
namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kPrunedFile = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kPortA = "enp1s0f1np1";
constexpr const char* kPortB = "enP2p1s0f1np1";
constexpr const char* kOther = "/etc/netplan/99-x.yaml";
const std::string kPrunedText =
    FormatNetplan({test::PairPort(1, 0), test::PairPort(1, 1)}, {}, Renderer::kNetworkd);

test::PairScenario MakeManaged(LinkManager manager = LinkManager::kNetworkd) {
  test::PairScenario scenario;
  scenario.facts.links.at(kPortA).manager = manager;
  scenario.facts.links.at(kPortB).manager = manager;
  return scenario;
}

struct Judgement {
  Change change = {};
  Ownership ownership = Ownership::kOurs;
};

Judgement Judge(const test::PairScenario& scenario, Change change, bool uninstall = true) {
  const ClusterFacts all{.nodes = {{scenario.facts.node, scenario.facts}}};
  const PluginInput input{
      scenario.cluster, scenario.fabric, scenario.cluster.nodes[0], scenario.facts, all, uninstall};
  const Ownership ownership = CheckPrune(input, change);
  return {std::move(change), ownership};
}

// As the ledger's entry of what the plugin declares makes it.
Change MakePrune(const test::PairScenario& scenario, const std::string& name) {
  const Resource resource = scenario.Find(Get(), name);
  Change change{.kind = resource.kind, .name = name, .triggers = resource.prune_commands->after};
  for (const RunCommand& command : resource.prune_commands->before)
    change.actions.emplace_back(command);
  for (const RunCommand& command : resource.triggers) change.revert.emplace_back(command);
  if (resource.kind == "file") change.before = FileState{kPrunedText};
  return change;
}

std::vector<std::string> ListActions(const Change& change) { return test::Lines(change.actions); }

// Before: what another entry of the same stage removes later is still there at the reload.
TEST(NetplanPrune, AllFilesGoBeforeTheManagersReadThemAgain) {
  const test::PairScenario scenario = MakeManaged();
  for (const char* name : {kPrunedFile, kPortA, kPortB}) {
    const Change change = Judge(scenario, MakePrune(scenario, name)).change;
    EXPECT_THAT(ListActions(change), ElementsAre(HasSubstr("rm -f -- /run/systemd/network/")));
    EXPECT_EQ(test::Lines(change.triggers)[0], "networkctl reload");
  }
}

TEST(NetplanPrune, APortStaysUpWhereTheFabricsOtherPortsAreBlocked) {
  test::PairScenario scenario = MakeManaged();
  const Change prune = MakePrune(scenario, kPortB);
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.AddFile(kPrunedFile, FormatOwnedFile("homelab", kPrunedText));
  EXPECT_NE(Judge(scenario, prune, false).change.change, ChangeKind::kBlocked);
  scenario.facts.network.routes =
      std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.177.0/24"), "wlP9s9"}};
  const Change blocked = Judge(scenario, prune, false).change;
  EXPECT_EQ(blocked.change, ChangeKind::kBlocked);
  EXPECT_EQ(blocked.code, "netplan-subnet-routed");
  EXPECT_THAT(blocked.detail,
              testing::StartsWith("the fabric's other ports are blocked: fabric subnet"));
}

TEST(NetplanPrune, NetworkManagerHasTakenThePortDownBeforeItsValuesAreSet) {
  test::PairScenario scenario = MakeManaged(LinkManager::kNetworkManager);
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  EXPECT_THAT(
      ListActions(Judge(scenario, MakePrune(scenario, kPortA)).change),
      ElementsAre("find /run -maxdepth 3 -path "
                  "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection -exec "
                  "nmcli --wait 45 connection down id netplan-enp1s0f1np1 ;",
                  "rm -f -- /run/NetworkManager/system-connections/"
                  "netplan-enp1s0f1np1.nmconnection"));
}

test::PairScenario MakeOfNetworkManager() {
  test::PairScenario scenario = MakeManaged(LinkManager::kNetworkManager);
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  return scenario;
}

constexpr const char* kTakesDown =
    "find /run -maxdepth 3 -path "
    "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection -exec "
    "nmcli --wait 45 connection down id netplan-enp1s0f1np1 ;";

// Its base netplan names another renderer since the ledger's entry was made.
TEST(NetplanPrune, NetworkManagerReadsItsFilesAgainWhereItHasThePortsByNow) {
  const test::PairScenario then = MakeManaged();
  const test::PairScenario now = MakeOfNetworkManager();
  const Change ledger = MakePrune(then, kPortA);
  const Change link = Judge(now, ledger).change;
  EXPECT_THAT(ListActions(link),
              ElementsAre(kTakesDown,
                          "rm -f -- /run/NetworkManager/system-connections/"
                          "netplan-enp1s0f1np1.nmconnection",
                          "rm -f -- /run/systemd/network/10-netplan-enp1s0f1np1.network "
                          "/run/systemd/network/10-netplan-enp1s0f1np1.link"));
  EXPECT_EQ(test::Lines(link.triggers).front(), "nmcli connection reload");
  EXPECT_EQ(test::Lines(link.triggers).back(), "ip link set dev enp1s0f1np1 up");
  std::vector<std::string> revert = test::Lines(ledger.revert);
  revert.emplace_back(
      "find /run -maxdepth 3 -path "
      "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection -exec "
      "nmcli --wait 45 connection up id netplan-enp1s0f1np1 ifname enp1s0f1np1 ;");
  EXPECT_EQ(test::Lines(link.revert), revert);
  const Change file = Judge(now, MakePrune(then, kPrunedFile)).change;
  EXPECT_EQ(ListActions(file).front(),
            "rm -f -- /run/NetworkManager/system-connections/netplan-enP2p1s0f1np1.nmconnection "
            "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection");
  EXPECT_THAT(test::Lines(file.triggers), ElementsAre("nmcli connection reload"));
}

TEST(NetplanPrune, NetworkdReadsItsFilesAgainWhereItHasThePortsByNow) {
  const test::PairScenario then = MakeOfNetworkManager();
  const Change ledger = MakePrune(then, kPortA);
  const Change link = Judge(MakeManaged(), ledger).change;
  EXPECT_THAT(ListActions(link),
              ElementsAre("rm -f -- /run/systemd/network/10-netplan-enp1s0f1np1.network "
                          "/run/systemd/network/10-netplan-enp1s0f1np1.link",
                          kTakesDown,
                          "rm -f -- /run/NetworkManager/system-connections/"
                          "netplan-enp1s0f1np1.nmconnection"));
  EXPECT_EQ(test::Lines(link.triggers).front(), "networkctl reload");
  EXPECT_EQ(link.revert, ledger.revert);  // networkd follows a file by the reload alone
}

// What the files say comes only with `netplan apply`, and networkd would keep the ports until then.
TEST(NetplanPrune, WhatManagesThePortsCountsBeforeWhatTheFilesSay) {
  test::PairScenario scenario = MakeManaged();
  const Change rail0 = MakePrune(scenario, kPortA);
  const Change with_networkd = Judge(scenario, rail0).change;
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  EXPECT_EQ(Judge(scenario, rail0).change, with_networkd);
  for (const char* port : {kPortA, kPortB}) {
    scenario.facts.links.at(port).manager = LinkManager::kNone;  // without a carrier
  }
  EXPECT_EQ(test::Lines(Judge(scenario, rail0).change.triggers).front(), "nmcli connection reload");
}

// Its netplan files are not read then.
TEST(NetplanPrune, OnANodeWithoutPortsInTheManifestTheLedgersCommandsAreUsed) {
  const test::PairScenario then = MakeOfNetworkManager();
  const Change rail0 = MakePrune(then, kPortA);
  test::PairScenario now = MakeManaged(LinkManager::kNone);
  now.fabric.ports.clear();
  EXPECT_THAT(ListActions(Judge(now, rail0).change), ElementsAre(kTakesDown, testing::_));
  EXPECT_EQ(test::Lines(Judge(now, rail0).change.triggers).front(), "nmcli connection reload");
}

TEST(NetplanPrune, ALedgerOfAnEarlierVersionRemovesThemBeforeItToo) {
  const test::PairScenario scenario = MakeManaged();
  Change change = MakePrune(scenario, kPortA);
  change.triggers.insert(change.triggers.begin(), std::get<RunCommand>(change.actions[0]));
  change.actions.clear();
  EXPECT_EQ(Judge(scenario, change).change, Judge(scenario, MakePrune(scenario, kPortA)).change);
}

TEST(NetplanPrune, SaysWhatItCutsOff) {
  test::PairScenario scenario = MakeManaged();
  scenario.facts.rdma.users =
      std::vector<RdmaUser>{{"rocep1s0f1", "enp1s0f1np1", "ib_write_bw", 812}};
  const std::string cut = "the RDMA connections of ib_write_bw (pid 812) on rocep1s0f1";
  EXPECT_EQ(Judge(scenario, {.kind = "link", .name = kPortA}).change.interrupts, cut);
  EXPECT_EQ(Judge(scenario, {.kind = "link", .name = kPortB}).change.interrupts, "");
  EXPECT_EQ(Judge(scenario, MakePrune(scenario, kPrunedFile)).change.interrupts, cut);
}

TEST(NetplanPrune, APortThatLeadsToTheNodeByNowIsBlocked) {
  test::PairScenario scenario = MakeManaged();
  scenario.facts.network.default_route = std::vector<std::string>{kPortA};
  const Judgement judgement = Judge(scenario, {.change = ChangeKind::kRemove,
                                               .kind = "file",
                                               .name = kPrunedFile,
                                               .actions = {RemoveFile{kPrunedFile}},
                                               .before = FileState{kPrunedText}});
  EXPECT_EQ(judgement.ownership, Ownership::kOurs);
  EXPECT_EQ(judgement.change.change, ChangeKind::kBlocked);
  EXPECT_EQ(judgement.change.detail, "enp1s0f1np1 carries the default route and is never touched");
  EXPECT_THAT(judgement.change.actions, IsEmpty());
}

TEST(NetplanPrune, APortOfAnotherNetplanFileIsLeftAsItIs) {
  test::PairScenario scenario = MakeManaged();
  const Change rail0 = MakePrune(scenario, kPortA);
  scenario.AddFile(kOther, "network: {ethernets: {enp1s0f1np1: {mtu: 1400}}}\n");
  const Judgement judgement = Judge(scenario, rail0);
  EXPECT_EQ(judgement.ownership, Ownership::kOthers);
  EXPECT_EQ(judgement.change.change, ChangeKind::kBlocked);
  EXPECT_EQ(judgement.change.code, "netplan-port-claimed");
  EXPECT_EQ(judgement.change.detail, "now configured by /etc/netplan/99-x.yaml; left as it is");
  EXPECT_EQ(judgement.change.owner, (OtherOwner{.name = kOther, .claims = {kPortA}}));
}

TEST(NetplanPrune, OurFileGoesWithoutWhatIsGeneratedForAPortOfAnotherNetplanFile) {
  test::PairScenario scenario = MakeManaged();
  const Change file = MakePrune(scenario, kPrunedFile);
  scenario.AddFile(kOther, "network: {ethernets: {enp1s0f1np1: {mtu: 1400}}}\n");
  const Judgement judgement = Judge(scenario, file);
  EXPECT_EQ(judgement.ownership, Ownership::kOurs);
  EXPECT_THAT(ListActions(judgement.change),
              ElementsAre("rm -f -- /run/systemd/network/10-netplan-enP2p1s0f1np1.network "
                          "/run/systemd/network/10-netplan-enP2p1s0f1np1.link"));
  EXPECT_THAT(test::Lines(judgement.change.triggers), ElementsAre("networkctl reload"));
  EXPECT_THAT(test::Lines(judgement.change.revert),
              ElementsAre("networkctl reload", "networkctl reconfigure enP2p1s0f1np1"));
}

TEST(NetplanPrune, OurFileGoesWithoutWhatIsGeneratedForAPortThatItNoLongerHas) {
  const test::PairScenario scenario = MakeManaged();
  Change file = MakePrune(scenario, kPrunedFile);
  file.before = FileState{FormatNetplan({test::PairPort(1, 1)}, {}, Renderer::kNetworkd)};
  EXPECT_THAT(ListActions(Judge(scenario, file).change),
              ElementsAre("rm -f -- /run/systemd/network/10-netplan-enP2p1s0f1np1.network "
                          "/run/systemd/network/10-netplan-enP2p1s0f1np1.link"));
}

TEST(NetplanPrune, NothingIsReadAgainWhereAllPortsAreOthers) {
  test::PairScenario scenario = MakeManaged();
  Change file = MakePrune(scenario, kPrunedFile);
  file.actions.emplace_back(RemoveFile{kPrunedFile});
  scenario.AddFile(kOther, "network: {ethernets: {all: {match: {name: 'en*f1np1'}}}}\n");
  const Change change = Judge(scenario, file).change;
  EXPECT_EQ(change.actions, std::vector<Action>{RemoveFile{kPrunedFile}});
  EXPECT_THAT(change.triggers, IsEmpty());
}

TEST(NetplanPrune, APortOfAUnitOrAProfileKeepsItsValues) {
  constexpr const char* kUnit = "/etc/systemd/network/05-x.network";
  constexpr const char* kProfile = "/etc/NetworkManager/system-connections/x.nmconnection";
  for (const bool networkd : {true, false}) {
    test::PairScenario scenario =
        MakeManaged(networkd ? LinkManager::kNetworkd : LinkManager::kNetworkManager);
    if (!networkd) {
      scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
    }
    const Change rail0 = MakePrune(scenario, kPortA);
    scenario.AddFile(kUnit, "[Match]\nName=enp1s0f1np1\n");
    scenario.AddFile(kProfile, "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\n");
    const Judgement judgement = Judge(scenario, rail0);
    EXPECT_EQ(judgement.ownership, Ownership::kOurs);
    EXPECT_EQ(judgement.change.detail,
              std::string("what was generated for it is removed; its values are left to ") +
                  (networkd ? kUnit : kProfile));
    EXPECT_THAT(ListActions(judgement.change).back(), HasSubstr("rm -f -- /run/"));
    EXPECT_THAT(test::Lines(judgement.change.triggers),
                ElementsAre(networkd ? "networkctl reload" : "nmcli connection reload"));
    for (const std::string& line : test::Lines(judgement.change.revert)) {
      EXPECT_THAT(line, Not(HasSubstr("reconfigure")));
      EXPECT_THAT(line, Not(HasSubstr("connection up")));
    }
  }
}

TEST(NetplanPrune, WhereTheOwnerCannotBeReadNothingIsTouched) {
  test::PairScenario scenario = MakeManaged();
  const Change rail0 = MakePrune(scenario, kPortA);
  scenario.facts.files[kOther] = Unknown{"it is a symbolic link"};
  const Judgement judgement = Judge(scenario, rail0);
  EXPECT_EQ(judgement.ownership, Ownership::kOurs);
  EXPECT_EQ(judgement.change.code, "netplan-owner-unknown");
  EXPECT_EQ(judgement.change.detail,
            "/etc/netplan/99-x.yaml cannot be read: it is a symbolic link");
}

constexpr const char* kVlan = "vlans: {st.50: {id: 50, link: enp1s0f1np1}}";

// The prune of our file beside /etc/netplan/70-storage.yaml with this network.
Change PruneBeside(const std::string& network, bool uninstall = true) {
  test::PairScenario scenario = MakeManaged();
  const Change file = MakePrune(scenario, kPrunedFile);
  scenario.AddFile("/etc/netplan/70-storage.yaml", "network: {" + network + "}\n");
  return Judge(scenario, file, uninstall).change;
}

// netplan would refuse all files, and configure nothing at the next boot.
TEST(NetplanPrune, OurFileStaysWhileAnotherOneNeedsItsDefinitionOfAPort) {
  for (const bool uninstall : {true, false}) {
    const Change change = PruneBeside(kVlan, uninstall);
    EXPECT_EQ(change.change, ChangeKind::kBlocked);
    EXPECT_EQ(change.code, "netplan-port-needed");
    EXPECT_EQ(change.detail,
              "/etc/netplan/70-storage.yaml puts st.50 on enp1s0f1np1, which only our file "
              "defines: add `ethernets: {enp1s0f1np1: {}}` to it");
    EXPECT_THAT(change.actions, IsEmpty());
  }
  const Change bridge = PruneBeside("bridges: {br0: {interfaces: [eth0, enP2p1s0f1np1]}}");
  EXPECT_EQ(bridge.change, ChangeKind::kBlocked);
  EXPECT_EQ(bridge.detail,
            "/etc/netplan/70-storage.yaml puts br0 on enP2p1s0f1np1, which only our file defines: "
            "add `ethernets: {enP2p1s0f1np1: {}}` to it");
}

TEST(NetplanPrune, OurFileGoesWhereTheOtherOneDefinesThePortItself) {
  const Change own = PruneBeside("ethernets: {enp1s0f1np1: {}}, " + std::string(kVlan));
  EXPECT_NE(own.change, ChangeKind::kBlocked);
  const Change other = PruneBeside("vlans: {st.50: {id: 50, link: eth0}}");
  EXPECT_NE(other.change, ChangeKind::kBlocked);
}

TEST(NetplanPrune, AFileThatIsWrittenAgainDefinesThePortToo) {
  test::PairScenario scenario = MakeManaged();
  const Change file = MakePrune(scenario, kPrunedFile);
  scenario.AddFile(kOther, "network: {" + std::string(kVlan) + "}\n");
  const std::string adopted = "/etc/netplan/40-cx7.yaml";
  const WriteFile original{adopted, FileState{"network: {ethernets: {enp1s0f1np1: {}}}\n"}};
  scenario.facts.ledger = Ledger{
      .entries = {{.kind = "file", .name = adopted, .plugin = "netplan", .original = {original}}}};
  EXPECT_NE(Judge(scenario, file).change.change, ChangeKind::kBlocked);
}

TEST(NetplanPrune, WhereOurFileStaysAnUninstallLeavesItsPortsAsTheyAre) {
  test::PairScenario scenario = MakeManaged();
  const Change rail0 = MakePrune(scenario, kPortA);
  scenario.AddFile(kPrunedFile, kPrunedText);
  scenario.AddFile(kOther, "network: {" + std::string(kVlan) + "}\n");
  EXPECT_EQ(Judge(scenario, rail0).change.code, "netplan-port-needed");
  EXPECT_NE(Judge(scenario, rail0, false).change.code, "netplan-port-needed");
}

TEST(NetplanPrune, APortStaysUpWhereAnotherNetplanFileNeedsItsDefinition) {
  test::PairScenario scenario = MakeManaged();
  const Change rail1 = MakePrune(scenario, kPortB);
  scenario.AddFile(kPrunedFile, FormatOwnedFile("homelab", kPrunedText));
  scenario.AddFile(kOther, "network: {vlans: {st.50: {id: 50, link: enP2p1s0f1np1}}}\n");
  scenario.fabric.ports["spark-1"].pop_back();
  const Change blocked = Judge(scenario, rail1, false).change;
  EXPECT_EQ(blocked.code, "netplan-port-needed");
  EXPECT_EQ(blocked.detail,
            "the fabric's other ports are blocked: /etc/netplan/99-x.yaml puts st.50 on "
            "enP2p1s0f1np1, which only our file defines: add `ethernets: {enP2p1s0f1np1: {}}` to "
            "it");
}

TEST(NetplanPrune, APortIsSetBackOnlyWithTheFileThatDefinesIt) {
  test::PairScenario scenario = MakeManaged();
  const Change rail1 = MakePrune(scenario, kPortB);
  scenario.AddFile(kPrunedFile, FormatOwnedFile("homelab", kPrunedText));
  scenario.fabric.ports["spark-1"].pop_back();
  const Change pruned = Judge(scenario, rail1, false).change;
  EXPECT_EQ(pruned.code, "");
  EXPECT_THAT(pruned.needs, ElementsAre(std::string("spark-1/file/") + kPrunedFile));
}

// Names that YAML could take for something else stand in quotes there.
TEST(NetplanPrune, OurFileHasItsPortsByWhateverNames) {
  test::PairScenario scenario = MakeManaged();
  scenario.facts.links["rail-0"] = test::Bare("02:53:50:00:01:09");
  scenario.facts.network.default_route = std::vector<std::string>{"rail-0"};
  RailPort port = test::PairPort(1, 0);
  port.netdev = "rail-0";
  const Change file =
      Judge(scenario, {.kind = "file",
                       .name = kPrunedFile,
                       .actions = {RemoveFile{kPrunedFile}},
                       .before = FileState{FormatNetplan({port}, {}, Renderer::kNetworkd)}})
          .change;
  EXPECT_EQ(file.code, "netplan-leads-to-node");
}

// "none", or the path.
std::string FindOwnerOf(const test::PairScenario& scenario, const std::string& netdev = kPortA) {
  const PortOwner owner = FindForeignOwner(scenario.facts, netdev);
  if (!owner.unclear.empty()) return owner.unclear;
  return owner.path.empty() ? "none" : owner.path;
}

std::string FindOwnerByUnit(const std::string& text) {
  test::PairScenario scenario = MakeManaged();
  scenario.AddFile("/etc/systemd/network/20-x.network", text);
  return FindOwnerOf(scenario);
}

TEST(NetplanPortOwner, AUnitHasThePortsThatItMatches) {
  const std::string path = "/etc/systemd/network/20-x.network";
  EXPECT_EQ(FindOwnerByUnit("[Match]\nName=eth0 enp1s0*\n"), path);
  EXPECT_EQ(FindOwnerByUnit("[Match]\nName=!eth0\n"), path);
  EXPECT_EQ(FindOwnerByUnit("[Match]\nMACAddress=02:53:50:00:01:04\nType=ether\n"), path);
  EXPECT_EQ(FindOwnerByUnit("[Match]\nDriver=mlx5_core\n"), path);  // it may be
  EXPECT_EQ(FindOwnerByUnit("[Match]\nType=ether\nKind=!*\n"), path);
  EXPECT_EQ(FindOwnerByUnit("# a\n[Match]\nName=enP2p1s0f1np1\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Match]\nName=!enp1s0*\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Match]\nMACAddress=02:53:50:00:01:05\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Match]\nType=wlan\nWLANInterfaceType=ad-hoc\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Match]\nKind=veth\nName=*\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Network]\nDHCP=yes\n"), "none");
  EXPECT_EQ(FindOwnerByUnit("[Match]\nName=*\n[Link]\nUnmanaged=yes\n"), "none");
}

// The member of a bond has the bond's address until it leaves the bond.
TEST(NetplanPortOwner, AnAddressOfAUnitOrAProfileIsThePortsOwnNotThatOfItsBond) {
  test::PairScenario unit = MakeManaged();
  test::PairScenario profile = MakeManaged(LinkManager::kNetworkManager);
  for (test::PairScenario* one : {&unit, &profile}) {
    LinkFact& link = one->facts.links.at(kPortB);
    link.permanent_mac = link.mac;
    link.mac = one->facts.links.at(kPortA).mac;
    link.master = "bond0";
  }
  const auto find_unit = [&](const std::string& key, const std::string& mac) {
    unit.AddFile("/etc/systemd/network/20-x.network", "[Match]\n" + key + "=" + mac + "\n");
    return FindOwnerOf(unit, kPortB);
  };
  const auto find_profile = [&](const std::string& mac) {
    profile.AddFile("/etc/NetworkManager/system-connections/x",
                    "[connection]\ntype=ethernet\n[ethernet]\nmac-address=" + mac + "\n");
    return FindOwnerOf(profile, kPortB);
  };
  for (const char* key : {"MACAddress", "PermanentMACAddress"}) {
    EXPECT_EQ(find_unit(key, "02:53:50:00:01:04"), "none") << key;
    EXPECT_EQ(find_unit(key, "02:53:50:00:01:05"), "/etc/systemd/network/20-x.network") << key;
  }
  EXPECT_EQ(find_profile("02:53:50:00:01:04"), "none");
  EXPECT_EQ(find_profile("02:53:50:00:01:05"), "/etc/NetworkManager/system-connections/x");
}

TEST(NetplanPortOwner, AnAddressThatAPortWasGivenCountsForNetworkd) {
  test::PairScenario scenario = MakeManaged();
  LinkFact& link = scenario.facts.links.at(kPortA);
  link.permanent_mac = std::exchange(link.mac, "02:00:00:00:00:77");
  const std::string path = "/etc/systemd/network/20-x.network";
  scenario.AddFile(path, "[Match]\nMACAddress=02:00:00:00:00:77\n");
  EXPECT_EQ(FindOwnerOf(scenario), path);
  scenario.AddFile(path, "[Match]\nPermanentMACAddress=02:00:00:00:00:77\n");
  EXPECT_EQ(FindOwnerOf(scenario), "none");
}

TEST(NetplanPortOwner, WhatNetplanGeneratesIsNoOwner) {
  test::PairScenario scenario = MakeManaged();
  scenario.AddFile("/run/systemd/network/10-netplan-enp1s0f1np1.network",
                   "[Match]\nName=enp1s0f1np1\n");
  EXPECT_EQ(FindOwnerOf(scenario), "none");
  scenario.AddFile("/etc/systemd/network/10-netplan-enp1s0f1np1.network",
                   "[Match]\nName=enp1s0f1np1\n");
  EXPECT_EQ(FindOwnerOf(scenario), "/etc/systemd/network/10-netplan-enp1s0f1np1.network");
}

TEST(NetplanPortOwner, AUnitThatAnotherOneHidesHasNothing) {
  test::PairScenario scenario = MakeManaged();
  scenario.AddFile("/usr/lib/systemd/network/20-x.network", "[Match]\nName=enp1s0f1np1\n");
  EXPECT_EQ(FindOwnerOf(scenario), "/usr/lib/systemd/network/20-x.network");
  scenario.AddFile("/etc/systemd/network/20-x.network", "");
  EXPECT_EQ(FindOwnerOf(scenario), "none");
}

std::string FindOwnerByProfile(const std::string& text) {
  test::PairScenario scenario = MakeManaged(LinkManager::kNetworkManager);
  scenario.AddFile("/etc/NetworkManager/system-connections/x", text);
  return FindOwnerOf(scenario);
}

TEST(NetplanPortOwner, AProfileHasThePortsThatItNames) {
  const std::string path = "/etc/NetworkManager/system-connections/x";
  const std::string wired = "[connection]\ntype=ethernet\n";
  EXPECT_EQ(FindOwnerByProfile(wired + "interface-name=enp1s0f1np1\n"), path);
  EXPECT_EQ(FindOwnerByProfile(wired + "[ethernet]\nmac-address=02:53:50:00:01:04\n"), path);
  EXPECT_EQ(FindOwnerByProfile(wired + "[match]\ninterface-name=eth0;|enp1*;\n"), path);
  EXPECT_EQ(FindOwnerByProfile(wired + "interface-name=eth0\n"), "none");
  EXPECT_EQ(FindOwnerByProfile(wired + "[ethernet]\nmac-address=02:53:50:00:01:05\n"), "none");
  EXPECT_EQ(FindOwnerByProfile(wired + "[match]\ninterface-name=en*;!enp1*;\n"), "none");
  EXPECT_EQ(FindOwnerByProfile(wired), "none");
  EXPECT_EQ(FindOwnerByProfile("[connection]\ntype=vlan\ninterface-name=enp1s0f1np1\n"), "none");
}

TEST(NetplanPortOwner, AProfileThatDoesNotConnectOnItsOwnHasNoPort) {
  const std::string path = "/etc/NetworkManager/system-connections/x";
  const std::string named = "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\n";
  EXPECT_EQ(FindOwnerByProfile(named + "autoconnect=false\n"), "none");
  EXPECT_EQ(FindOwnerByProfile(named + "autoconnect-priority=-999\n"), "none");
  EXPECT_EQ(FindOwnerByProfile(named + "autoconnect-priority=-1\n"), path);
}

// The plan advises to switch it off, and no one does so to lose the port's values.
TEST(NetplanPrune, APortOfAProfileThatIsSwitchedOffGetsItsValuesBack) {
  test::PairScenario scenario = MakeManaged(LinkManager::kNetworkManager);
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  const Change rail0 = MakePrune(scenario, kPortA);
  const Change without = Judge(scenario, rail0).change;
  scenario.AddFile("/etc/NetworkManager/system-connections/x.nmconnection",
                   "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\nautoconnect=false\n");
  EXPECT_EQ(Judge(scenario, rail0).change, without);
  EXPECT_EQ(test::Lines(without.triggers).back(), "ip link set dev enp1s0f1np1 up");
}

TEST(NetplanPortOwner, WhatOnlyTheOtherManagerReadsDoesNotCount) {
  const std::string unit = "/etc/systemd/network/20-x.network";
  const std::string profile = "/run/NetworkManager/system-connections/x.nmconnection";
  const std::map<LinkManager, std::string> owners = {{LinkManager::kNetworkd, unit},
                                                     {LinkManager::kNetworkManager, profile},
                                                     {LinkManager::kNone, unit}};
  for (const auto& [manager, owner] : owners) {
    test::PairScenario scenario = MakeManaged(manager);
    scenario.AddFile(unit, "[Match]\nName=enp1s0f1np1\n");
    scenario.AddFile(profile, "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\n");
    EXPECT_EQ(FindOwnerOf(scenario), owner);
  }
}

TEST(NetplanPortOwner, AFileThatCannotBeReadIsNamed) {
  test::PairScenario scenario = MakeManaged();
  scenario.facts.files["/etc/systemd/network/20-x.network"] = Unknown{"permission denied"};
  EXPECT_EQ(FindOwnerOf(scenario),
            "/etc/systemd/network/20-x.network cannot be read: permission denied");
}

}  // namespace
}  // namespace reconciler::plugins::netplan
