#include "plugins/netplan/adopt/foreign.h"

#include <gmock/gmock.h>

#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/netplan.h"
#include "tests/unit/plugins/pair_scenario.h"

// Netplan files that are not ours: what they claim, and what the plan advises.
namespace reconciler::plugins::netplan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kOurFile = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kPort0 = "enp1s0f1np1";
const std::vector<std::string> kBoth = {"enp1s0f1np1", "enP2p1s0f1np1"};

test::PairScenario MakeForeignFile() {
  test::PairScenario scenario;
  scenario.facts.files[kOurFile] = Absent{};
  return scenario;
}

std::vector<std::string> Claimed(const std::string& yaml) {
  test::PairScenario scenario = MakeForeignFile();
  scenario.AddFile("/etc/netplan/70-x.yaml", yaml);
  const ForeignTree tree = ReadForeignTree(scenario.facts, kBoth);
  EXPECT_EQ(tree.unclear, "");
  return tree.claims.empty() ? std::vector<std::string>() : tree.claims[0].netdevs;
}

Renderer FindRenderer(const std::vector<std::pair<std::string, std::string>>& files) {
  test::PairScenario scenario = MakeForeignFile();
  for (const auto& [path, renderer] : files) {
    scenario.AddFile(path, "network: {version: 2, renderer: " + renderer + "}\n");
  }
  return ReadForeignTree(scenario.facts, kBoth).renderer;
}

TEST(NetplanForeign, ForeignFileOfTheSameInterfacesBlocksAndIsNeverTouched) {
  test::PairScenario scenario = MakeForeignFile();
  const std::string path = "/etc/netplan/99-nvidia-sync-cluster.yaml";
  scenario.AddFile(path,
                   "network: {ethernets: {enp1s0f1np1: {addresses: [10.100.16.1/24]},\n"
                   "  enP2p1s0f1np1: {addresses: [10.100.17.1/24]}}}\n");
  const std::string why =
      "configures enp1s0f1np1, enP2p1s0f1np1 (probably written by NVIDIA Sync): add {file: " +
      path +
      ", nodes: {spark-1: \"68753e204c9a\"}} to adopt, or move it away or remove them from it, "
      "then "
      "plan again";
  EXPECT_EQ(scenario.Warning(Get(), path), path + " " + why);
  EXPECT_EQ(scenario.Detail(Get(), kOurFile), "blocked: " + path + " " + why);
  EXPECT_EQ(scenario.Detail(Get(), kPort0), "blocked: " + path + " configures it as well");
  EXPECT_THAT(scenario.Names(Get()), Not(Contains(path)));
  EXPECT_EQ(scenario.FindWarning(Get(), path).code, "netplan-foreign-file");
  EXPECT_EQ(scenario.Find(Get(), kPort0).blocked.code, "netplan-foreign-file");
}

TEST(NetplanForeign, ForeignFileIsShownEvenWhileEverythingHolds) {
  test::PairScenario scenario = MakeForeignFile();
  const std::string path = "/etc/netplan/99-fastlink.yaml";
  scenario.facts.files[kOurFile] = scenario.File(Get(), kOurFile);
  scenario.AddFile(path, "network: {ethernets: {enp1s0f1np1: {mtu: 1500}}}\n");
  EXPECT_EQ(scenario.Detail(Get(), kOurFile), "holds");
  EXPECT_EQ(scenario.Warning(Get(), path),
            path + " configures enp1s0f1np1: add {file: " + path +
                ", nodes: {spark-1: \"9f8fa5a5b2cc\"}} to adopt, or move it away or remove them "
                "from it, then plan again");
}

TEST(NetplanForeign, OnlyPortsThatTheForeignFileNamesAreSaidToBeConfiguredByIt) {
  test::PairScenario scenario = MakeForeignFile();
  const std::string path = "/etc/netplan/99-nvidia-sync-cluster.yaml";
  scenario.AddFile(path, "network: {ethernets: {enp1s0f1np1: {mtu: 1500}}}\n");
  EXPECT_EQ(scenario.Detail(Get(), kPort0), "blocked: " + path + " configures it as well");
  EXPECT_EQ(scenario.Detail(Get(), "enP2p1s0f1np1"),
            "blocked: nothing is written here while " + path + " configures enp1s0f1np1");
}

TEST(NetplanForeign, FileOfThePortThatLeadsToTheNodeIsNotToBeMoved) {
  const std::string path = "/etc/netplan/01-management.yaml";
  test::PairScenario scenario = MakeForeignFile();
  scenario.AddFile(path, "network: {ethernets: {enp1s0f1np1: {addresses: [192.168.1.21/24]}}}\n");
  scenario.facts.session.interface = kPort0;
  EXPECT_EQ(scenario.Warning(Get(), path),
            path +
                " configures enp1s0f1np1: enp1s0f1np1 carries this session, so leave the file "
                "as it is; the manifest must name another cage or address");
  scenario.facts.session.address = scenario.facts.session.interface = "";
  scenario.facts.links[kPort0].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
  EXPECT_EQ(scenario.Warning(Get(), path),
            path +
                " configures enp1s0f1np1: enp1s0f1np1 holds the management address "
                "192.168.1.21, so leave the file as it is; the manifest must name another cage or "
                "address");
}

TEST(NetplanForeign, FileThatAlsoNamesAnInterfaceThatLeadsToTheNodeIsNotToBeMoved) {
  const std::string path = "/etc/netplan/50-cloud-init.yaml";
  test::PairScenario scenario = MakeForeignFile();
  scenario.AddFile(path, "network: {ethernets: {enP7s7: {dhcp4: true}, enp1s0f1np1: {}}}\n");
  EXPECT_EQ(scenario.Warning(Get(), path),
            path +
                " configures enp1s0f1np1 (probably written by cloud-init): remove enp1s0f1np1 from "
                "it but leave enP7s7, which carries this session, then plan again, and keep "
                "cloud-init from writing it again: `network: {config: disabled}` in a file in "
                "/etc/cloud/cloud.cfg.d/");
}

TEST(NetplanForeign, WhoWritesAFileAgainIsKeptFromIt) {
  test::PairScenario scenario = MakeForeignFile();
  const std::string text = "network: {ethernets: {enp1s0f1np1: {}}}\n";
  const std::string again =
      ", and keep cloud-init from writing it again: `network: {config: disabled}` in a file in "
      "/etc/cloud/cloud.cfg.d/";
  scenario.AddFile("/etc/netplan/50-cloud-init.yaml", text);
  EXPECT_THAT(scenario.Warning(Get(), "/etc/netplan/50-cloud-init.yaml"), testing::EndsWith(again));
  scenario.AddFile("/etc/netplan/99-x.yaml", text);
  EXPECT_THAT(scenario.Warning(Get(), "/etc/netplan/99-x.yaml"), Not(testing::EndsWith(again)));
  scenario.facts.session.interface = kPort0;  // to be left as it is
  EXPECT_THAT(scenario.Warning(Get(), "/etc/netplan/50-cloud-init.yaml"),
              Not(testing::EndsWith(again)));
}

TEST(NetplanForeign, NoForeignFileIsToBeMovedWhileWhatLeadsToTheNodeIsUnknown) {
  const std::string path = "/etc/netplan/99-x.yaml";
  test::PairScenario scenario = MakeForeignFile();
  scenario.AddFile(path, "network: {ethernets: {enp1s0f1np1: {}}}\n");
  scenario.facts.network.default_route = Unknown{"ip route failed: exit 124"};
  EXPECT_EQ(scenario.Warning(Get(), path),
            path +
                " configures enp1s0f1np1: leave it as it is: cannot determine which interface "
                "leads to this node: ip route failed: exit 124");
}

TEST(NetplanForeign, FilesThatNvidiaSyncRenamedAreNamedWithItsFile) {
  test::PairScenario scenario;
  const std::string path = "/etc/netplan/99-nvidia-sync-cluster.yaml";
  EXPECT_EQ(DescribeOwner(scenario.facts, path), "NVIDIA Sync");
  scenario.AddFile("/etc/netplan/99-fastlink.yaml.sync-disabled-20260801", "network: {}\n");
  EXPECT_EQ(DescribeOwner(scenario.facts, path),
            "NVIDIA Sync, which made 99-fastlink.yaml.sync-disabled-20260801 of a file in its way");
  EXPECT_EQ(DescribeOwner(scenario.facts, "/etc/netplan/50-cloud-init.yaml"), "cloud-init");
}

TEST(NetplanForeign, OwnersAreGuessedFromTheFilesName) {
  EXPECT_EQ(GuessOwner("/etc/netplan/99-nvidia-sync-cluster.yaml"), "NVIDIA Sync");
  EXPECT_EQ(GuessOwner("/etc/netplan/40-cx7.yaml"), "NVIDIA's spark_cluster_setup or sparkrun");
  EXPECT_EQ(GuessOwner("/etc/netplan/90-NM-626dd384.yaml"),
            "NetworkManager, for nmcli or the desktop");
  EXPECT_EQ(GuessOwner("/etc/netplan/50-cloud-init.yaml"), "cloud-init");
  EXPECT_EQ(GuessOwner("/etc/netplan/00-installer-config.yaml"), "the installer");
  EXPECT_EQ(GuessOwner("/etc/netplan/99-fastlink.yaml"), "");
}

TEST(NetplanForeign, EveryWayToNameAnInterfaceCounts) {
  EXPECT_THAT(Claimed("network: {ethernets: {enp1s0f1np1: {}}}"), ElementsAre(kPort0));
  EXPECT_THAT(Claimed("network: {ethernets: {all: {match: {name: 'en*'}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {ethernets: {x: {match: {macaddress: '02:53:50:00:01:04'}}}}"),
              ElementsAre(kPort0));
  EXPECT_THAT(Claimed("network: {ethernets: {x: {match: {driver: mlx5_core, name: '*f1np1'}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {ethernets: {all: {match: {}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {bonds: {bond0: {interfaces: [eth0, enp1s0f1np1]}}}"),
              ElementsAre(kPort0));
}

// netplan and NetworkManager go by it, also while several ports show that of their bond.
TEST(NetplanForeign, AMatchByMacMeansThePortsOwnAddressNotThatOfItsBond) {
  test::PairScenario scenario = MakeForeignFile();
  LinkFact& second = scenario.facts.links.at(kBoth[1]);
  second.permanent_mac = second.mac;
  second.mac = scenario.facts.links.at(kBoth[0]).mac;
  const auto claimed = [&](const std::string& mac) {
    scenario.AddFile("/etc/netplan/70-x.yaml",
                     "network: {ethernets: {x: {match: {macaddress: '" + mac + "'}}}}\n");
    return ReadForeignTree(scenario.facts, kBoth).claims.at(0).netdevs;
  };
  EXPECT_THAT(claimed("02:53:50:00:01:04"), ElementsAre(kBoth[0]));
  EXPECT_THAT(claimed("02:53:50:00:01:05"), ElementsAre(kBoth[1]));
}

TEST(NetplanForeign, OtherInterfacesDoNotCount) {
  for (const char* yaml :
       {"", "network:\n", "network: {version: 2}", "network: [1]", "other: {enp1s0f1np1: {}}",
        "network: {ethernets: {enP7s7: {dhcp4: true}}}", "network: {ethernets: {enp1s0f0np0: {}}}",
        "network: {ethernets: {x: {match: {name: 'eth*'}}}}",
        "network: {ethernets: {x: {match: {macaddress: '02:53:50:00:01:01', name: '*'}}}}",
        "network: {wifis: {x: {match: {name: '*'}}}}", "network: {ethernets: {x: 5, y: }}"}) {
    EXPECT_THAT(Claimed(yaml), IsEmpty()) << yaml;
  }
}

constexpr const char* kKept = "/etc/netplan/90-NM-1.yaml";

// A node of NetworkManager's with a profile of its own for a port, as Ubuntu's keeps it.
test::PairScenario KeepProfile(const std::string& match, const std::string& passthrough,
                               const std::string& name = "cx7") {
  test::PairScenario scenario = MakeForeignFile();
  for (const std::string& netdev : kBoth) {
    scenario.facts.links[netdev].manager = LinkManager::kNetworkManager;
  }
  scenario.AddFile("/lib/netplan/00-network-manager-all.yaml",
                   "network: {version: 2, renderer: NetworkManager}\n");
  scenario.AddFile(kKept, "network: {ethernets: {NM-1: {renderer: NetworkManager, match: {" +
                              match + "}, dhcp4: true, networkmanager: {uuid: 1-2, name: '" + name +
                              "', passthrough: {" + passthrough + "}}}}}\n");
  return scenario;
}

TEST(NetplanForeign, AProfileThatNetworkManagerKeepsInANetplanFileIsJudgedAsAProfile) {
  const test::PairScenario scenario = KeepProfile("name: enp1s0f1np1", "");
  const std::string connects =
      std::string("cx7 (") + kKept + ") connects enp1s0f1np1 automatically, priority 0 (ours 0)";
  EXPECT_EQ(
      scenario.Warning(Get(), kKept),
      connects +
          ": of the two, NetworkManager uses the one that was active last: add {nm_profile: "
          "cx7, nodes: {spark-1: \"b844b40edf56\"}} to adopt, or: nmcli connection modify cx7 "
          "connection.autoconnect no, then plan again");
  EXPECT_EQ(KeepProfile("name: enp1s0f1np1", "connection.autoconnect-priority: '10'", "my cx7")
                .Warning(Get(), kKept),
            std::string("1-2 (") + kKept +
                ") connects enp1s0f1np1 automatically, priority 10 (ours 0): it comes back at the "
                "next boot or re-plug: nmcli connection modify 1-2 connection.autoconnect no, then "
                "plan again");
  EXPECT_EQ(scenario.FindWarning(Get(), kKept).code, "netplan-foreign-profile");
}

// What NetworkManager makes on its own for a port without a profile; and what our advice makes of
// others.
TEST(NetplanForeign, AKeptProfileThatCannotWinIsNoClaim) {
  for (const std::string passthrough :
       {"connection.autoconnect-priority: '-999'", "connection.autoconnect: 'false'"}) {
    const test::PairScenario scenario = KeepProfile("name: enp1s0f1np1", passthrough);
    EXPECT_EQ(scenario.Warning(Get(), kKept), "none") << passthrough;
    EXPECT_EQ(FindForeignOwner(scenario.facts, kPort0).path, "") << passthrough;
  }
  EXPECT_EQ(KeepProfile("", "").Warning(Get(), kKept), "none");  // for any port
  EXPECT_THAT(KeepProfile("", "connection.autoconnect-priority: '1'").Warning(Get(), kKept),
              testing::HasSubstr("connects enp1s0f1np1, enP2p1s0f1np1 automatically, priority 1"));
}

TEST(NetplanForeign, AKeptProfileOfALowerPriorityIsNoClaimButHasThePortWithoutUs) {
  const test::PairScenario scenario =
      KeepProfile("name: enp1s0f1np1", "connection.autoconnect-priority: '-1'");
  EXPECT_EQ(scenario.Warning(Get(), kKept), "none");
  EXPECT_EQ(FindForeignOwner(scenario.facts, kPort0).path, kKept);
  EXPECT_FALSE(FindForeignOwner(scenario.facts, kPort0).by_netplan);
}

TEST(NetplanForeign, WhereNetworkdGetsOurFileAKeptProfileIsAFileAsAnyOther) {
  test::PairScenario scenario =
      KeepProfile("name: enp1s0f1np1", "connection.autoconnect-priority: '-999'");
  scenario.facts.files.erase("/lib/netplan/00-network-manager-all.yaml");
  EXPECT_THAT(scenario.Warning(Get(), kKept),
              testing::StartsWith(std::string(kKept) + " configures enp1s0f1np1 (probably"));
}

// What Ubuntu keeps of a profile without an interface name, as of "Wired connection 1":
// https://netplan.readthedocs.io/en/stable/netplan-everywhere/
constexpr const char* kForAnyPort =
    "network:\n  version: 2\n  ethernets:\n    NM-14f1a5f1-5a0c-4a5d-9b1d-0d0a6f4e0001:\n"
    "      renderer: NetworkManager\n      match: {}\n      dhcp4: true\n"
    "      networkmanager:\n        uuid: 14f1a5f1-5a0c-4a5d-9b1d-0d0a6f4e0001\n"
    "        name: \"Wired connection 1\"\n";

TEST(NetplanForeign, AProfileForAnyPortOfNetworkManagersIsNoClaim) {
  for (const bool manager : {false, true}) {
    test::PairScenario scenario = KeepProfile("", "");
    if (!manager) scenario.facts.files.erase("/lib/netplan/00-network-manager-all.yaml");
    scenario.AddFile(kKept, kForAnyPort);
    EXPECT_EQ(scenario.Warning(Get(), kKept), "none") << manager;
    EXPECT_EQ(FindForeignOwner(scenario.facts, kPort0).path, "") << manager;
  }
  EXPECT_THAT(Claimed("network: {ethernets: {NM-1: {renderer: NetworkManager, match: {}}}}"),
              IsEmpty());
}

TEST(NetplanForeign, AProfileThatNamesThePortOrItsDriverIsAClaimWhereNetworkdHasIt) {
  for (const char* match : {"name: enp1s0f1np1", "macaddress: '02:53:50:00:01:04'"}) {
    EXPECT_THAT(Claimed(std::string("network: {ethernets: {NM-1: {renderer: NetworkManager, "
                                    "match: {") +
                        match + "}}}}"),
                ElementsAre(kPort0));
  }
  EXPECT_THAT(Claimed("network: {ethernets: {NM-1: {renderer: NetworkManager, match: {driver: "
                      "mlx5_core}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
}

TEST(NetplanForeign, ARendererBelowADeviceTypeIsThatOfTheDefinitionsBehindIt) {
  const std::string any = "NM-1: {match: {}}";
  const std::string renderer = "renderer: NetworkManager";
  EXPECT_THAT(Claimed("network: {ethernets: {" + renderer + ", " + any + "}}"), IsEmpty());
  EXPECT_THAT(Claimed("network: {ethernets: {" + any + ", " + renderer + "}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
}

TEST(NetplanForeign, WhatNetplanGeneratesOfAKeptProfileIsNotOurs) {
  test::PairScenario scenario = KeepProfile("name: enp1s0f1np1", "");
  EXPECT_EQ(FindForeignOwner(scenario.facts, kPort0).path, kKept);
  EXPECT_FALSE(FindForeignOwner(scenario.facts, kPort0).by_netplan);
  const std::string other = "/etc/netplan/40-cx7.yaml";
  scenario.AddFile(other, "network: {ethernets: {enp1s0f1np1: {}}}\n");
  EXPECT_EQ(FindForeignOwner(scenario.facts, kPort0).path, other);
  EXPECT_TRUE(FindForeignOwner(scenario.facts, kPort0).by_netplan);
}

TEST(NetplanForeign, LastRendererInTheOrderOfFileNamesWins) {
  EXPECT_EQ(FindRenderer({}), Renderer::kNetworkd);
  EXPECT_EQ(FindRenderer({{"/etc/netplan/01-a.yaml", "NetworkManager"}}),
            Renderer::kNetworkManager);
  EXPECT_EQ(FindRenderer({{"/etc/netplan/01-a.yaml", "NetworkManager"},
                          {"/lib/netplan/99-z.yaml", "networkd"}}),
            Renderer::kNetworkd);
  EXPECT_EQ(FindRenderer({{"/etc/netplan/01-a.yaml", "NetworkManager"},
                          {"/run/netplan/01-a.yaml", "networkd"}}),
            Renderer::kNetworkd);
  EXPECT_EQ(FindRenderer({{"/etc/netplan/01-a.yaml.bak", "NetworkManager"}}), Renderer::kNetworkd);
}

}  // namespace
}  // namespace reconciler::plugins::netplan
