#include "plugins/netplan/adopted_profile.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Profiles of NetworkManager that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOurYaml = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kKeyfileA = "/etc/NetworkManager/system-connections/cx7-a.nmconnection";
constexpr const char* kFabricPort0 = "enp1s0f1np1";
constexpr const char* kFabricPort1 = "enP2p1s0f1np1";

const std::string kHead =
    "[connection]\nid=cx7-a\nuuid=0c2d7e1a-2222-3333-4444-555566667777\ntype=ethernet\n";

std::string FormatKeyfile(const std::string& mtu = "9000") {
  return kHead + "autoconnect-priority=10\ninterface-name=enp1s0f1np1\n[ethernet]\nmtu=" + mtu +
         "\n[ipv4]\naddress1=192.168.177.1/24\nmethod=manual\n[ipv6]\naddr-gen-mode=default\n"
         "method=disabled\n[proxy]\n";
}

const std::string kSameValues = FormatKeyfile();

constexpr const char* kKeptFile = "/etc/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml";

// As Ubuntu's NetworkManager writes the same profile. `says`: lines of its definition; `rest`: of
// what netplan has no key for.
std::string FormatKept(const std::string& says = "match: {name: enp1s0f1np1}",
                       const std::string& rest = "ipv6.method: disabled",
                       const std::string& besides = "") {
  return "network:\n  version: 2\n  ethernets:\n"
         "    NM-0c2d7e1a-2222-3333-4444-555566667777:\n"
         "      renderer: NetworkManager\n"
         "      addresses: [192.168.177.1/24]\n      mtu: 9000\n      " +
         says +
         "\n      networkmanager:\n        uuid: 0c2d7e1a-2222-3333-4444-555566667777\n"
         "        name: cx7-a\n        passthrough:\n          ethernet._: \"\"\n"
         "          ipv6.ip6-privacy: \"-1\"\n          proxy._: \"\"\n          " +
         rest + "\n" + besides;
}

struct ProfileCase : test::PairScenario {
  std::vector<Value> entries = {};

  ProfileCase() {
    facts.files[kOurYaml] = Absent{};
    AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
    for (const RailPort& port : fabric.ports.at("spark-1")) {
      LinkFact& link = facts.links.at(port.netdev);
      link.mtu = 9000;
      link.ipv4 = {port.address};
      link.manager = LinkManager::kNetworkManager;
    }
  }

  void Name(const std::string& profile, const std::string& digest) {
    entries.push_back(test::Map({{"nm_profile", test::Text(profile)},
                                 {"nodes", test::Map({{"spark-1", test::Text(digest)}})}}));
    cluster.settings = test::Map({{"adopt", test::List(entries)}});
  }

  // The keyfile with this text, and `adopt` with its digest.
  void Adopt(const std::string& text, const std::string& path = kKeyfileA,
             const std::string& profile = "cx7-a") {
    AddFile(path, text);
    Name(profile, ComputeSha256Hex(text).substr(0, 12));
  }

  // As after the apply that adopted it.
  void AdoptBefore(const std::string& text, const std::string& path = kKeyfileA) {
    facts.ledger =
        Ledger{.cluster = "homelab",
               .entries = {
                   {.kind = "file", .name = path, .original = {WriteFile{path, FileState{text}}}}}};
    facts.files[path] = Absent{};
  }

  Change Plan(const std::string& name) const {
    const auto change = Diff(Find(Get(), name), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }

  Change Prune(bool uninstall, const std::string& path = kKeyfileA,
               const std::string& text = kSameValues) const {
    Change change{.kind = "file", .name = path, .actions = {WriteFile{path, FileState{text}}}};
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    EXPECT_EQ(CheckPrune({cluster, fabric, cluster.nodes[0], facts, all, uninstall}, change),
              Ownership::kOurs);
    return change;
  }

  std::vector<std::string> Offers() const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    std::vector<std::string> lines;
    for (const AdoptableFile& file : Get().adoptable(cluster, fabric, all)) {
      lines.push_back(file.entry);
    }
    return lines;
  }
};

// The plan's line of a keyfile with this text.
std::string DetailOfKeyfile(const std::string& text) {
  ProfileCase one;
  one.Adopt(text);
  return one.Detail(Get(), kKeyfileA);
}

TEST(NetplanAdoptProfile, AProfileThatSaysTheSameIsTakenOverWithoutAnyOtherChange) {
  ProfileCase one;
  one.Adopt(kSameValues);
  const Change keyfile = one.Plan(kKeyfileA);
  EXPECT_EQ(keyfile.change, ChangeKind::kAdopt);
  EXPECT_EQ(keyfile.detail,
            "profile cx7-a into 60-spark-reconcile.yaml, 1 port, same addresses and MTU");
  EXPECT_EQ(keyfile.diff, "");
  EXPECT_EQ(keyfile.impact, Impact::kLinkFlap);
  EXPECT_THAT(keyfile.actions, ElementsAre(Action(RemoveFile{kKeyfileA})));
  EXPECT_EQ(one.Plan(kOurYaml).change, ChangeKind::kAdopt);
  EXPECT_THAT(one.Find(Get(), kOurYaml).needs, Contains(std::string("spark-1/file/") + kKeyfileA));
  EXPECT_EQ(one.Plan(kFabricPort0).detail, "holds");
  EXPECT_EQ(one.Plan(kFabricPort1).detail, "holds");
  EXPECT_EQ(one.Warning(Get(), kKeyfileA), "none");
}

TEST(NetplanAdoptProfile, ThePlanNamesItAsTheOwnerOfItsPortWithWhatIsLost) {
  ProfileCase one;
  one.Adopt(kHead + "interface-name=enp1s0f1np1\nautoconnect-priority=10\n[ipv6]\n");
  EXPECT_EQ(one.Plan(kKeyfileA).owner, (OtherOwner{.name = kKeyfileA,
                                                   .claims = {kFabricPort0},
                                                   .settings_lost = {"router advertisements"}}));
  EXPECT_EQ(one.Plan(kOurYaml).owner, OtherOwner{});
}

TEST(NetplanAdoptProfile, AWarningOfIpv6ThatTheProfileTurnsOffIsSettledByTakingItOver) {
  ProfileCase one;
  one.Adopt(kSameValues);
  EXPECT_THAT(one.Find(Get(), kKeyfileA).settles,
              ElementsAre("net.ipv6.conf.enp1s0f1np1.disable_ipv6"));
  ProfileCase other;
  other.Adopt(kHead + "interface-name=enp1s0f1np1\nautoconnect-priority=10\n[ipv6]\n");
  EXPECT_THAT(other.Find(Get(), kKeyfileA).settles, IsEmpty());
}

constexpr const char* kIpv6Switch = "net.ipv6.conf.enp1s0f1np1.disable_ipv6";

TEST(NetplanAdoptProfile, OurProfileTurnsIpv6On) {
  ProfileCase one;
  one.facts.files[kOurYaml] = Absent{};
  one.facts.sysctl.keys[kIpv6Switch] = "1";
  one.facts.links.at(kFabricPort0).mtu = 1500;
  EXPECT_THAT(one.File(Get(), kOurYaml).content,
              HasSubstr("networkmanager: {passthrough: {ipv6.method: link-local}}"));
  EXPECT_THAT(one.Find(Get(), kOurYaml).settles, Contains(std::string(kIpv6Switch)));
  EXPECT_THAT(one.Find(Get(), kFabricPort0).settles, ElementsAre(kIpv6Switch));
}

TEST(NetplanAdoptProfile, Ipv6IsAsBeforeWhenAPortIsGivenUp) {
  ProfileCase one;
  const std::string off = "sysctl -w -- net.ipv6.conf.enp1s0f1np1.disable_ipv6=1";
  const auto after = [&] {
    return test::Lines(one.Find(Get(), kFabricPort0).prune_commands->after);
  };
  one.facts.sysctl.keys[kIpv6Switch] = "1";
  EXPECT_THAT(after(), Contains(off));
  one.facts.sysctl.keys[kIpv6Switch] = "0";
  EXPECT_THAT(after(), Not(Contains(off)));
  one.facts.sysctl.keys[kIpv6Switch] = Unknown{"permission denied"};
  EXPECT_THAT(after(), Not(Contains(off)));
}

TEST(NetplanAdoptProfile, OursIsActiveBeforeNetworkManagerMissesTheKeyfile) {
  ProfileCase one;
  one.Adopt(kSameValues);
  const std::vector<std::string> lines = test::Lines(one.Plan(kKeyfileA).triggers);
  EXPECT_THAT(std::vector<std::string>(lines.end() - 3, lines.end()),
              ElementsAre("nmcli --wait 45 connection up id netplan-enp1s0f1np1 ifname enp1s0f1np1",
                          "nmcli --wait 45 connection up id netplan-enP2p1s0f1np1 ifname "
                          "enP2p1s0f1np1",
                          "nmcli connection reload"));
}

constexpr const char* kUp =
    "find /etc/NetworkManager/system-connections/ -maxdepth 1 -path "
    "/etc/NetworkManager/system-connections/cx7-a.nmconnection -exec nmcli --wait 45 connection up "
    "uuid 0c2d7e1a-2222-3333-4444-555566667777 ifname enp1s0f1np1 ;";

TEST(NetplanAdoptProfile, ARevertActivatesItWhereItWasInEffect) {
  ProfileCase one;
  one.Adopt(kSameValues);
  EXPECT_THAT(test::Lines(one.Plan(kKeyfileA).revert), ElementsAre("nmcli connection reload", kUp));
  one.facts.links.at(kFabricPort0).mtu = 1500;  // it was not: a person set the port, or ours did
  EXPECT_THAT(test::Lines(one.Plan(kKeyfileA).revert), ElementsAre("nmcli connection reload"));
}

TEST(NetplanAdoptProfile, OtherValuesAndWhatOursHasNoPlaceForAreNamed) {
  const std::string head = "profile cx7-a into 60-spark-reconcile.yaml, 1 port, ";
  EXPECT_EQ(DetailOfKeyfile(FormatKeyfile("0")), head + "other addresses and MTU");
  EXPECT_EQ(DetailOfKeyfile(kHead + "interface-name=enp1s0f1np1\n"),
            head + "other addresses and MTU; not carried over: router advertisements");
  EXPECT_EQ(
      DetailOfKeyfile(kHead + "interface-name=enp1s0f1np1\n[ethernet]\nmtu=9000\n"
                              "[ipv4]\naddress1=192.168.177.1/24,192.168.177.254\ndns=9.9.9.9;\n"
                              "[802-1x]\npassword=secret\n[ipv6]\nmethod=dhcp\n"),
      head +
          "same addresses and MTU; not carried over: gateway, ipv4.dns, 802-1x.password, "
          "dhcp6");
}

TEST(NetplanAdoptProfile, KeysOfAKeyfileAreNamedWithoutTheirValues) {
  const auto lost = [](const std::string& text) { return ReadKeyfile(text).port.lost; };
  const std::string no_ipv6 = "[ipv6]\nmethod=ignore\n";
  EXPECT_THAT(lost(no_ipv6 + "[ipv4]\nmethod=auto\n"), ElementsAre("dhcp4"));
  EXPECT_THAT(lost(no_ipv6 + "[ipv4]\nmethod=link-local\n"), ElementsAre("IPv4 link-local"));
  EXPECT_THAT(lost(no_ipv6 + "[ipv4]\nmethod=shared\n"), ElementsAre("ipv4.method"));
  EXPECT_THAT(lost(no_ipv6 + "[ipv4]\naddresses=x\n[a\x1b]\nb=c\n"),
              ElementsAre("ipv4.addresses", "a\\x1b.b"));
}

TEST(NetplanAdoptProfile, NothingDiffersWhenItIsGone) {
  ProfileCase one;
  one.Name("cx7-a", "0123456789ab");
  one.AdoptBefore(kSameValues);
  one.facts.files[kOurYaml] = one.File(Get(), kOurYaml);
  // Its entry is required, or it would be pruned.
  EXPECT_EQ(one.Detail(Get(), kKeyfileA), "holds");
  EXPECT_EQ(one.Detail(Get(), kOurYaml), "holds");
  one.facts.ledger = Absent{};
  EXPECT_THAT(one.Names(Get()), Not(Contains(kKeyfileA)));
}

TEST(NetplanAdoptProfile, OneThatItsOwnerMadeAgainElsewhereIsJudgedBesideTheLedger) {
  const std::string again = "/etc/NetworkManager/system-connections/cx7-a 2.nmconnection";
  ProfileCase one;
  one.AdoptBefore(kSameValues);
  one.Adopt(FormatKeyfile("1500"), again);
  EXPECT_EQ(one.Detail(Get(), kKeyfileA), "holds");
  EXPECT_EQ(one.Plan(again).change, ChangeKind::kAdopt);
}

TEST(NetplanAdoptProfile, ADigestThatDiffersBlocksWithBothDigests) {
  ProfileCase one;
  one.AddFile(kKeyfileA, kSameValues);
  one.Name("cx7-a", "0123456789abcdef");
  const std::string now = ComputeSha256Hex(kSameValues).substr(0, 12);
  const std::string why =
      "is not adopted: its SHA-256 begins with " + now +
      ", and the manifest has 0123456789ab: read what it says now; to adopt that, write " + now +
      " into the manifest";
  const std::string claim = std::string("cx7-a (") + kKeyfileA +
                            ") connects enp1s0f1np1 automatically, priority 10 (ours 0), and " +
                            why;
  EXPECT_EQ(one.Detail(Get(), kKeyfileA), "blocked: " + why);
  EXPECT_EQ(one.Detail(Get(), kOurYaml), "blocked: " + claim);
  EXPECT_EQ(one.Warning(Get(), kKeyfileA), claim);
}

TEST(NetplanAdoptProfile, OnlyAProfileInEtcIsAdopted) {
  const std::string why =
      "blocked: is not adopted: it is neither a keyfile in /etc/NetworkManager/system-connections "
      "nor kept by NetworkManager in /etc/netplan: nmcli connection modify cx7-a "
      "connection.autoconnect no, and remove it from adopt";
  const std::string keyfile = "/run/NetworkManager/system-connections/cx7-a.nmconnection";
  ProfileCase one;
  one.Adopt(kSameValues, keyfile);
  EXPECT_EQ(one.Detail(Get(), keyfile), why);
  EXPECT_THAT(one.Offers(), IsEmpty());
  const std::string kept = "/run/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml";
  ProfileCase two;
  two.Adopt(FormatKept(), kept);
  EXPECT_EQ(two.Detail(Get(), kept), why);
  EXPECT_THAT(two.Offers(), IsEmpty());
}

TEST(NetplanAdoptProfile, OnlyAProfileOfPortsOfTheFabricIsAdopted) {
  const std::string not_adopted = "blocked: is not adopted: ";
  EXPECT_EQ(
      DetailOfKeyfile(kHead + "interface-name=eth7\n"),
      not_adopted + "it is for none of this node's ports of the fabric: remove it from adopt");
  EXPECT_EQ(DetailOfKeyfile(kHead + "autoconnect-priority=10\n"),
            not_adopted +
                "it names no port, so that others may need it: nmcli connection modify cx7-a "
                "connection.autoconnect no, and remove it from adopt");
  EXPECT_EQ(DetailOfKeyfile(kHead + "[match]\ninterface-name=enp1s0f*;\n"),
            not_adopted +
                "it is for enp1s0f0np0 too, which is no port of the fabric: remove "
                "enp1s0f0np0 from it");
  EXPECT_EQ(DetailOfKeyfile(kHead + "[match]\ninterface-name=en*;\n"),
            not_adopted +
                "it is for enP7s7 too, which carries this session: leave it in effect "
                "there, and remove it from adopt");
  EXPECT_EQ(DetailOfKeyfile(kHead + "interface-name=enp1s0f1np1\nmaster=bond0\n"),
            not_adopted +
                "it makes its port a member of bond0: nmcli connection modify cx7-a "
                "connection.autoconnect no, and remove it from adopt");
  EXPECT_EQ(DetailOfKeyfile(kHead + "interface-name=enp1s0f1np1\nautoconnect=false\n"),
            not_adopted + "NetworkManager never uses it instead of ours: remove it from adopt");
}

TEST(NetplanAdoptProfile, WhereNetworkdHasThePortsNoProfileIsAdopted) {
  ProfileCase one;
  one.facts.files.erase("/etc/netplan/01-x.yaml");
  for (const char* port : {kFabricPort0, kFabricPort1}) {
    one.facts.links.at(port).manager = LinkManager::kNetworkd;
  }
  one.Adopt(kSameValues);
  EXPECT_EQ(
      one.Detail(Get(), kKeyfileA),
      "blocked: is not adopted: the node's ports of the fabric are networkd's, which reads no "
      "profile: remove it from adopt");
}

TEST(NetplanAdoptProfile, AnUnusualFileNameBlocks) {
  const std::string path = "/etc/NetworkManager/system-connections/cx7[a]";
  ProfileCase one;
  one.Adopt(kSameValues, path);
  EXPECT_EQ(one.Detail(Get(), path),
            "blocked: is not adopted: its file name holds more than letters, digits, blanks, '.', "
            "'_' and '-': rename the file, then: nmcli connection reload");
}

TEST(NetplanAdoptProfile, ANameThatTwoProfilesHaveIsNoName) {
  const std::string other = "/etc/NetworkManager/system-connections/other.nmconnection";
  ProfileCase one;
  one.AddFile(other, "[connection]\nid=cx7-a\nuuid=77aa\ntype=ethernet\nautoconnect=false\n");
  one.Adopt(kSameValues);
  EXPECT_EQ(one.Detail(Get(), kKeyfileA),
            "blocked: is not adopted: another profile has its name: name it in adopt by its UUID, "
            "0c2d7e1a-2222-3333-4444-555566667777");
  EXPECT_THAT(one.Offers(), ElementsAre("nm_profile: 0c2d7e1a-2222-3333-4444-555566667777"));
  one.entries.clear();
  one.Adopt(kSameValues, kKeyfileA, "0c2d7e1a-2222-3333-4444-555566667777");
  EXPECT_EQ(one.Plan(kKeyfileA).change, ChangeKind::kAdopt);
}

TEST(NetplanAdoptProfile, WhatCouldBeNamedIsListed) {
  ProfileCase one;
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.AddFile(kKeyfileA, kSameValues);
  EXPECT_THAT(one.Offers(), ElementsAre("nm_profile: cx7-a"));
  for (const char* id : {"my fabric", "007", "true", "-x"}) {  // what YAML or nmcli reads otherwise
    std::string text = kSameValues;
    one.AddFile(kKeyfileA, text.replace(text.find("cx7-a"), 5, id));
    EXPECT_THAT(one.Offers(), ElementsAre("nm_profile: 0c2d7e1a-2222-3333-4444-555566667777"))
        << id;
  }
  one.AddFile(kKeyfileA, kHead + "interface-name=enp1s0f1np1\nmaster=bond0\n");
  EXPECT_THAT(one.Offers(), IsEmpty());
  // YAML reads this one as a number.
  one.AddFile(kKeyfileA, "[connection]\nid=007\nuuid=0e5\ninterface-name=enp1s0f1np1\n");
  EXPECT_THAT(one.Offers(), IsEmpty());
}

TEST(NetplanAdoptProfile, AnUninstallBringsItToEffectAgain) {
  ProfileCase one;
  const Change change = one.Prune(/*uninstall=*/true);
  EXPECT_EQ(change.actions, std::vector<Action>{Action(WriteFile{kKeyfileA, {kSameValues}})});
  EXPECT_THAT(test::Lines(change.triggers), ElementsAre("nmcli connection reload", kUp));
  EXPECT_EQ(change.triggers[1].sets, "/sys/class/net/enp1s0f1np1");
}

TEST(NetplanAdoptProfile, OfTwoAdoptedProfilesThatWithTheHigherPriorityIsActivated) {
  const auto after = [](const std::string& priority) {
    ProfileCase one;
    const std::string other = "[connection]\nid=old\nuuid=77aa\ntype=ethernet\n" +
                              ("autoconnect-priority=" + priority) +
                              "\ninterface-name=enp1s0f1np1\n";
    one.AdoptBefore(other, "/etc/NetworkManager/system-connections/old");
    return test::Lines(one.Prune(/*uninstall=*/true).triggers);
  };
  EXPECT_THAT(after("20"), ElementsAre("nmcli connection reload"));
  EXPECT_THAT(after("5"), ElementsAre("nmcli connection reload", kUp));
}

TEST(NetplanAdoptProfile, AProfileWithoutUuidIsActivatedByItsName) {
  ProfileCase one;
  const FileState keyfile{.content =
                              "[connection]\nid=my cx7\ntype=ethernet\ninterface-name=enp1s0f1np1"};
  EXPECT_THAT(
      test::Lines(BringBackProfile(one.facts, *ReadHeldProfile(kKeyfileA, keyfile.content))).back(),
      HasSubstr(" connection up id my cx7 ifname enp1s0f1np1 ;"));
}

TEST(NetplanAdoptProfile, APortThatAnotherFileHasByNowIsLeftToIt) {
  ProfileCase one;
  one.AddFile("/etc/NetworkManager/system-connections/other",
              "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\n");
  EXPECT_THAT(test::Lines(one.Prune(/*uninstall=*/true).triggers),
              ElementsAre("nmcli connection reload"));
}

TEST(NetplanAdoptProfile, AProfileThatIsSwitchedOffKeepsNoPortFromIt) {
  ProfileCase one;
  one.AddFile("/etc/NetworkManager/system-connections/other",
              "[connection]\ntype=ethernet\ninterface-name=enp1s0f1np1\nautoconnect=false\n");
  EXPECT_THAT(test::Lines(one.Prune(/*uninstall=*/true).triggers),
              ElementsAre("nmcli connection reload", kUp));
}

TEST(NetplanAdoptProfile, TakenOutOfTheManifestItStaysAwayWhileOursHasItsPort) {
  const std::string why =
      "adopt names it no more, but /etc/netplan/60-spark-reconcile.yaml configures enp1s0f1np1 "
      "instead of it: name it there again; uninstall writes it back";
  ProfileCase one;
  EXPECT_EQ(one.Prune(/*uninstall=*/false).detail, why);
  EXPECT_EQ(one.Prune(/*uninstall=*/false).code, "netplan-adopted-in-use");
  one.facts.links.erase(kFabricPort0);  // without a cable
  EXPECT_EQ(one.Prune(/*uninstall=*/false).detail, why);
}

TEST(NetplanAdoptProfile, APruneWritesNoProfileOfWhatLeadsToTheNodeByNow) {
  ProfileCase one;
  one.facts.network.default_route = std::vector<std::string>{kFabricPort0};
  EXPECT_EQ(one.Prune(/*uninstall=*/true).detail,
            "enp1s0f1np1 carries the default route and is never touched");
}

// The plan's line of a kept profile.
std::string DetailOfKept(const std::string& text) {
  ProfileCase one;
  one.Adopt(text, kKeptFile);
  return one.Detail(Get(), kKeptFile);
}

TEST(NetplanAdoptKeptProfile, OneThatSaysTheSameIsTakenOverOnTrialAsANetplanFile) {
  ProfileCase one;
  one.Adopt(FormatKept(), kKeptFile);
  const Change kept = one.Plan(kKeptFile);
  EXPECT_EQ(kept.change, ChangeKind::kAdopt);
  EXPECT_EQ(kept.detail,
            "profile cx7-a into 60-spark-reconcile.yaml, 1 port, same addresses and MTU");
  EXPECT_EQ(kept.impact, Impact::kLinkFlap);
  ASSERT_EQ(kept.actions.size(), 2U);
  EXPECT_EQ(std::get<RemoveFile>(kept.actions[0]).trial.path,
            "/run/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml");
  EXPECT_EQ(
      test::Lines(std::vector<RunCommand>{std::get<RunCommand>(kept.actions[1])}),
      std::vector<std::string>{"rm -f -- /run/NetworkManager/system-connections/"
                               "netplan-NM-0c2d7e1a-2222-3333-4444-555566667777.nmconnection"});
  EXPECT_EQ(kept.owner, (OtherOwner{.name = kKeptFile, .claims = {kFabricPort0}}));
  EXPECT_EQ(one.Plan(kOurYaml).change, ChangeKind::kAdopt);
  EXPECT_EQ(one.Warning(Get(), kKeptFile), "none");
  EXPECT_THAT(one.Find(Get(), kKeptFile).settles,
              ElementsAre("net.ipv6.conf.enp1s0f1np1.disable_ipv6"));
}

TEST(NetplanAdoptKeptProfile, OursIsActiveBeforeNetworkManagerMissesIt) {
  ProfileCase one;
  one.Adopt(FormatKept(), kKeptFile);
  const std::vector<std::string> lines = test::Lines(one.Plan(kKeptFile).triggers);
  EXPECT_THAT(std::vector<std::string>(lines.end() - 3, lines.end()),
              ElementsAre("nmcli --wait 45 connection up id netplan-enp1s0f1np1 ifname enp1s0f1np1",
                          "nmcli --wait 45 connection up id netplan-enP2p1s0f1np1 ifname "
                          "enP2p1s0f1np1",
                          "nmcli connection reload"));
}

constexpr const char* kKeptUp =
    "find /run -maxdepth 3 -path /run/NetworkManager/system-connections/"
    "netplan-NM-0c2d7e1a-2222-3333-4444-555566667777.nmconnection -exec nmcli --wait 45 connection "
    "up uuid 0c2d7e1a-2222-3333-4444-555566667777 ifname enp1s0f1np1 ;";

TEST(NetplanAdoptKeptProfile, ARevertActivatesItWhereItWasInEffect) {
  ProfileCase one;
  one.Adopt(FormatKept(), kKeptFile);
  EXPECT_THAT(test::Lines(one.Plan(kKeptFile).revert),
              ElementsAre("nmcli connection reload", kKeptUp));
  one.facts.links.at(kFabricPort0).mtu = 1500;
  EXPECT_THAT(test::Lines(one.Plan(kKeptFile).revert), ElementsAre("nmcli connection reload"));
}

TEST(NetplanAdoptKeptProfile, AnUninstallMakesNetplansProfileAgainAndActivatesIt) {
  ProfileCase one;
  const Change change = one.Prune(/*uninstall=*/true, kKeptFile, FormatKept());
  EXPECT_EQ(change.actions, std::vector<Action>{Action(WriteFile{kKeptFile, {FormatKept()}})});
  const std::vector<std::string> lines = test::Lines(change.triggers);
  EXPECT_THAT(lines, Contains(HasSubstr(" netplan generate --root-dir ")));
  EXPECT_THAT(std::vector<std::string>(lines.end() - 2, lines.end()),
              ElementsAre("nmcli connection load /run/NetworkManager/system-connections/"
                          "netplan-NM-0c2d7e1a-2222-3333-4444-555566667777.nmconnection",
                          kKeptUp));
}

TEST(NetplanAdoptKeptProfile, TakenOutOfTheManifestItStaysAwayWhileOursHasItsPort) {
  ProfileCase one;
  EXPECT_EQ(one.Prune(/*uninstall=*/false, kKeptFile, FormatKept()).code, "netplan-adopted-in-use");
}

TEST(NetplanAdoptKeptProfile, NothingDiffersWhenItIsGone) {
  ProfileCase one;
  one.Name("cx7-a", "0123456789ab");
  one.AdoptBefore(FormatKept(), kKeptFile);
  one.facts.files[kOurYaml] = one.File(Get(), kOurYaml);
  EXPECT_EQ(one.Detail(Get(), kKeptFile), "holds");
  EXPECT_EQ(one.Detail(Get(), kOurYaml), "holds");
}

TEST(NetplanAdoptKeptProfile, WhatOursHasNoPlaceForIsNamed) {
  const std::string head =
      "profile cx7-a into 60-spark-reconcile.yaml, 1 port, same addresses and MTU";
  const std::string match = "match: {name: enp1s0f1np1}";
  EXPECT_EQ(DetailOfKept(FormatKept(match, "ipv6.method: link-local")), head);
  EXPECT_EQ(DetailOfKept(FormatKept(match, "connection.zone: home")),
            head + "; not carried over: connection.zone");
  EXPECT_EQ(DetailOfKept(FormatKept(match + "\n      dhcp6: true\n      wakeonlan: true",
                                    "connection.autoconnect-priority: \"10\"")),
            head + "; not carried over: router advertisements, dhcp6, wakeonlan");
}

TEST(NetplanAdoptKeptProfile, OnlyOneOfPortsOfTheFabricAloneInItsFileIsAdopted) {
  const std::string not_adopted = "blocked: is not adopted: ";
  const std::string off =
      "nmcli connection modify cx7-a connection.autoconnect no, and remove it from adopt";
  EXPECT_EQ(DetailOfKept(FormatKept("match: {}")),
            not_adopted + "it names no port, so that others may need it: " + off);
  EXPECT_EQ(
      DetailOfKept(FormatKept("match: {name: eth7}")),
      not_adopted + "it is for none of this node's ports of the fabric: remove it from adopt");
  EXPECT_EQ(DetailOfKept(FormatKept("match: {name: enp1s0f*}")),
            not_adopted +
                "it is for enp1s0f0np0 too, which is no port of the fabric: remove enp1s0f0np0 "
                "from it");
  EXPECT_EQ(DetailOfKept(FormatKept("match: {name: en*}")),
            not_adopted +
                "it is for enP7s7 too, which carries this session: leave it in effect there, and "
                "remove it from adopt");
  const std::string match = "match: {name: enp1s0f1np1}";
  EXPECT_EQ(DetailOfKept(FormatKept(match, "connection.master: bond0")),
            not_adopted + "it makes its port a member of bond0: " + off);
  EXPECT_EQ(DetailOfKept(FormatKept(match, "connection.autoconnect: false")),
            not_adopted + "NetworkManager never uses it instead of ours: remove it from adopt");
  EXPECT_EQ(DetailOfKept(FormatKept(match, "x.y: z", "    eth9: {dhcp4: true}\n")),
            not_adopted + "its file has eth9 too: move that to another file, or " + off);
  EXPECT_EQ(DetailOfKept(FormatKept(match, "x.y: z", "  vlans: {v: {id: 5, link: eth9}}\n")),
            not_adopted + "its file has 'vlans' too: move that to another file, or " + off);
}

TEST(NetplanAdoptKeptProfile, AFileOfTheSameNameInAnotherFolderBlocks) {
  ProfileCase one;
  one.AddFile("/lib/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml", "network: {}\n");
  one.Adopt(FormatKept(), kKeptFile);
  EXPECT_EQ(one.Detail(Get(), kKeptFile),
            "blocked: is not adopted: /lib/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml "
            "is there too: move /lib/netplan/90-NM-0c2d7e1a-2222-3333-4444-555566667777.yaml away");
}

TEST(NetplanAdoptKeptProfile, ADigestThatDiffersBlocks) {
  ProfileCase one;
  one.AddFile(kKeptFile, FormatKept());
  one.Name("cx7-a", "0123456789abcdef");
  const std::string now = ComputeSha256Hex(FormatKept()).substr(0, 12);
  EXPECT_EQ(
      one.Detail(Get(), kKeptFile),
      "blocked: is not adopted: its SHA-256 begins with " + now +
          ", and the manifest has 0123456789ab: read what it says now; to adopt that, write " +
          now + " into the manifest");
}

TEST(NetplanAdoptKeptProfile, AsAFileItIsRefusedWithTheEntryThatTakesIt) {
  ProfileCase one;
  one.AddFile(kKeptFile, FormatKept());
  one.entries.push_back(
      test::Map({{"file", test::Text(kKeptFile)},
                 {"nodes", test::Map({{"spark-1", test::Text("0123456789ab")}})}}));
  one.cluster.settings = test::Map({{"adopt", test::List(one.entries)}});
  one.entries.clear();
  one.facts.files[kKeptFile] = FileState{.content = FormatKept(), .mode = 0600};
  EXPECT_THAT(one.Detail(Get(), kKeptFile), StartsWith("blocked: is not adopted: "));
  one.entries.push_back(test::Map(
      {{"file", test::Text(kKeptFile)},
       {"nodes",
        test::Map({{"spark-1", test::Text(ComputeSha256Hex(FormatKept()).substr(0, 12))}})}}));
  one.cluster.settings = test::Map({{"adopt", test::List(one.entries)}});
  EXPECT_EQ(one.Detail(Get(), kKeptFile),
            "blocked: is not adopted: it keeps a profile of NetworkManager: name it in adopt as "
            "`nm_profile: cx7-a`");
}

TEST(NetplanAdoptKeptProfile, ItIsOfferedByItsNameOrWhereThatIsNoneByItsUuid) {
  ProfileCase one;
  one.AddFile(kKeptFile, FormatKept());
  EXPECT_THAT(one.Offers(), ElementsAre("nm_profile: cx7-a"));
  EXPECT_THAT(one.Warning(Get(), kKeptFile),
              HasSubstr("add {nm_profile: cx7-a, nodes: {spark-1: \"" +
                        ComputeSha256Hex(FormatKept()).substr(0, 12) +
                        "\"}} to adopt, or: nmcli connection modify cx7-a "
                        "connection.autoconnect no, then plan again"));
  // A keyfile has its name, too.
  one.AddFile("/etc/NetworkManager/system-connections/other.nmconnection",
              "[connection]\nid=cx7-a\nuuid=77aa\ntype=ethernet\nautoconnect=false\n");
  EXPECT_THAT(one.Offers(), ElementsAre("nm_profile: 0c2d7e1a-2222-3333-4444-555566667777"));
}

TEST(NetplanAdoptKeptProfile, OneThatNetworkManagerMadeOnItsOwnIsNotOffered) {
  ProfileCase one;
  one.AddFile(kKeptFile, FormatKept("match: {name: enp1s0f1np1}",
                                    "connection.autoconnect-priority: \"-999\""));
  EXPECT_THAT(one.Offers(), IsEmpty());
}

TEST(NetplanAdoptProfile, AKeyfileOfAnyTextCrashesNothing) {
  for (const char* text :
       {"", "[", "[connection]", "=", "[ipv4]\naddress=\naddress1=\n[ethernet]\nmtu"}) {
    EXPECT_THAT(ReadKeyfile(text).port.mtu, StartsWith("1500")) << text;
  }
}

}  // namespace
}  // namespace reconciler::plugins::netplan
