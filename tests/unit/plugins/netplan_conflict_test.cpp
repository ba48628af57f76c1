#include <gmock/gmock.h>

#include "plugins/netplan/foreign.h"
#include "plugins/netplan/netplan.h"
#include "plugins/netplan/protection.h"
#include "tests/unit/plugins/pair_world.h"

// What keeps the netplan plugin from changing anything.
namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kFile = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kRail0 = "enp1s0f1np1";
const std::vector<std::string> kBoth = {"enp1s0f1np1", "enP2p1s0f1np1"};

test::PairWorld World() {
  test::PairWorld world;
  world.facts.files[kFile] = Absent{};
  return world;
}

// Of the file and of one link, when both say the same.
std::string WhyBlocked(const test::PairWorld& world) {
  const std::string file = world.Detail(Get(), kFile);
  EXPECT_EQ(world.Detail(Get(), kRail0), file);
  return file;
}

std::vector<std::string> Claimed(const std::string& yaml) {
  test::PairWorld world = World();
  world.AddFile("/etc/netplan/70-x.yaml", yaml);
  const ForeignTree tree = ReadForeignTree(world.facts, kBoth);
  EXPECT_EQ(tree.unclear, "");
  return tree.claims.empty() ? std::vector<std::string>() : tree.claims[0].netdevs;
}

Renderer RendererOf(const std::vector<std::pair<std::string, std::string>>& files) {
  test::PairWorld world = World();
  for (const auto& [path, renderer] : files) {
    world.AddFile(path, "network: {version: 2, renderer: " + renderer + "}\n");
  }
  return ReadForeignTree(world.facts, kBoth).renderer;
}

TEST(NetplanConflict, ForeignFileOfTheSameInterfacesBlocksAndIsNeverTouched) {
  test::PairWorld world = World();
  const std::string path = "/etc/netplan/99-nvidia-sync-cluster.yaml";
  world.AddFile(path,
                "network: {ethernets: {enp1s0f1np1: {addresses: [10.100.16.1/24]},\n"
                "  enP2p1s0f1np1: {addresses: [10.100.17.1/24]}}}\n");
  const std::string why =
      "configures enp1s0f1np1, enP2p1s0f1np1 (probably written by NVIDIA Sync): move it away or "
      "take them out of it, then plan again";
  EXPECT_EQ(world.Detail(Get(), path), "blocked: " + why);
  EXPECT_EQ(world.Detail(Get(), kFile), "blocked: " + path + " " + why);
  EXPECT_EQ(world.Detail(Get(), kRail0), "blocked: " + path + " configures it as well");
  EXPECT_THAT(Diff(world.Find(Get(), path), "netplan")->actions, IsEmpty());
}

TEST(NetplanConflict, ForeignFileIsShownEvenWhileEverythingHolds) {
  test::PairWorld world = World();
  const std::string path = "/etc/netplan/99-fastlink.yaml";
  world.facts.files[kFile] = world.File(Get(), kFile);
  world.AddFile(path, "network: {ethernets: {enp1s0f1np1: {mtu: 1500}}}\n");
  EXPECT_EQ(world.Detail(Get(), kFile), "holds");
  EXPECT_EQ(
      world.Detail(Get(), path),
      "blocked: configures enp1s0f1np1: move it away or take them out of it, then plan again");
}

TEST(NetplanConflict, OwnersAreGuessedFromTheFilesName) {
  EXPECT_EQ(ProbableOwner("/etc/netplan/99-nvidia-sync-cluster.yaml"), "NVIDIA Sync");
  EXPECT_EQ(ProbableOwner("/etc/netplan/40-cx7.yaml"), "NVIDIA's spark_cluster_setup or sparkrun");
  EXPECT_EQ(ProbableOwner("/etc/netplan/90-NM-626dd384.yaml"),
            "NetworkManager, for nmcli or the desktop");
  EXPECT_EQ(ProbableOwner("/etc/netplan/50-cloud-init.yaml"), "cloud-init");
  EXPECT_EQ(ProbableOwner("/etc/netplan/00-installer-config.yaml"), "the installer");
  EXPECT_EQ(ProbableOwner("/etc/netplan/99-fastlink.yaml"), "");
}

TEST(NetplanConflict, EveryWayToNameAnInterfaceCounts) {
  EXPECT_THAT(Claimed("network: {ethernets: {enp1s0f1np1: {}}}"), ElementsAre(kRail0));
  EXPECT_THAT(Claimed("network: {ethernets: {all: {match: {name: 'en*'}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {ethernets: {x: {match: {macaddress: '02:53:50:00:01:04'}}}}"),
              ElementsAre(kRail0));
  EXPECT_THAT(Claimed("network: {ethernets: {x: {match: {driver: mlx5_core, name: '*f1np1'}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {ethernets: {NM-1: {renderer: NetworkManager, match: {}}}}"),
              ElementsAre("enp1s0f1np1", "enP2p1s0f1np1"));
  EXPECT_THAT(Claimed("network: {bonds: {bond0: {interfaces: [eth0, enp1s0f1np1]}}}"),
              ElementsAre(kRail0));
}

TEST(NetplanConflict, OtherInterfacesDoNotCount) {
  for (const char* yaml :
       {"", "network:\n", "network: {version: 2}", "network: [1]", "other: {enp1s0f1np1: {}}",
        "network: {ethernets: {enP7s7: {dhcp4: true}}}", "network: {ethernets: {enp1s0f0np0: {}}}",
        "network: {ethernets: {x: {match: {name: 'eth*'}}}}",
        "network: {ethernets: {x: {match: {macaddress: '02:53:50:00:01:01', name: '*'}}}}",
        "network: {wifis: {x: {match: {name: '*'}}}}", "network: {ethernets: {x: 5, y: }}"}) {
    EXPECT_THAT(Claimed(yaml), IsEmpty()) << yaml;
  }
}

TEST(NetplanConflict, LastRendererInTheOrderOfFileNamesWins) {
  EXPECT_EQ(RendererOf({}), Renderer::kNetworkd);
  EXPECT_EQ(RendererOf({{"/etc/netplan/01-a.yaml", "NetworkManager"}}), Renderer::kNetworkManager);
  EXPECT_EQ(RendererOf({{"/etc/netplan/01-a.yaml", "NetworkManager"},
                        {"/lib/netplan/99-z.yaml", "networkd"}}),
            Renderer::kNetworkd);
  EXPECT_EQ(RendererOf({{"/etc/netplan/01-a.yaml", "NetworkManager"},
                        {"/run/netplan/01-a.yaml", "networkd"}}),
            Renderer::kNetworkd);
  EXPECT_EQ(RendererOf({{"/etc/netplan/01-a.yaml.bak", "NetworkManager"}}), Renderer::kNetworkd);
}

TEST(NetplanConflict, FileThatDoesNotParseBlocksEverything) {
  test::PairWorld world = World();
  world.AddFile("/etc/netplan/90-NM-1.yaml", "network:\n  ethernets: [\n");
  EXPECT_THAT(WhyBlocked(world), StartsWith("blocked: /etc/netplan/90-NM-1.yaml:"));
  EXPECT_THAT(WhyBlocked(world), testing::EndsWith("; netplan would refuse it as well"));
  world.AddFile("/etc/netplan/90-NM-1.yaml", std::string(715, '\0'));
  EXPECT_THAT(WhyBlocked(world), StartsWith("blocked: /etc/netplan/90-NM-1.yaml:1 is not valid: "));
}

TEST(NetplanConflict, UnreadableFileBlocksEverything) {
  test::PairWorld world = World();
  world.facts.files["/etc/netplan/01-x.yaml"] = Unknown{"permission denied"};
  EXPECT_EQ(WhyBlocked(world), "blocked: /etc/netplan/01-x.yaml cannot be read: permission denied");
}

TEST(NetplanConflict, FileBelowRunThatHidesOursBlocksEverything) {
  test::PairWorld world = World();
  world.AddFile("/run/netplan/60-spark-reconcile.yaml", "network: {}\n");
  EXPECT_EQ(WhyBlocked(world),
            "blocked: /run/netplan/60-spark-reconcile.yaml hides "
            "/etc/netplan/60-spark-reconcile.yaml: remove it");
}

TEST(NetplanConflict, OurOwnUnreadableFileBlocksTheLinksToo) {
  test::PairWorld world = World();
  world.facts.files[kFile] = Unknown{"is a symbolic link"};
  EXPECT_EQ(world.Detail(Get(), kFile), "blocked: unknown: is a symbolic link");
  EXPECT_EQ(world.Detail(Get(), kRail0),
            "blocked: /etc/netplan/60-spark-reconcile.yaml cannot be read: is a symbolic link");
}

TEST(NetplanConflict, InterfaceOfTheSessionIsNeverTouched) {
  test::PairWorld world = World();
  world.facts.session_interface = kRail0;
  EXPECT_EQ(WhyBlocked(world), "blocked: enp1s0f1np1 carries this session and is never touched");
}

TEST(NetplanConflict, UnusedInterfaceOfTheSessionIsNotTakenDown) {
  test::PairWorld world = World();
  world.facts.session_interface = "enp1s0f0np0";
  EXPECT_EQ(world.Detail(Get(), kRail0),
            "up, mtu 1500, no address → up, mtu 9000, 192.168.177.1/24");
  world.cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_EQ(world.Detail(Get(), "enp1s0f0np0"),
            "blocked: enp1s0f0np0 carries this session and is never touched");
}

TEST(NetplanConflict, InterfaceOfTheManagementAddressIsNeverTouched) {
  test::PairWorld world = World();
  world.facts.session_address = "";  // the controller's own machine
  world.facts.session_interface = "";
  world.facts.links[kRail0].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
  EXPECT_EQ(WhyBlocked(world),
            "blocked: enp1s0f1np1 holds the management address 192.168.1.21 and is never touched");
}

TEST(NetplanConflict, InterfaceOfTheDefaultRouteIsNeverTouched) {
  test::PairWorld world = World();
  world.facts.values["netplan.default_route"] = "enp1s0f1np1 wlP9s9";
  EXPECT_EQ(WhyBlocked(world),
            "blocked: enp1s0f1np1 carries the default route and is never touched");
}

TEST(NetplanConflict, WhatLeadsToTheNodeMustBeKnown) {
  test::PairWorld world = World();
  world.facts.session_interface = "";
  EXPECT_EQ(WhyBlocked(world),
            "blocked: cannot tell which interface leads to this node: none holds 192.168.1.21, the "
            "address of this session");
  world = World();
  world.facts.values["netplan.default_route"] = Unknown{"ip route failed: exit 124"};
  EXPECT_EQ(WhyBlocked(world),
            "blocked: cannot tell which interface leads to this node: ip route failed: exit 124");
}

TEST(NetplanConflict, UnknownLinksBlockInsteadOfChanging) {
  test::PairWorld world = World();
  world.facts.links.clear();
  world.facts.values["host.links"] = Unknown{"ip gave no answer in 5 s"};
  EXPECT_EQ(world.Detail(Get(), kFile),
            "blocked: cannot tell which interface leads to this node: ip gave no answer in 5 s");
  EXPECT_EQ(world.Detail(Get(), kRail0), "blocked: unknown: ip gave no answer in 5 s");
}

TEST(NetplanConflict, MissingInterfaceIsBlockedByItself) {
  test::PairWorld world = World();
  world.facts.links.erase(kRail0);
  EXPECT_EQ(world.Detail(Get(), kRail0), "blocked: this node has no such interface");
  EXPECT_EQ(world.Detail(Get(), kFile), "(0600, 21 lines)");
  EXPECT_EQ(test::Lines(world.Find(Get(), kFile).triggers).back(),
            "networkctl reconfigure enP2p1s0f1np1");
}

TEST(NetplanConflict, MissingMtuIsUnknown) {
  test::PairWorld world = World();
  world.facts.links[kRail0].mtu = 0;
  EXPECT_EQ(world.Detail(Get(), kRail0), "blocked: unknown: ip shows no mtu for it");
}

TEST(NetplanConflict, PortOfAnotherManagerThanNetplansIsLeftAlone) {
  test::PairWorld world = World();
  world.facts.links[kRail0].manager = LinkManager::kNetworkManager;
  EXPECT_EQ(WhyBlocked(world),
            "blocked: NetworkManager manages enp1s0f1np1, but no netplan file says 'renderer: "
            "NetworkManager'");
  world.facts.links[kRail0].manager = LinkManager::kNetworkd;
  EXPECT_EQ(world.Detail(Get(), kFile), "(0600, 21 lines)");
  world.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  EXPECT_EQ(WhyBlocked(world),
            "blocked: systemd-networkd manages enp1s0f1np1, but netplan would give it to "
            "NetworkManager");
}

TEST(NetplanConflict, DefaultRoutesAreReadFromJson) {
  const auto parse = [](const std::string& out) { return ParseDefaultRoutes({.out = out}); };
  EXPECT_EQ(parse(R"([{"dst":"default","gateway":"192.168.1.1","dev":"enP7s7","flags":[]},
                      {"dst":"default","dev":"wlP9s9","metric":600}])"),
            Observed<std::string>("enP7s7 wlP9s9"));
  EXPECT_EQ(parse(R"([{"dst":"default","nexthops":[{"dev":"b"},{"dev":"a"},7]}])"),
            Observed<std::string>("a b"));
  EXPECT_EQ(parse("[]"), Observed<std::string>(Absent{}));
  EXPECT_EQ(parse("\n"), Observed<std::string>(Absent{}));
  EXPECT_EQ(parse("[5,null,{\"dev\":7}]"), Observed<std::string>(Absent{}));
  EXPECT_EQ(parse("default via 192.168.1.1"),
            Observed<std::string>(Unknown{"ip route printed something other than JSON"}));
  EXPECT_EQ(ParseDefaultRoutes({.exit_code = 1, .err = "Cannot open\n"}),
            Observed<std::string>(Unknown{"ip route failed: Cannot open"}));
  EXPECT_EQ(ParseDefaultRoutes({.exit_code = 124}),
            Observed<std::string>(Unknown{"ip route failed: exit 124"}));
}

}  // namespace
}  // namespace reconciler::plugins::netplan
