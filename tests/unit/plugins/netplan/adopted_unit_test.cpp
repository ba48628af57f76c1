#include "plugins/netplan/adopted_unit.h"

#include <gmock/gmock.h>

#include "plugins/netplan/adopt/unit.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Units of networkd that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kOurText = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kHandWritten = "/etc/systemd/network/05-fabric.network";
constexpr const char* kUnitPort0 = "enp1s0f1np1";
constexpr const char* kUnitPort1 = "enP2p1s0f1np1";

// What it says of both ports holds for one only.
std::string FormatUnit(const std::string& name = kUnitPort0, const std::string& rest = "") {
  return "[Match]\nName=" + name +
         "\n[Link]\nMTUBytes=9000\n[Network]\nAddress=192.168.177.1/24\n"
         "LinkLocalAddressing=no\n" +
         rest;
}

struct UnitCase : test::PairScenario {
  std::vector<Value> entries = {};

  UnitCase() {
    facts.files[kOurText] = Absent{};
    for (const RailPort& port : fabric.ports.at("spark-1")) {
      LinkFact& link = facts.links.at(port.netdev);
      link.mtu = 9000;
      link.ipv4 = {port.address};
      link.manager = LinkManager::kNetworkd;
    }
  }

  void Name(const std::string& path, const std::string& digest) {
    entries.push_back(test::Map({{"networkd_unit", test::Text(path)},
                                 {"nodes", test::Map({{"spark-1", test::Text(digest)}})}}));
    cluster.settings = test::Map({{"adopt", test::List(entries)}});
  }

  // The unit with this text, and `adopt` with its digest.
  void Adopt(const std::string& text, const std::string& path = kHandWritten) {
    AddFile(path, text);
    Name(path, ComputeSha256Hex(text).substr(0, 12));
  }

  Change Plan(const std::string& name) const {
    const auto change = Diff(Find(Get(), name), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }

  Change Prune(bool uninstall, const std::string& text = FormatUnit()) const {
    Change change{.kind = "file",
                  .name = kHandWritten,
                  .actions = {WriteFile{kHandWritten, FileState{text}}}};
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

// The plan's line of a unit with this text.
std::string DetailOfUnit(const std::string& text, const std::string& path = kHandWritten) {
  UnitCase one;
  one.Adopt(text, path);
  return one.Detail(Get(), path);
}

TEST(NetplanAdoptUnit, AUnitThatSaysTheSameIsTakenOverWithoutAnyOtherChange) {
  UnitCase one;
  one.Adopt(FormatUnit());
  const Change unit = one.Plan(kHandWritten);
  EXPECT_EQ(unit.change, ChangeKind::kAdopt);
  EXPECT_EQ(unit.detail, "unit into 60-spark-reconcile.yaml, 1 port, same addresses and MTU");
  EXPECT_EQ(unit.impact, Impact::kLinkFlap);
  EXPECT_THAT(unit.actions, ElementsAre(Action(RemoveFile{kHandWritten})));
  EXPECT_EQ(one.Plan(kOurText).change, ChangeKind::kAdopt);
  EXPECT_THAT(one.Find(Get(), kOurText).needs,
              Contains(std::string("spark-1/file/") + kHandWritten));
  EXPECT_THAT(one.Find(Get(), kHandWritten).needs,
              Contains(std::string("spark-1/file/") + kOurText));
  EXPECT_EQ(one.Plan(kUnitPort0).detail, "holds");
  EXPECT_EQ(one.Plan(kUnitPort1).detail, "holds");
  EXPECT_EQ(one.Warning(Get(), kHandWritten), "none");
}

TEST(NetplanAdoptUnit, Ipv6AddressesAreNamedAmongWhatIsNotCarriedOver) {
  EXPECT_EQ(DetailOfUnit(FormatUnit(kUnitPort0, "Address=fd00::10/64\n")),
            "unit into 60-spark-reconcile.yaml, 1 port, other addresses and MTU; not carried over: "
            "fd00::10/64");
  EXPECT_EQ(DetailOfUnit(FormatUnit(kUnitPort0,
                                    "Address=fd00::10/64\nAddress=\nAddress=192.168.177.1/24\n")),
            "unit into 60-spark-reconcile.yaml, 1 port, same addresses and MTU");
}

TEST(NetplanAdoptUnit, NetworkdReadsItsFilesAfterItIsGoneAndThenOurPortsFollow) {
  UnitCase one;
  one.Adopt(FormatUnit());
  const std::vector<std::string> lines = test::Lines(one.Plan(kHandWritten).triggers);
  EXPECT_THAT(std::vector<std::string>(lines.end() - 3, lines.end()),
              ElementsAre("networkctl reload", "networkctl reconfigure enp1s0f1np1",
                          "networkctl reconfigure enP2p1s0f1np1"));
}

TEST(NetplanAdoptUnit, ARevertReloadsItAndSetsTheValuesOfItsPortsBack) {
  UnitCase one;
  one.Adopt(FormatUnit());
  EXPECT_THAT(
      test::Lines(one.Plan(kHandWritten).revert),
      ElementsAre("networkctl reload", "ip link set dev enp1s0f1np1 mtu 9000",
                  EndsWith(" sh enp1s0f1np1 192.168.177.1/24"), "ip link set dev enp1s0f1np1 up"));
}

TEST(NetplanAdoptUnit, OtherValuesAndWhatOursHasNoPlaceForAreNamed) {
  const std::string head = "unit into 60-spark-reconcile.yaml, ";
  EXPECT_EQ(DetailOfUnit(FormatUnit("enp1s0f1np1 enP2p1s0f1np1")),
            head + "2 ports, other addresses and MTU");
  EXPECT_EQ(DetailOfUnit("[Match]\nMACAddress=02:53:50:00:01:04\n"
                         "[Network]\nAddress=192.168.177.1/24\nDHCP=yes\nDNS=9.9.9.9\n"
                         "[Route]\nGateway=192.168.177.254\n"),
            head +
                "1 port, other addresses and MTU; not carried over: Network.DNS, Route.Gateway, "
                "dhcp4, dhcp6, IPv6 link-local, router advertisements");
}

TEST(NetplanAdoptUnit, KeysOfAUnitAreReadAsNetworkdReadsThem) {
  const auto lost = [](const std::string& network) {
    return ReadUnit("[Network]\n" + network).port.lost;
  };
  EXPECT_THAT(lost("LinkLocalAddressing=no\n"), IsEmpty());
  EXPECT_THAT(lost("LinkLocalAddressing=no\nIPv6AcceptRA=yes\n"),
              ElementsAre("router advertisements"));
  EXPECT_THAT(lost("LinkLocalAddressing=ipv4\nDHCP=ipv4\n"),
              ElementsAre("dhcp4", "IPv4 link-local"));
  EXPECT_THAT(lost("LinkLocalAddressing=yes\nIPv6AcceptRA=false\n"),
              ElementsAre("IPv4 link-local", "IPv6 link-local"));
  EXPECT_THAT(lost("LinkLocalAddressing=no\n[a\x1b]\nb=c\n"), ElementsAre("a\\x1b.b"));
  EXPECT_THAT(ReadUnit("[Address]\nAddress=10.0.0.1/8\n[Network]\nAddress=\nAddress=10.0.0.2/8\n")
                  .port.addresses,
              ElementsAre("10.0.0.2/8"));
}

TEST(NetplanAdoptUnit, NothingDiffersWhenItIsGone) {
  UnitCase one;
  one.Name(kHandWritten, "0123456789ab");
  one.facts.files[kHandWritten] = Absent{};
  one.facts.files[kOurText] = one.File(Get(), kOurText);
  EXPECT_EQ(one.Detail(Get(), kHandWritten), "holds");
  EXPECT_EQ(one.Detail(Get(), kOurText), "holds");
}

TEST(NetplanAdoptUnit, ADigestThatDiffersBlocksWithBothDigests) {
  UnitCase one;
  one.AddFile(kHandWritten, FormatUnit());
  one.Name(kHandWritten, "0123456789abcdef");
  const std::string now = ComputeSha256Hex(FormatUnit()).substr(0, 12);
  const std::string why =
      "is not adopted: its SHA-256 begins with " + now +
      ", and the manifest has 0123456789ab: read what it says now; to adopt that, write " + now +
      " into the manifest";
  const std::string claim =
      std::string(kHandWritten) + " is read before our file and matches enp1s0f1np1, and " + why;
  EXPECT_EQ(one.Detail(Get(), kHandWritten), "blocked: " + why);
  EXPECT_EQ(one.Detail(Get(), kOurText), "blocked: " + claim);
  EXPECT_EQ(one.Warning(Get(), kHandWritten), claim);
}

TEST(NetplanAdoptUnit, OneThatMatchesMoreThanPortsOfTheFabricIsNotAdopted) {
  const std::string not_adopted = "blocked: is not adopted: ";
  EXPECT_EQ(DetailOfUnit(FormatUnit("enp1s0f*")),
            not_adopted +
                "it matches enp1s0f0np0 too, which is no port of the fabric: take enp1s0f0np0 out "
                "of its [Match], as with Name=enp1s0f1np1");
  EXPECT_EQ(DetailOfUnit(FormatUnit("en*")),
            not_adopted +
                "it matches enP7s7 too, which carries this session: take enP7s7 out of its "
                "[Match], as with Name=enP2p1s0f1np1 enp1s0f1np1, and leave another file in effect "
                "that configures enP7s7");
  EXPECT_EQ(
      DetailOfUnit(FormatUnit("enP7s7")),
      not_adopted + "it matches enP7s7 too, which carries this session: remove it from adopt");
  EXPECT_EQ(DetailOfUnit(FormatUnit("eth7")),
            not_adopted +
                "it matches none of this node's ports of the fabric: remove it from "
                "adopt");
  // A pattern of no more than the fabric's ports, of which one is not there.
  UnitCase one;
  one.facts.links.erase(kUnitPort1);
  one.Adopt(FormatUnit("*f1np1"));
  EXPECT_EQ(one.Detail(Get(), kHandWritten),
            "unit into 60-spark-reconcile.yaml, 2 ports, other addresses and MTU");
  one.facts.links.erase("enp1s0f0np0");
  one.entries.clear();
  one.Adopt(FormatUnit("enp1s0f*"));
  EXPECT_THAT(one.Detail(Get(), kHandWritten),
              testing::StartsWith(not_adopted + "it matches enp1s0f0np0 too"));
}

TEST(NetplanAdoptUnit, OneThatDoesNotConfigureItsPortsAloneIsNotAdopted) {
  const std::string not_adopted = "blocked: is not adopted: ";
  EXPECT_EQ(
      DetailOfUnit(FormatUnit(kUnitPort0, "Bridge=br0\n")),
      not_adopted +
          "it makes its ports members of br0: take that out of it, and remove what makes br0");
  EXPECT_EQ(DetailOfUnit("[Match]\nName=enp1s0f1np1\n[Link]\nUnmanaged=on\n"),
            DetailOfUnit("[Match]\nName=enp1s0f1np1\n[Link]\nUnmanaged=yes\n"));
  EXPECT_EQ(DetailOfUnit("[Match]\nName=enp1s0f1np1\n[Link]\nUnmanaged=yes\n"),
            not_adopted +
                "it says Unmanaged=yes, so that another program configures its ports: find that "
                "program and stop it, then remove the file");
  const std::string later = "/etc/systemd/network/90-fabric.network";
  EXPECT_EQ(DetailOfUnit(FormatUnit(), later),
            not_adopted + "networkd reads our file before it: remove it from adopt");
  const std::string folder = "/usr/lib/systemd/network/";
  UnitCase one;
  one.AddFile(folder + "05-fabric.network", "");
  one.Adopt(FormatUnit());
  EXPECT_EQ(one.Detail(Get(), kHandWritten), not_adopted + folder +
                                                 "05-fabric.network is there too: move " + folder +
                                                 "05-fabric.network away");
  UnitCase two;
  const std::string drop_in = std::string(kHandWritten) + ".d/mtu.conf";
  two.AddFile(drop_in, "[Link]\nMTUBytes=1400\n");
  two.Adopt(FormatUnit());
  EXPECT_EQ(two.Detail(Get(), kHandWritten),
            not_adopted + drop_in + " adds settings of its own to it: write into it what " +
                drop_in + " says, and remove that file");
}

TEST(NetplanAdoptUnit, WhereNetworkManagerHasThePortsNoUnitIsAdopted) {
  UnitCase one;
  one.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  for (const char* port : {kUnitPort0, kUnitPort1}) {
    one.facts.links.at(port).manager = LinkManager::kNetworkManager;
  }
  one.Adopt(FormatUnit());
  EXPECT_EQ(one.Detail(Get(), kHandWritten),
            "blocked: is not adopted: the node's ports of the fabric are NetworkManager's, which "
            "reads no unit of networkd: remove it from adopt");
  EXPECT_THAT(one.Offers(), IsEmpty());
}

TEST(NetplanAdoptUnit, WhatCouldBeNamedIsListedAndOffered) {
  UnitCase one;
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.AddFile(kHandWritten, FormatUnit());
  EXPECT_THAT(one.Offers(), ElementsAre(std::string("networkd_unit: ") + kHandWritten));
  EXPECT_EQ(one.Warning(Get(), kHandWritten),
            std::string(kHandWritten) +
                " is read before our file and matches enp1s0f1np1: networkd uses the first file "
                "that matches, and not ours: add {networkd_unit: " +
                kHandWritten + ", nodes: {spark-1: \"" +
                ComputeSha256Hex(FormatUnit()).substr(0, 12) +
                "\"}} to adopt, or remove it, or give it a name that sorts after "
                "10-netplan-enp1s0f1np1.network, then plan again");
  one.AddFile(kHandWritten, FormatUnit("en*"));
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.facts.files.erase(kHandWritten);
  for (const char* path : {"/run/systemd/network/05-fabric.network",
                           "/etc/systemd/network/05 fabric.network"}) {  // cannot be named
    one.AddFile(path, FormatUnit());
    EXPECT_THAT(one.Offers(), IsEmpty()) << path;
    one.facts.files.erase(path);
  }
}

TEST(NetplanAdoptUnit, AnUninstallBringsItToEffectAgain) {
  UnitCase one;
  const Change change = one.Prune(/*uninstall=*/true);
  EXPECT_EQ(change.actions, std::vector<Action>{Action(WriteFile{kHandWritten, {FormatUnit()}})});
  EXPECT_THAT(test::Lines(change.triggers),
              ElementsAre("networkctl reload", "networkctl reconfigure enp1s0f1np1"));
  EXPECT_EQ(change.triggers[1].sets, "/sys/class/net/enp1s0f1np1");
}

TEST(NetplanAdoptUnit, APortThatAnotherFileHasByNowIsLeftToIt) {
  UnitCase one;
  one.AddFile("/etc/netplan/99-x.yaml", "network: {ethernets: {enp1s0f1np1: {mtu: 9000}}}\n");
  EXPECT_THAT(test::Lines(one.Prune(/*uninstall=*/true).triggers),
              ElementsAre("networkctl reload"));
}

TEST(NetplanAdoptUnit, TakenOutOfTheManifestItStaysAwayWhileOursHasItsPort) {
  UnitCase one;
  EXPECT_EQ(one.Prune(/*uninstall=*/false).code, "netplan-adopted-in-use");
  EXPECT_EQ(one.Prune(/*uninstall=*/false).detail,
            "adopt names it no more, but /etc/netplan/60-spark-reconcile.yaml configures "
            "enp1s0f1np1 instead of it: name it there again; uninstall writes it back");
}

TEST(NetplanAdoptUnit, APruneWritesNoUnitOfWhatLeadsToTheNodeByNow) {
  UnitCase one;
  one.facts.network.default_route = std::vector<std::string>{kUnitPort0};
  EXPECT_EQ(one.Prune(/*uninstall=*/true).detail,
            "enp1s0f1np1 carries the default route and is never touched");
}

TEST(NetplanAdoptUnit, AUnitOfAnyTextCrashesNothing) {
  for (const char* text : {"", "[", "[Match]", "=", "[Match]\nName=\n", "[Network]\nAddress\n",
                           "[Match]\nName=!\n[Link]\nMTUBytes\n"}) {
    EXPECT_EQ(ReadUnit(text).port.mtu, "1500") << text;
    UnitCase one;
    one.Adopt(text);
    EXPECT_THAT(one.Detail(Get(), kHandWritten), testing::StartsWith("blocked: ")) << text;
  }
}

}  // namespace
}  // namespace reconciler::plugins::netplan
