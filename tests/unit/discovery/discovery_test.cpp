#include "reconciler/discovery/discovery.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/json/document.h"
#include "reconciler/base/mark.h"
#include "reconciler/manifest/load.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/unit/cabling/cabled.h"

namespace reconciler {
namespace {

using test::Cabled;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Hosts as `discover` reads them: their order is all that is known.
struct Hosts {
  explicit Hosts(int count)
      : spec(test::Cluster(Topology::kSwitch, test::Nodes(count), 2)), cabled(spec) {
    for (int number = 1; number <= count; ++number) {
      spec.nodes[static_cast<std::size_t>(number - 1)].address =
          fmt::format("192.168.1.{}", 20 + number);
      NodeFacts& node = At(number);
      node.host = HostFact{.hostname = fmt::format("spark-{}", number)};
      for (const Cage& cage : GetDgxSpark().cages) {
        for (const Twin& twin : cage.twins) {
          node.links[twin.netdev] = {.mtu = 9000, .manager = LinkManager::kNetworkd};
        }
      }
    }
  }

  NodeFacts& At(int number) { return facts.nodes[fmt::format("spark-{}", number)]; }

  void Address(int number, const std::string& cage, std::size_t twin, const std::string& address) {
    const std::string& netdev = GetDgxSpark().FindCage(cage)->twins[twin].netdev;
    At(number).links[netdev].ipv4.push_back(*ParseIpv4Prefix(address));
  }

  // Both twins of a cage, in two subnets of 192.168.
  void AddressBoth(int number, const std::string& cage, int first, int host) {
    for (int twin = 0; twin < 2; ++twin) {
      Address(number, cage, static_cast<std::size_t>(twin),
              fmt::format("192.168.{}.{}/24", first + twin, host));
    }
  }

  Discovery Find() { return Discover(spec, facts, cabled.views, "nvidia", plugins::GetAll()); }

  ClusterSpec spec;
  ClusterFacts facts = {};
  Cabled cabled;
};

ClusterSpec Load(const Discovery& discovery) {
  auto spec = LoadClusterSpec(discovery.manifest, "cluster.yaml");
  if (!spec) ADD_FAILURE() << FormatErrors(spec.error()) << discovery.manifest;
  return spec ? *spec : ClusterSpec{};
}

Hosts MakePair() {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p1", 2, "p1");
  return hosts;
}

TEST(Discover, AConfiguredPairIsWrittenAsItIs) {
  Hosts hosts = MakePair();
  hosts.AddressBoth(1, "p1", 100, 10);
  hosts.AddressBoth(2, "p1", 100, 11);
  for (int number : {1, 2}) {
    for (auto& [netdev, link] : hosts.At(number).links) link.mtu = 1500;
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_EQ(discovery.manifest,
            "# Read from 192.168.1.21, 192.168.1.22; nothing was changed.\n"
            "api_version: spark-reconcile/v1\n"
            "cluster: homelab                 # choose a name\n"
            "access: {user: nvidia}\n"
            "nodes:                           # id: the host number that the ports have\n"
            "  - {name: spark-1, address: 192.168.1.21, id: 10}\n"
            "  - {name: spark-2, address: 192.168.1.22, id: 11}\n"
            "fabric:\n"
            "  topology: direct               # as found\n"
            "  cage: p1\n"
            "  mtu: 1500                      # as found; 9000 is advised\n"
            "  subnets:\n"
            "    - 192.168.100.0/24\n"
            "    - 192.168.101.0/24\n"
            "  arp: ignore                    # as found; manage is advised\n"
            "hosts: {manage: false}           # as found: no rail names\n");
  EXPECT_EQ(Load(discovery).nodes[1].id, 11);
  EXPECT_EQ(Load(discovery).settings.At({"fabric", "arp"})->ScalarText(), "ignore");
  EXPECT_EQ(Load(discovery).settings.At({"hosts", "manage"})->ScalarText(), "false");
}

// As guides leave it that give an address to the first twin alone.
TEST(Discover, ALinkLocalLastRailOfAPairStays) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    hosts.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
    hosts.Address(number, "p1", 1, fmt::format("169.254.7.{}/16", number));
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(
      discovery.manifest,
      HasSubstr("  mtu: 9000\n"
                "  link_local: true               # as found, of the last rail; a subnet is "
                "advised\n"
                "  subnets:\n"
                "    - 192.168.100.0/24\n"
                "  arp:"));
  EXPECT_EQ(Load(discovery).settings.At({"fabric", "link_local"})->ScalarText(), "true");
}

TEST(Discover, ALinkLocalRailThatNoManifestCanSayGetsASubnet) {
  const auto find_gap = [](Hosts hosts) { return hosts.Find().gaps.front(); };
  Hosts first = MakePair();
  Hosts one_end = MakePair();
  Hosts both = MakePair();
  for (int number : {1, 2}) {
    first.Address(number, "p1", 0, fmt::format("169.254.7.{}/16", number));
    first.Address(number, "p1", 1, fmt::format("192.168.100.{}/24", number));
    one_end.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
    both.Address(number, "p1", 0, fmt::format("169.254.7.{}/16", number));
    both.Address(number, "p1", 1, fmt::format("169.254.8.{}/16", number));
  }
  one_end.Address(1, "p1", 1, "169.254.7.1/16");
  const std::string local =
      "has a link-local address only; 192.168.177.0/24 is free and takes its "
      "place";
  EXPECT_EQ(find_gap(first), "rail0: spark-1 enp1s0f1np1 " + local);
  EXPECT_EQ(find_gap(one_end), "rail1: spark-1 enP2p1s0f1np1 " + local);
  EXPECT_EQ(find_gap(both), "rail0: spark-1 enp1s0f1np1 " + local);
}

// The plan would block every port, since a link-local address does not show which way leads to it.
TEST(Discover, ALinkLocalRailGetsASubnetWhereAnotherInterfaceHasSuchAddressesToo) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    hosts.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
    hosts.Address(number, "p1", 1, fmt::format("169.254.7.{}/16", number));
  }
  Hosts by_route = hosts;
  hosts.At(2).links["wlP9s9"].ipv4 = {*ParseIpv4Prefix("169.254.5.5/16")};
  by_route.At(2).network.routes =
      std::vector<RouteFact>{{*ParseIpv4Prefix("169.254.0.0/16"), "usb0"}};
  const std::string end =
      ", and each rail needs a subnet that nothing else uses; 192.168.177.0/24 is free and takes "
      "its place";
  EXPECT_EQ(hosts.Find().gaps.front(),
            "rail1: 169.254.0.0/16 overlaps 169.254.5.5/16 of spark-2's wlP9s9" + end);
  EXPECT_EQ(Load(hosts.Find()).fabric.subnets.size(), 2u);
  EXPECT_EQ(by_route.Find().gaps.front(),
            "rail1: 169.254.0.0/16 overlaps 169.254.0.0/16, which spark-2 reaches over usb0" + end);
}

constexpr const char* kDropIn = "/etc/sysctl.d/60-spark-reconcile.conf";

// As an apply leaves a pair whose addresses are in 192.168.177.0/24 and .178.0/24.
void Manage(NodeFacts& node) {
  std::string lines;
  for (const std::string netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    for (const std::string setting : {"arp_ignore 1", "arp_announce 2"}) {
      const std::size_t blank = setting.find(' ');
      const std::string key = fmt::format("net.ipv4.conf.{}.{}", netdev, setting.substr(0, blank));
      node.sysctl.keys[key] = setting.substr(blank + 1);
      lines += fmt::format("{} = {}\n", key, setting.substr(blank + 1));
    }
  }
  node.files[kDropIn] = FileState{.content = FormatOwnedFile("lab", lines)};
  node.files["/etc/hosts"] = FileState{.content = SetBlock("127.0.0.1 localhost\n", "lab", "names",
                                                           "192.168.177.1 spark-1-rail0\n"
                                                           "192.168.177.2 spark-2-rail0\n"
                                                           "192.168.178.1 spark-1-rail1\n"
                                                           "192.168.178.2 spark-2-rail1\n")};
}

Hosts MakeManagedPair() {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    hosts.AddressBoth(number, "p1", 177, number);
    Manage(hosts.At(number));
  }
  return hosts;
}

TEST(Discover, WhatIsManagedStaysManaged) {
  const Discovery discovery = MakeManagedPair().Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.manifest, testing::Not(HasSubstr("arp:")));
  EXPECT_THAT(discovery.manifest, testing::Not(HasSubstr("hosts:")));
}

// An apply would write a file for it.
TEST(Discover, TheClusterHasTheNameThatItsLedgersAgreeOn) {
  Hosts hosts = MakePair();
  hosts.At(1).ledger = Ledger{.cluster = "lab"};
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("\ncluster: lab                     # as found\n"));
  for (const char* other : {"other", "lab\nforged: 1", ""}) {
    hosts.At(1).ledger = Ledger{.cluster = other};
    hosts.At(2).ledger = Ledger{.cluster = other == std::string("other") ? "lab" : other};
    EXPECT_THAT(hosts.Find().manifest,
                HasSubstr("\ncluster: homelab                 # choose a name\n"));
  }
}

TEST(Discover, ArpValuesThatSomeoneElseSetAreLeftToHim) {
  Hosts hosts = MakeManagedPair();
  for (int number : {1, 2}) hosts.At(number).files[kDropIn] = Absent{};
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.manifest, HasSubstr("  arp: ignore "));
}

TEST(Discover, AFileOfOursThatSetsOtherKeysDoesNotManageArp) {
  Hosts hosts = MakeManagedPair();
  for (int number : {1, 2}) {
    hosts.At(number).files[kDropIn] =
        FileState{.content = FormatOwnedFile("lab", "net.core.rmem_max = 7\n")};
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.manifest, HasSubstr("  arp: ignore "));
}

TEST(Discover, AnArpValueThatDiffersWhereItIsManagedIsNamed) {
  Hosts hosts = MakeManagedPair();
  hosts.At(2).sysctl.keys["net.ipv4.conf.enp1s0f1np1.arp_ignore"] = "0";
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps,
              ElementsAre("spark-2: the ARP settings of its ports are not all as they are managed; "
                          "the manifest sets them"));
  EXPECT_THAT(discovery.manifest, testing::Not(HasSubstr("arp:")));
}

TEST(Discover, ANodeWithoutNamesBesideOneThatHasThemIsNamed) {
  Hosts hosts = MakeManagedPair();
  hosts.At(1).files["/etc/hosts"] = FileState{.content = "127.0.0.1 localhost\n"};
  EXPECT_THAT(hosts.Find().gaps, ElementsAre("spark-1: /etc/hosts does not have all names of the "
                                             "rails; the manifest writes them"));
}

TEST(Discover, NamesThatSomeoneElseWroteAreLeftToHim) {
  Hosts hosts = MakeManagedPair();
  for (int number : {1, 2}) {
    hosts.At(number).files["/etc/hosts"] = FileState{.content = "192.168.177.1 spark-1-rail0\n"};
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.manifest, HasSubstr("hosts: {manage: false}           # as found: names of "
                                            "rails by another owner\n"));
}

TEST(Discover, ANumberThatTheNameEndsInIsNotWritten) {
  Hosts hosts = MakePair();
  hosts.AddressBoth(1, "p1", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  EXPECT_THAT(hosts.Find().manifest, testing::Not(HasSubstr(", id: ")));
}

TEST(Discover, CagesThatDifferStandAtTheNodes) {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p0", 2, "p1");
  hosts.AddressBoth(1, "p0", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.manifest, HasSubstr("cage: p0}\n"));
  EXPECT_EQ(Load(discovery).nodes[1].cage, "p1");
}

TEST(Discover, ANodeWithAnotherUserHasItsOwnAccess) {
  Hosts hosts = MakePair();
  hosts.spec.nodes[0].access.user = "nvidia";
  hosts.spec.nodes[1].access.user = "ada";
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.manifest, HasSubstr("  - {name: spark-1, address: 192.168.1.21}\n"
                                            "  - {name: spark-2, address: 192.168.1.22, access: "
                                            "{user: ada}}\n"));
  EXPECT_EQ(Load(discovery).nodes[0].access.user, "nvidia");
  EXPECT_EQ(Load(discovery).nodes[1].access.user, "ada");
}

TEST(Discover, AUserThatYamlWouldReadAsSomethingElseIsInQuotes) {
  Hosts hosts = MakePair();
  hosts.spec.nodes[0].access.user = "null";
  hosts.spec.nodes[1].access.user = "true";
  hosts.spec.nodes[1].address = "fd00::22";
  const Discovery discovery =
      Discover(hosts.spec, hosts.facts, hosts.cabled.views, "null", plugins::GetAll());
  EXPECT_THAT(discovery.manifest,
              HasSubstr("\naccess: {user: \"null\"}\n"
                        "nodes:                           # id: the host number that the ports "
                        "have\n"
                        "  - {name: spark-1, address: 192.168.1.21}\n"
                        "  - {name: spark-2, address: \"fd00::22\", access: {user: \"true\"}}\n"));
  EXPECT_EQ(Load(discovery).nodes[0].access.user, "null");
  EXPECT_EQ(Load(discovery).nodes[1].access.user, "true");
  EXPECT_EQ(Load(discovery).nodes[1].address, "fd00::22");
}

// NVIDIA's script of 2026-03.
TEST(Discover, TwinsInOneSubnetKeepTheFirstRailAndGetAFreeOneForTheSecond) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "192.168.0.1/24");
  hosts.Address(1, "p1", 1, "192.168.0.2/24");
  hosts.Address(2, "p1", 0, "192.168.0.3/24");
  hosts.Address(2, "p1", 1, "192.168.0.4/24");
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(
      discovery.gaps,
      ElementsAre("rail1: 192.168.0.0/24 is another rail's too: not expressible, each rail "
                  "needs its own subnet; 192.168.177.0/24 is free and takes its place: spark-1 "
                  "enP2p1s0f1np1 192.168.0.2 → 192.168.177.1, spark-2 enP2p1s0f1np1 "
                  "192.168.0.4 → 192.168.177.3"));
  EXPECT_THAT(FormatDiscovery(discovery),
              HasSubstr("# Not as found: rail1: 192.168.0.0/24 is another"));
  const ClusterSpec spec = Load(discovery);
  EXPECT_EQ(spec.nodes[0].id, 1);
  EXPECT_EQ(spec.nodes[1].id, 3);
}

TEST(Discover, PortsWithoutAnAddressGetFreeSubnetsAndTheLowestNumbers) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "169.254.3.4/16");
  hosts.At(1).links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.177.9/24")};
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps,
              ElementsAre("rail0: spark-1 enp1s0f1np1 has a link-local address only; "
                          "192.168.178.0/24 is free and takes its place",
                          "rail1: spark-1 enP2p1s0f1np1 has no address; 192.168.179.0/24 is free "
                          "and takes its place"));
  EXPECT_EQ(Load(discovery).nodes[1].id, 2);
}

// As NVIDIA's guide for a switch with `dhcp4: true` leaves it.
TEST(Discover, AnAddressFromADhcpServerThatStaysIsNamed) {
  Hosts hosts = MakePair();
  hosts.AddressBoth(1, "p1", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  hosts.At(1).network.leases["enP7s7"] = {"192.168.1.21"};
  hosts.At(1).network.leases["enp1s0f1np1"] = {"192.168.177.1"};
  hosts.At(2).network.leases["enP2p1s0f1np1"] = {"192.168.178.2"};
  const std::string end =
      " from a DHCP server, and the manifest keeps it: take it out of the server's pool, or choose "
      "another subnet";
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.notes, ElementsAre("rail0: spark-1 enp1s0f1np1 has 192.168.177.1" + end,
                                           "rail1: spark-2 enP2p1s0f1np1 has 192.168.178.2" + end));
}

TEST(Discover, AnAddressFromADhcpServerThatDoesNotStayIsNotNamed) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    hosts.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
    hosts.Address(number, "p1", 1, fmt::format("192.168.100.{}/24", 10 + number));
    hosts.At(number).network.leases["enP2p1s0f1np1"] = {fmt::format("192.168.100.{}", 10 + number)};
  }
  EXPECT_THAT(hosts.Find().gaps, ElementsAre(HasSubstr("rail1: 192.168.100.0/24 is another")));
}

// As guides leave it that give one address per cage.
TEST(Discover, WhereOneTwinHasAllAddressesTheWayToKeepThatIsNamed) {
  for (std::size_t twin : {0u, 1u}) {
    Hosts hosts = MakePair();
    for (int number : {1, 2}) {
      hosts.Address(number, "p1", twin, fmt::format("192.168.100.{}/24", number));
    }
    const std::string free = " has no address; 192.168.177.0/24 is free and takes its place";
    const std::string rest =
        ", and the manifest gives them some, as advised for full speed; `twins: ";
    const Discovery discovery = hosts.Find();
    if (twin == 0) {
      EXPECT_THAT(discovery.gaps,
                  ElementsAre("rail1: spark-1 enP2p1s0f1np1" + free,
                              "the second twins have no address" + rest +
                                  "first` with `subnets: [192.168.100.0/24]` keeps what was "
                                  "found"));
    } else {
      EXPECT_THAT(discovery.gaps,
                  ElementsAre("rail0: spark-1 enp1s0f1np1" + free,
                              "the first twins have no address" + rest +
                                  "second` with `subnets: [192.168.100.0/24]` keeps what was "
                                  "found"));
    }
  }
}

TEST(Discover, ATwinWithAnAddressOnOneNodeIsNoneToLeaveOut) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    hosts.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
  }
  hosts.Address(1, "p1", 1, "192.168.100.9/24");
  for (const std::string& gap : hosts.Find().gaps) {
    EXPECT_THAT(gap, testing::Not(HasSubstr("twins: ")));
  }
}

TEST(Discover, WhatIsLiveOnlyIsReportedAsLostAtAReboot) {
  Hosts hosts = MakePair();
  hosts.AddressBoth(1, "p1", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    hosts.At(1).links[netdev].manager = LinkManager::kNone;
  }
  hosts.At(2).links["enP2p1s0f1np1"].manager = LinkManager::kNone;
  hosts.At(2).links["enp1s0f1np1"].manager = LinkManager::kNetworkManager;
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_THAT(discovery.notes,
              ElementsAre("the addresses of spark-1's enp1s0f1np1 and enP2p1s0f1np1 are live only, "
                          "as no network manager has them: lost at a reboot, unless an apply "
                          "writes them",
                          "the addresses of spark-2's enP2p1s0f1np1 are live only, as no network "
                          "manager has them: lost at a reboot, unless an apply writes them"));
  EXPECT_THAT(FormatDiscovery(discovery),
              testing::EndsWith("# Note: " + discovery.notes[0] + "\n" +
                                "# Note: " + discovery.notes[1] + "\n"));
}

TEST(Discover, ADocumentHasTheManifestItsNodesAndWhatItCannotSay) {
  Discovery discovery = MakePair().Find();
  discovery.gaps = {"one"};
  discovery.notes = {"two"};
  const auto json = AddHead(ToJson(discovery, true), {"0.1.0", "2026-11-25T00:00:00Z"});
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("discovery"));
  EXPECT_EQ(JudgeBySchema(nlohmann::json(json), schema), std::nullopt);
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["manifest"], FormatDiscovery(discovery));
  EXPECT_EQ(json["nodes"].dump(), R"([{"name":"spark-1","address":"192.168.1.21"},)"
                                  R"({"name":"spark-2","address":"192.168.1.22"}])");
  EXPECT_EQ(json["gaps"].dump() + json["notes"].dump(), R"(["one"]["two"])");
}

TEST(Discover, APortWithoutAnAddressIsNotLiveOnly) {
  Hosts hosts = MakePair();
  for (auto& [netdev, link] : hosts.At(1).links) link.manager = LinkManager::kNone;
  EXPECT_THAT(hosts.Find().notes, IsEmpty());
}

TEST(Discover, ABondThatNoManagerHasIsLiveOnly) {
  Hosts hosts = MakePair();
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    hosts.At(1).links[netdev].master = "bond0";
    hosts.At(1).links[netdev].manager = LinkManager::kNone;
  }
  hosts.At(1).links["bond0"].manager = LinkManager::kNetworkd;
  EXPECT_THAT(hosts.Find().notes, IsEmpty());
  hosts.At(1).links["bond0"].manager = LinkManager::kNone;
  EXPECT_THAT(hosts.Find().notes,
              ElementsAre("spark-1's bond0 is live only, as no network manager has it: lost at a "
                          "reboot"));
}

TEST(Discover, MembersOfABondGetFreeSubnets) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) {
    for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
      hosts.At(number).links[netdev].master = "bond0";
    }
  }
  EXPECT_THAT(hosts.Find().gaps,
              ElementsAre("rail0: spark-1 enp1s0f1np1 is a member of bond0, which RDMA bypasses: "
                          "not expressible; 192.168.177.0/24 is free and takes its place",
                          "rail1: spark-1 enP2p1s0f1np1 is a member of bond0, which RDMA bypasses: "
                          "not expressible; 192.168.178.0/24 is free and takes its place"));
}

TEST(Discover, ASubnetThatANodeHasARouteToIsNotFree) {
  Hosts hosts = MakePair();
  hosts.At(2).network.routes =
      std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.177.0/24"), "wg0"}};
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("    - 192.168.178.0/24\n    - 192.168.179.0/24\n"));
}

// Ports on the network of the home, with addresses from its DHCP server.
TEST(Discover, ASubnetThatAnotherInterfaceUsesIsReplaced) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "192.168.1.57/24");
  hosts.Address(2, "p1", 0, "192.168.1.58/24");
  hosts.Address(1, "p1", 1, "172.17.5.1/24");
  hosts.Address(2, "p1", 1, "172.17.5.2/24");
  hosts.At(1).links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
  hosts.At(2).links["docker0"].ipv4 = {*ParseIpv4Prefix("172.17.0.1/16")};
  const std::string use = ", and each rail needs a subnet that nothing else uses; ";
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(
      discovery.gaps,
      ElementsAre("rail0: 192.168.1.0/24 overlaps 192.168.1.21/24 of spark-1's enP7s7" + use +
                      "192.168.177.0/24 is free and takes its place: spark-1 enp1s0f1np1 "
                      "192.168.1.57 → 192.168.177.1, spark-2 enp1s0f1np1 192.168.1.58 → "
                      "192.168.177.2",
                  "rail1: 172.17.5.0/24 overlaps 172.17.0.1/16 of spark-2's docker0" + use +
                      "192.168.178.0/24 is free and takes its place: spark-1 enP2p1s0f1np1 "
                      "172.17.5.1 → 192.168.178.1, spark-2 enP2p1s0f1np1 172.17.5.2 → "
                      "192.168.178.2"));
  EXPECT_EQ(Load(discovery).fabric.subnets.size(), 2u);
}

TEST(Discover, ASubnetThatANodeReachesOverAnotherInterfaceIsReplaced) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) hosts.AddressBoth(number, "p1", 10, number);
  hosts.At(2).network.routes =
      std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.10.0/24"), "enp1s0f1np1"},
                             {*ParseIpv4Prefix("192.168.0.0/16"), "wg0"},
                             {*ParseIpv4Prefix("10.0.0.0/8"), "wg0"},
                             {*ParseIpv4Prefix("128.0.0.0/1"), "wg0"}};
  EXPECT_THAT(hosts.Find().gaps.front(),
              HasSubstr("rail0: 192.168.10.0/24 overlaps 192.168.0.0/16, which spark-2 reaches "
                        "over wg0, and each rail needs a subnet that nothing else uses; "));
}

TEST(Discover, ASubnetKeepsItsLengthWhereItsAddressesAreEnough) {
  Hosts hosts = MakePair();
  hosts.At(2).host = HostFact{.hostname = "spark-4"};
  hosts.Address(1, "p1", 0, "10.0.12.1/30");
  hosts.Address(1, "p1", 1, "10.1.12.1/30");
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps.front(), HasSubstr("the manifest gives it 10.0.12.2"));
  EXPECT_EQ(ToString(Load(discovery).fabric.subnets.at(0)), "10.0.12.0/30");
}

TEST(Discover, ASubnetThatIsProposedHasAnAddressForEveryHostNumber) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "10.0.1.44/16");
  hosts.Address(2, "p1", 0, "10.0.1.45/16");
  const Discovery discovery = hosts.Find();
  const ClusterSpec spec = Load(discovery);
  EXPECT_EQ(ToString(spec.fabric.subnets.at(0)), "10.0.0.0/16");
  EXPECT_EQ(ToString(spec.fabric.subnets.at(1)), "10.177.0.0/23");
  EXPECT_EQ(spec.nodes.at(1).id, 301);
}

TEST(Discover, HostNumbersThatNoProposedSubnetHasAreKeptOnlyWhereNoneIsNeeded) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "10.1.2.3/10");
  hosts.Address(2, "p1", 0, "10.1.2.4/10");
  Hosts both = hosts;
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(
      discovery.gaps,
      ElementsAre("rail0: spark-1 has host number 66051 there, and a subnet that is proposed has "
                  "at most 65534; 192.168.177.0/24 is free and takes its place: spark-1 "
                  "enp1s0f1np1 10.1.2.3 → 192.168.177.1, spark-2 enp1s0f1np1 10.1.2.4 → "
                  "192.168.177.2",
                  "rail1: spark-1 enP2p1s0f1np1 has no address; 192.168.178.0/24 is free and takes "
                  "its place"));
  EXPECT_EQ(Load(discovery).nodes.at(1).id, 2);
  both.Address(1, "p1", 1, "10.65.2.3/10");
  both.Address(2, "p1", 1, "10.65.2.4/10");
  EXPECT_THAT(both.Find().gaps, IsEmpty());
  EXPECT_EQ(Load(both.Find()).nodes.at(1).id, 66052);
}

TEST(Discover, ASubnetWithoutAnAddressForANumberOfAnotherRailIsReplaced) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "10.0.12.1/24");
  hosts.Address(2, "p1", 0, "10.0.12.9/24");
  hosts.Address(1, "p1", 1, "10.1.12.1/30");
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps,
              ElementsAre("rail1: 10.1.12.0/30 has no address for spark-2, whose host number is 9; "
                          "192.168.177.0/24 is free and takes its place: spark-1 enP2p1s0f1np1 "
                          "10.1.12.1 → 192.168.177.1"));
  EXPECT_EQ(Load(discovery).fabric.subnets.size(), 2u);
}

TEST(Discover, ASubnetThatOnlyPortsOfCagesAndTheirBridgesUseStays) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 1, "192.168.178.1/24");
  hosts.AddressBoth(2, "p1", 177, 2);
  hosts.Address(1, "p0", 1, "192.168.178.9/24");
  hosts.At(1).links["enp1s0f1np1"].master = "br0";
  hosts.At(1).links["br0"].ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")};
  hosts.At(1).links["enP7s7"].ipv4 = {*ParseIpv4Prefix("169.254.5.5/16"),
                                      *ParseIpv4Prefix("192.168.1.21/24")};
  EXPECT_THAT(hosts.Find().gaps,
              ElementsAre("rail0: spark-1 enp1s0f1np1 is a member of br0, which RDMA bypasses: not "
                          "expressible; the manifest gives it 192.168.177.1"));
}

TEST(Discover, HostNumbersThatDifferBetweenRailsKeepTheFirst) {
  Hosts hosts = MakePair();
  hosts.Address(1, "p1", 0, "192.168.10.1/24");
  hosts.Address(2, "p1", 0, "192.168.10.2/24");
  hosts.Address(1, "p1", 1, "192.168.11.1/24");
  hosts.Address(2, "p1", 1, "192.168.11.7/24");
  EXPECT_THAT(hosts.Find().gaps,
              ElementsAre("rail1: spark-2 has host number 7 there and 2 on another rail; "
                          "192.168.177.0/24 is free and takes its place: spark-1 enP2p1s0f1np1 "
                          "192.168.11.1 → 192.168.177.1, spark-2 enP2p1s0f1np1 192.168.11.7 → "
                          "192.168.177.2"));
}

TEST(Discover, PortsOfOneRailInTwoSubnetsAreNamed) {
  Hosts hosts = MakePair();
  hosts.AddressBoth(1, "p1", 10, 1);
  hosts.AddressBoth(2, "p1", 20, 2);
  EXPECT_THAT(hosts.Find().gaps.front(),
              HasSubstr("rail0: its ports are in 192.168.10.0/24 and 192.168.20.0/24; "));
}

void PlugRing(Hosts& hosts) {  // of three
  hosts.cabled.Plug(1, "p0", 2, "p1");
  hosts.cabled.Plug(2, "p0", 3, "p1");
  hosts.cabled.Plug(3, "p0", 1, "p1");
}

TEST(Discover, ARingIsFoundInTheOrderOfItsNumbers) {
  Hosts hosts(3);
  PlugRing(hosts);
  hosts.AddressBoth(1, "p0", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  hosts.AddressBoth(2, "p0", 179, 2);
  hosts.AddressBoth(3, "p1", 179, 3);
  hosts.AddressBoth(3, "p0", 181, 3);
  hosts.AddressBoth(1, "p1", 181, 1);
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  const ClusterSpec spec = Load(discovery);
  EXPECT_EQ(spec.fabric.topology, Topology::kRing);
  EXPECT_EQ(ToString(spec.fabric.subnets.at(2)), "192.168.179.0/24");
  EXPECT_EQ(ToString(spec.fabric.subnets.at(4)), "192.168.181.0/24");
}

// spark-3 has one number on the cable to spark-1 and another one on that to spark-2, which comes
// second in a ring, and would turn the order of the numbers round.
TEST(Discover, ARingKeepsTheNumbersThatMakeItOne) {
  Hosts hosts(3);
  PlugRing(hosts);
  hosts.AddressBoth(1, "p0", 177, 10);
  hosts.AddressBoth(2, "p1", 177, 20);
  hosts.AddressBoth(2, "p0", 179, 20);
  hosts.AddressBoth(3, "p1", 179, 15);
  hosts.AddressBoth(3, "p0", 181, 30);
  hosts.AddressBoth(1, "p1", 181, 10);
  const Discovery discovery = hosts.Find();
  const ClusterSpec spec = Load(discovery);
  EXPECT_EQ(spec.fabric.topology, Topology::kRing);
  EXPECT_EQ(spec.nodes.at(0).id, 10);
  EXPECT_EQ(spec.nodes.at(1).id, 20);
  EXPECT_EQ(spec.nodes.at(2).id, 30);
  EXPECT_EQ(ToString(spec.fabric.subnets.at(0)), "192.168.177.0/24");
  EXPECT_EQ(ToString(spec.fabric.subnets.at(4)), "192.168.181.0/24");
  ASSERT_EQ(discovery.gaps.size(), 2u);
  EXPECT_THAT(discovery.gaps.front(),
              HasSubstr("rail2: spark-3 has host number 15 there and 30 on another rail; "));
}

// The name of spark-3 gives it its number once that of its port is taken.
TEST(Discover, ANumberThatARingGivesANodeIsNotSaidToBeOnAnotherRail) {
  Hosts hosts(3);
  PlugRing(hosts);
  hosts.AddressBoth(1, "p0", 177, 1);
  hosts.AddressBoth(2, "p1", 177, 2);
  hosts.AddressBoth(2, "p0", 179, 2);
  hosts.AddressBoth(3, "p0", 181, 2);
  hosts.AddressBoth(1, "p1", 181, 1);
  const Discovery discovery = hosts.Find();
  EXPECT_EQ(Load(discovery).fabric.topology, Topology::kRing);
  EXPECT_THAT(discovery.gaps, testing::Contains(testing::StartsWith(
                                  "rail4: spark-3 has host number 2 there and gets 3; ")));
}

TEST(Discover, ACableFromANodeToItselfIsNoneOfTheFabric) {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p0", 1, "p1");
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(
      discovery.gaps,
      ElementsAre("one cable has both ends in spark-1, its left cage and its right cage: it leads "
                  "to no other node",
                  "spark-2's left cage: no carrier, so that no cable was found",
                  "spark-2's right cage: no carrier, so that no cable was found",
                  "rail0: spark-1 enp1s0f1np1 has no address; 192.168.177.0/24 is free and takes "
                  "its place",
                  "rail1: spark-1 enP2p1s0f1np1 has no address; 192.168.178.0/24 is free and takes "
                  "its place"));
  EXPECT_THAT(discovery.manifest, HasSubstr("# no cable was found\n"));
  EXPECT_EQ(Load(discovery).fabric.topology, Topology::kDirect);
}

TEST(Discover, TwoCablesBetweenTwoNodesAreLinks) {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p0", 2, "p0");
  hosts.cabled.Plug(1, "p1", 2, "p1");
  for (int number : {1, 2}) {
    hosts.AddressBoth(number, "p0", 177, number);
    hosts.AddressBoth(number, "p1", 179, number);
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_EQ(Load(discovery).fabric.links.size(), 2u);
  EXPECT_THAT(discovery.manifest,
              HasSubstr("    - [spark-1.p0, spark-2.p0]\n    - [spark-1.p1, spark-2.p1]\n"));
}

TEST(Discover, ASubnetOfOneOfSeveralCablesThatIsNoSlash24IsReplaced) {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p0", 2, "p0");
  hosts.cabled.Plug(1, "p1", 2, "p1");
  for (int number : {1, 2}) {
    hosts.Address(number, "p0", 0, fmt::format("10.0.12.{}/30", number));
    hosts.Address(number, "p0", 1, fmt::format("10.1.0.{}/16", number));
    hosts.AddressBoth(number, "p1", 179, number);
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps,
              ElementsAre("rail0: 10.0.12.0/30 is no /24, and each twin of each cable needs one; "
                          "192.168.177.0/24 is free and takes its place: spark-1 enp1s0f0np0 "
                          "10.0.12.1 → 192.168.177.1, spark-2 enp1s0f0np0 10.0.12.2 → "
                          "192.168.177.2",
                          "rail1: 10.1.0.0/16 is no /24, and each twin of each cable needs one; "
                          "192.168.178.0/24 is free and takes its place: spark-1 enP2p1s0f0np0 "
                          "10.1.0.1 → 192.168.178.1, spark-2 enP2p1s0f0np0 10.1.0.2 → "
                          "192.168.178.2"));
  EXPECT_EQ(Load(discovery).fabric.subnets.size(), 4u);
}

TEST(Discover, ARingOfPointToPointSubnetsGetsSlash24s) {
  Hosts hosts(3);
  for (int from = 1; from <= 3; ++from) {
    const int to = from % 3 + 1;
    hosts.cabled.Plug(from, "p0", to, "p1");
    for (std::size_t twin : {0u, 1u}) {
      hosts.Address(from, "p0", twin, fmt::format("10.{}.{}{}.1/30", twin, from, to));
      hosts.Address(to, "p1", twin, fmt::format("10.{}.{}{}.2/30", twin, from, to));
    }
  }
  const Discovery discovery = hosts.Find();
  EXPECT_EQ(discovery.gaps.size(), 6u);
  EXPECT_EQ(discovery.gaps.front(),
            "rail0: 10.0.12.0/30 is no /24, and each twin of each cable needs one; "
            "192.168.177.0/24 is free and takes its place: spark-1 enp1s0f0np0 10.0.12.1 → "
            "192.168.177.1, spark-2 enp1s0f1np1 10.0.12.2 → 192.168.177.2");
  const ClusterSpec spec = Load(discovery);
  EXPECT_EQ(spec.fabric.topology, Topology::kRing);
  EXPECT_EQ(spec.fabric.subnets.size(), 6u);
}

TEST(Discover, SubnetsOfAPairAndOfASwitchStayWhateverTheirLength) {
  Hosts pair = MakePair();
  Hosts on_switch(3);
  for (int one = 1; one <= 3; ++one) {
    for (int other = 1; other <= 3; ++other) {
      if (one != other) on_switch.cabled.Hear(one, "p1", other, "p1");
    }
    for (std::size_t twin : {0u, 1u}) {
      if (one < 3) pair.Address(one, "p1", twin, fmt::format("10.{}.12.{}/30", twin, one));
      on_switch.Address(one, "p1", twin, fmt::format("10.{}.0.{}/16", twin, one));
    }
  }
  EXPECT_THAT(pair.Find().gaps, IsEmpty());
  EXPECT_EQ(ToString(Load(pair.Find()).fabric.subnets.at(1)), "10.1.12.0/30");
  EXPECT_THAT(on_switch.Find().gaps, IsEmpty());
  EXPECT_EQ(ToString(Load(on_switch.Find()).fabric.subnets.at(1)), "10.1.0.0/16");
}

TEST(Discover, ACableBesideASwitchMakesNoPairWithALinkLocalRail) {
  Hosts hosts(2);
  hosts.cabled.Plug(1, "p0", 2, "p0");
  for (int number : {1, 2}) {
    for (PortView* port : hosts.cabled.Ports(number, "p1")) port->state = PortState::kLink;
    hosts.cabled.views[fmt::format("spark-{}", number)].lldp = {
        {"enp1s0f1np1", "crs812", "18:fd:74:00:00:01", fmt::format("qsfp56-{}", number), ""}};
    hosts.Address(number, "p1", 0, fmt::format("192.168.100.{}/24", number));
    hosts.Address(number, "p1", 1, fmt::format("169.254.7.{}/16", number));
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps,
              testing::Contains("rail1: spark-1 enP2p1s0f1np1 has a link-local address only; "
                                "192.168.177.0/24 is free and takes its place"));
  EXPECT_EQ(Load(discovery).fabric.topology, Topology::kSwitch);
}

TEST(Discover, CagesThatHearSeveralNodesAreOnASwitch) {
  Hosts hosts(3);
  for (int one = 1; one <= 3; ++one) {
    for (int other = 1; other <= 3; ++other) {
      if (one != other) hosts.cabled.Hear(one, "p1", other, "p1");
    }
    hosts.AddressBoth(one, "p1", 177, one);
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps, IsEmpty());
  EXPECT_EQ(Load(discovery).fabric.topology, Topology::kSwitch);
}

TEST(Discover, ANodeThatNoOneHearsOnTheSwitchIsNamed) {
  Hosts hosts(4);
  for (int one = 1; one <= 3; ++one) {
    for (int other = 1; other <= 3; ++other) {
      if (one != other) hosts.cabled.Hear(one, "p1", other, "p1");
    }
  }
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.gaps.front(), "spark-4: no cage of it was found on the switch");
  EXPECT_EQ(Load(discovery).nodes.size(), 4u);
}

TEST(Discover, WithoutACableEveryCageSaysWhy) {
  Hosts hosts(2);
  EXPECT_THAT(
      hosts.Find().gaps,
      testing::IsSupersetOf({"spark-1's left cage: no carrier, so that no cable was found",
                             "spark-2's right cage: no carrier, so that no cable was found"}));
}

// One end is as NVIDIA's script left it, and the other one's ports are switched off.
TEST(Discover, WithoutACableTheCageIsTheOneWithALink) {
  Hosts hosts(2);
  EXPECT_THAT(hosts.Find().manifest,
              HasSubstr("  topology: direct               # no cable was found\n  cage: p1\n"));
  for (PortView* port : hosts.cabled.Ports(2, "p0")) port->state = PortState::kLink;
  hosts.AddressBoth(2, "p0", 100, 3);
  EXPECT_THAT(hosts.Find().manifest,
              HasSubstr("  topology: direct               # no cable was found\n  cage: p0\n"));
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("    - 192.168.100.0/24\n"));
  for (PortView* port : hosts.cabled.Ports(1, "p1")) port->state = PortState::kLink;
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("address: 192.168.1.21, cage: p1}\n"));
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("address: 192.168.1.22, id: 3, cage: p0}\n"));
  for (PortView* port : hosts.cabled.Ports(1, "p0")) port->state = PortState::kLink;
  EXPECT_THAT(hosts.Find().manifest, HasSubstr("  cage: p0\n"));
}

TEST(Discover, NodesHaveTheirHostnames) {
  Hosts hosts = MakePair();
  hosts.At(1).host = HostFact{.hostname = "Spark-A1b2.local"};
  hosts.At(2).host = HostFact{.hostname = "gx10"};
  hosts.AddressBoth(1, "p1", 177, 1);
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.manifest, HasSubstr("{name: spark-a1b2, address: "));
  EXPECT_THAT(discovery.manifest, HasSubstr("{name: gx10, address: "));
  EXPECT_EQ(Load(discovery).nodes.at(0).id, 1);  // as its addresses have it
  EXPECT_EQ(Load(discovery).nodes.at(1).id, 10);
}

TEST(Discover, HostsInAnotherOrderThanTheirNumbersKeepTheirNames) {
  Hosts hosts = MakePair();
  hosts.At(1).host = HostFact{.hostname = "spark-2"};
  hosts.At(2).host = HostFact{.hostname = "spark-1"};
  hosts.AddressBoth(1, "p1", 177, 2);
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.manifest, HasSubstr("  - {name: spark-2, address: 192.168.1.21}\n"
                                            "  - {name: spark-1, address: 192.168.1.22}\n"));
  EXPECT_THAT(discovery.gaps.front(),
              "rail0: spark-1 enp1s0f1np1 has no address; the manifest "
              "gives it 192.168.177.1");
}

// What a node says of itself ends up in a file and on a terminal.
TEST(Discover, AHostnameThatIsNoNameIsNotWritten) {
  for (const std::string hostname : {"", "-x", "a b", "x}, {name: y", "\x1b[2J", "spark\n"}) {
    Hosts hosts = MakePair();
    hosts.At(1).host = HostFact{.hostname = hostname};
    EXPECT_EQ(Load(hosts.Find()).nodes[0].name, "spark-1") << hostname;
  }
}

TEST(Discover, HostsWithOneNameAreCalledByTheirOrder) {
  Hosts hosts = MakePair();
  for (int number : {1, 2}) hosts.At(number).host = HostFact{.hostname = "spark"};
  const Discovery discovery = hosts.Find();
  EXPECT_THAT(discovery.manifest, HasSubstr("{name: spark-1, address: "));
  EXPECT_THAT(discovery.gaps.back(), HasSubstr("called by their order"));
}

}  // namespace
}  // namespace reconciler
