#include <gmock/gmock.h>

#include "plugins/netplan/netplan.h"
#include "plugins/netplan/reads/routes.h"
#include "reconciler/base/mark.h"
#include "tests/unit/plugins/pair_scenario.h"

// What keeps the netplan plugin from changing anything.
namespace reconciler::plugins::netplan {
namespace {

using testing::StartsWith;

constexpr const char* kNetplanFile = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kRail0Port = "enp1s0f1np1";

test::PairScenario MakeConflict() {
  test::PairScenario scenario;
  scenario.facts.files[kNetplanFile] = Absent{};
  return scenario;
}

// Of the file and of one link, when both say the same.
std::string ExplainBlocked(const test::PairScenario& scenario) {
  const std::string file = scenario.Detail(Get(), kNetplanFile);
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), file);
  return file;
}

TEST(NetplanConflict, FileThatDoesNotParseBlocksEverything) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile("/etc/netplan/90-NM-1.yaml", "network:\n  ethernets: [\n");
  EXPECT_THAT(ExplainBlocked(scenario), StartsWith("blocked: /etc/netplan/90-NM-1.yaml:"));
  EXPECT_THAT(ExplainBlocked(scenario), testing::EndsWith("; netplan would refuse it as well"));
  scenario.AddFile("/etc/netplan/90-NM-1.yaml", std::string(715, '\0'));
  EXPECT_THAT(ExplainBlocked(scenario),
              StartsWith("blocked: /etc/netplan/90-NM-1.yaml:1 is not valid: "));
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-files-unknown");
}

TEST(NetplanConflict, WhatIsBlockedBecauseOfAnotherOwnerNamesIt) {
  test::PairScenario scenario = MakeConflict();
  EXPECT_EQ(scenario.Find(Get(), kRail0Port).owner, OtherOwner{});
  const char* other = "/etc/netplan/40-cx7.yaml";
  scenario.AddFile(other, "network: {ethernets: {enp1s0f1np1: {mtu: 1400}}}\n");
  const OtherOwner owner{.name = other, .claims = {kRail0Port}};
  for (const char* name : {kRail0Port, "enP2p1s0f1np1", kNetplanFile}) {
    EXPECT_EQ(scenario.Find(Get(), name).owner, owner) << name;
  }
  scenario.AddFile("/etc/netplan/90-NM-1.yaml", "network:\n  ethernets: [\n");
  EXPECT_EQ(scenario.Find(Get(), kRail0Port).owner, OtherOwner{});
}

TEST(NetplanConflict, UnreadableFileBlocksEverything) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.files["/etc/netplan/01-x.yaml"] = Unknown{"permission denied"};
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: /etc/netplan/01-x.yaml cannot be read: permission denied");
}

TEST(NetplanConflict, FileBelowRunThatHidesOursBlocksEverything) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile("/run/netplan/60-spark-reconcile.yaml", "network: {}\n");
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: /run/netplan/60-spark-reconcile.yaml hides "
            "/etc/netplan/60-spark-reconcile.yaml: remove it");
}

TEST(NetplanConflict, OurOwnUnreadableFileBlocksTheLinksToo) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.files[kNetplanFile] = Unknown{"is a symbolic link"};
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "blocked: unknown: is a symbolic link");
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port),
            "blocked: /etc/netplan/60-spark-reconcile.yaml cannot be read: is a symbolic link");
}

TEST(NetplanConflict, FileInOurPlaceThatOthersWroteIsBlockedWithItsLinks) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile(kNetplanFile, "# another program\nnetwork: {version: 2}\n");
  const std::string why =
      "was not written by spark-reconcile: move it away, or remove this from the manifest";
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "blocked: " + why);
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port),
            std::string("blocked: ") + kNetplanFile + " " + why);
  scenario.AddFile(kNetplanFile, FormatOwnedFile("office", "network: {version: 2}\n"));
  EXPECT_THAT(scenario.Detail(Get(), kNetplanFile),
              StartsWith("blocked: belongs to cluster 'office': "));
  EXPECT_THAT(
      scenario.Detail(Get(), kRail0Port),
      StartsWith(std::string("blocked: ") + kNetplanFile + " belongs to cluster 'office': "));
}

TEST(NetplanConflict, EditedFileOfOursIsDrift) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile(kNetplanFile,
                   FormatOwnedFile("homelab", "network: {version: 2}\n") + "# edited\n");
  EXPECT_THAT(scenario.Detail(Get(), kNetplanFile), StartsWith("(+"));
}

TEST(NetplanConflict, PortsThatNetworkManagerWouldNotLetGoOfAreNotTakenDown) {
  constexpr const char* kUnmanaged = "/etc/NetworkManager/conf.d/60-spark-reconcile.conf";
  test::PairScenario scenario = MakeConflict();
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  scenario.AddFile("/etc/netplan/01-network-manager-all.yaml",
                   "network:\n  version: 2\n  renderer: NetworkManager\n");
  for (auto& [name, link] : scenario.facts.links) link.manager = LinkManager::kNetworkManager;
  scenario.AddFile(kUnmanaged, "# another program\n");
  const std::string why =
      "was not written by spark-reconcile: move it away, or remove this from the manifest";
  EXPECT_EQ(scenario.Detail(Get(), kUnmanaged), "blocked: " + why);
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"),
            std::string("blocked: ") + kUnmanaged + " " + why);
  EXPECT_THAT(scenario.Detail(Get(), kRail0Port), testing::Not(StartsWith("blocked")));
  scenario.cluster.fabric.unused_cages = UnusedCages::kIgnore;
  EXPECT_THAT(scenario.Names(Get()), testing::Not(testing::Contains(kUnmanaged)));
}

TEST(NetplanConflict, InterfaceOfTheSessionIsNeverTouched) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.session.interface = kRail0Port;
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: enp1s0f1np1 carries this session and is never touched");
  EXPECT_EQ(scenario.Find(Get(), kRail0Port).blocked.code, "netplan-leads-to-node");
}

TEST(NetplanConflict, UnusedInterfaceOfTheSessionIsNotTakenDown) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.session.interface = "enp1s0f0np0";
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), "mtu 1500 → 9000, +192.168.177.1/24");
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"),
            "blocked: enp1s0f0np0 carries this session and is never touched");
}

TEST(NetplanConflict, InterfaceOfTheManagementAddressIsNeverTouched) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.session.address = "";  // the controller's own machine
  scenario.facts.session.interface = "";
  scenario.facts.links[kRail0Port].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: enp1s0f1np1 holds the management address 192.168.1.21 and is never touched");
}

TEST(NetplanConflict, InterfaceOfTheDefaultRouteIsNeverTouched) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.network.default_route = std::vector<std::string>{"enp1s0f1np1", "wlP9s9"};
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: enp1s0f1np1 carries the default route and is never touched");
}

TEST(NetplanConflict, WhatLeadsToTheNodeMustBeKnown) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.session.interface = "";
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: cannot determine which interface leads to this node: none holds "
            "192.168.1.21, the address of this session");
  scenario = MakeConflict();
  scenario.facts.network.default_route = Unknown{"ip route failed: exit 124"};
  EXPECT_EQ(
      ExplainBlocked(scenario),
      "blocked: cannot determine which interface leads to this node: ip route failed: exit 124");
}

TEST(NetplanConflict, UnknownLinksBlockInsteadOfChanging) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links.clear();
  scenario.facts.network.links = Unknown{"ip gave no answer in 5 s"};
  EXPECT_EQ(
      scenario.Detail(Get(), kNetplanFile),
      "blocked: cannot determine which interface leads to this node: ip gave no answer in 5 s");
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), "blocked: unknown: ip gave no answer in 5 s");
}

TEST(NetplanConflict, MissingInterfaceIsBlockedOnItsOwn) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links.erase(kRail0Port);
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), "blocked: this node has no such interface");
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 21 lines)");
  EXPECT_EQ(test::Lines(scenario.Find(Get(), kNetplanFile).triggers).back(),
            "networkctl reconfigure enP2p1s0f1np1");
}

TEST(NetplanConflict, NodeWithoutAnyOfItsPortsGetsNoFile) {
  test::PairScenario scenario = MakeConflict();
  for (const char* netdev : {kRail0Port, "enP2p1s0f1np1"}) scenario.facts.links.erase(netdev);
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  const std::string why =
      "blocked: this node has no enp1s0f1np1 and no enP2p1s0f1np1: plug the cable in (ports "
      "without one may be powered down), or name another cage in the manifest";
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), why);
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), "blocked: this node has no such interface");
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"), why);  // its activation would need the file
}

TEST(NetplanConflict, PortWithAnotherNameIsNotTakenForACableThatIsOut) {
  test::PairScenario scenario = MakeConflict();
  for (const char* netdev : {kRail0Port, "enP2p1s0f1np1"}) scenario.facts.links.erase(netdev);
  scenario.facts.network.pci["0000:01:00.1"] = "eth3";
  scenario.facts.network.pci["0002:01:00.1"] = "";
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile),
            "blocked: this node has no enp1s0f1np1 and no enP2p1s0f1np1: its PCI function "
            "0000:01:00.1 is eth3, its PCI function 0002:01:00.1 has no driver: describe it in "
            "hardware of the manifest");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-missing");
}

TEST(NetplanConflict, PortsThatTheDriverGivesOtherNamesAreWrittenAsTheManifestHasThem) {
  test::PairScenario scenario = MakeConflict();
  for (const char* netdev : {kRail0Port, "enP2p1s0f1np1"}) scenario.facts.links.erase(netdev);
  scenario.facts.network.pci["0000:03:00.0"] = "enp3s0f0np0";
  scenario.facts.network.pci["0000:03:00.1"] = "enp3s0f1np1";
  for (const std::string cage : {"p0", "p1"}) {
    const std::string netdev = cage == "p0" ? "enp3s0f0np0" : "enp3s0f1np1";
    scenario.facts.links[netdev].phys_port_name = cage;
    scenario.facts.hcas[cage == "p0" ? "mlx5_0" : "mlx5_1"].netdev = netdev;
  }
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile),
            "blocked: this node has no enp1s0f1np1 and no enP2p1s0f1np1: its ports have other "
            "names: write `cages: {p0: [{netdev: enp3s0f0np0, hca: mlx5_0, pci: 0000:03:00.0}], "
            "p1: [{netdev: enp3s0f1np1, hca: mlx5_1, pci: 0000:03:00.1}]}` for its hardware in the "
            "manifest");
}

// Ports as a driver of ConnectX cards has them, each on a card of its own.
void AddCards(const std::vector<std::string>& slots, NodeFacts& facts) {
  for (const std::string& slot : slots) {
    const std::string netdev = "enp" + slot + "s0f1np1";
    const std::string pci = "0000:0" + slot + ":00.1";
    facts.links[netdev] = {.phys_port_name = "p1", .driver = "mlx5_core"};
    facts.network.pci[pci] = netdev;
  }
}

TEST(NetplanConflict, PortsThatMayBeSeveralInterfacesAreUnclearAndTheCandidatesAreNamed) {
  test::PairScenario scenario = MakeConflict();
  for (const char* netdev : {kRail0Port, "enP2p1s0f1np1"}) scenario.facts.links.erase(netdev);
  AddCards({"3", "4", "5"}, scenario.facts);
  scenario.facts.hcas["mlx5_0"].netdev = "enp3s0f1np1";
  const std::string why =
      "blocked: cannot determine which interfaces are enp1s0f1np1 and enP2p1s0f1np1: of driver "
      "mlx5_core and port p1 this node has enp3s0f1np1 (0000:03:00.1), enp4s0f1np1 "
      "(0000:04:00.1), enp5s0f1np1 (0000:05:00.1): name the port in its hardware profile, such as "
      "`p1: [{netdev: enp3s0f1np1, hca: mlx5_0, pci: 0000:03:00.1}]`";
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), why);
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), why);
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "plan-port-unclear");
  EXPECT_EQ(scenario.Find(Get(), kRail0Port).blocked.code, "plan-port-unclear");
}

TEST(NetplanConflict, AnUnclearPortHoldsUpNoOtherOne) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links.erase("enP2p1s0f1np1");
  AddCards({"3", "4"}, scenario.facts);
  EXPECT_EQ(scenario.Detail(Get(), "enP2p1s0f1np1"),
            "blocked: cannot determine which interface is enP2p1s0f1np1: of driver mlx5_core and "
            "port p1 this node has enp3s0f1np1 (0000:03:00.1), enp4s0f1np1 (0000:04:00.1): name "
            "the port in its hardware profile, such as `p1: [{netdev: enp3s0f1np1, hca: NAME, "
            "pci: 0000:03:00.1}]`");
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 21 lines)");
}

TEST(NetplanConflict, MissingMtuIsUnknown) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links[kRail0Port].mtu = 0;
  EXPECT_EQ(scenario.Detail(Get(), kRail0Port), "blocked: unknown: ip shows no mtu for it");
}

TEST(NetplanConflict, PortOfAnotherManagerThanNetplansIsLeftAlone) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links[kRail0Port].manager = LinkManager::kNetworkManager;
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: NetworkManager manages enp1s0f1np1, but no netplan file says 'renderer: "
            "NetworkManager': write that into one, or list the port in unmanaged-devices of "
            "NetworkManager");
  scenario.facts.links[kRail0Port].manager = LinkManager::kNetworkd;
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 21 lines)");
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: systemd-networkd manages enp1s0f1np1, but netplan would give it to "
            "NetworkManager: `netplan apply` or a restart of the node does so");
}

TEST(NetplanConflict, NoRendererIsAdvisedThatWouldMoveTheWayToTheNode) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.links[kRail0Port].manager = LinkManager::kNetworkManager;
  scenario.facts.links["enP7s7"].manager = LinkManager::kNetworkd;
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: NetworkManager manages enp1s0f1np1, and netplan gives it to networkd: run "
            "`netplan apply` where a netplan file names the port, or list it in unmanaged-devices "
            "of NetworkManager");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-two-managers");
}

TEST(NetplanConflict, TheRendererThatAFileSaysOfAPortAloneIsNamedWithItsPlace) {
  test::PairScenario scenario = MakeConflict();
  LinkManager& manager = scenario.facts.links[kRail0Port].manager;
  manager = LinkManager::kNetworkManager;
  scenario.AddFile("/etc/netplan/70-x.yaml",
                   "network: {ethernets: {renderer: NetworkManager, enp1s0f1np1: {}}}\n");
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: NetworkManager manages enp1s0f1np1, and /etc/netplan/70-x.yaml says "
            "'renderer: NetworkManager' of ethernets: take that out of it, then `netplan apply` or "
            "a restart of the node gives the port to networkd");
  manager = LinkManager::kNetworkd;
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  scenario.AddFile("/etc/netplan/70-x.yaml",
                   "network: {ethernets: {enp1s0f1np1: {renderer: networkd}}}\n");
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: systemd-networkd manages enp1s0f1np1, and /etc/netplan/70-x.yaml says "
            "'renderer: networkd' of enp1s0f1np1: take that out of it, then `netplan apply` or a "
            "restart of the node gives the port to NetworkManager");
}

TEST(NetplanConflict, PortThatNetworkManagerLeavesAloneIsNotGivenToIt) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  for (auto& [name, link] : scenario.facts.links) link.manager = LinkManager::kNetworkManager;
  LinkFact& link = scenario.facts.links[kRail0Port];
  link.admin_up = true;
  link.carrier = true;
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 25 lines)");
  link.manager = LinkManager::kNone;
  EXPECT_EQ(
      ExplainBlocked(scenario),
      "blocked: NetworkManager leaves enp1s0f1np1 alone, and netplan gives it to "
      "NetworkManager: take it out of unmanaged-devices in /etc/NetworkManager, or run: nmcli "
      "device set enp1s0f1np1 managed yes");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-unmanaged");
  for (auto& [name, other] : scenario.facts.links) other.manager = LinkManager::kNone;
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: NetworkManager manages no interface of this node, and netplan gives "
            "enp1s0f1np1 to it: see whether it runs with systemctl status NetworkManager");
  for (auto& [name, other] : scenario.facts.links) other.manager = LinkManager::kNetworkManager;
  link.manager = LinkManager::kNone;
  // What NetworkManager has not looked at yet is no port that it leaves alone.
  link.carrier = false;
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 25 lines)");
}

using Netdevs = std::vector<std::string>;
using Routes = std::vector<RouteFact>;

RouteFact Route(const std::string& destination, const std::string& netdev) {
  return {*ParseIpv4Prefix(destination), netdev};
}

TEST(NetplanConflict, DefaultRoutesAreReadFromJson) {
  const auto parse = [](const std::string& out) { return ParseDefaultRoutes({.out = out}); };
  EXPECT_EQ(parse(R"([{"dst":"default","gateway":"192.168.1.1","dev":"enP7s7","flags":[]},
                      {"dst":"default","dev":"wlP9s9","metric":600}])"),
            Observed<Netdevs>(Netdevs{"enP7s7", "wlP9s9"}));
  EXPECT_EQ(parse(R"([{"dst":"default","nexthops":[{"dev":"b"},{"dev":"a"},7]}])"),
            Observed<Netdevs>(Netdevs{"a", "b"}));
  EXPECT_EQ(parse("[]"), Observed<Netdevs>(Absent{}));
  EXPECT_EQ(parse("\n"), Observed<Netdevs>(Absent{}));
  EXPECT_EQ(parse("[5,null,{\"dev\":7}]"), Observed<Netdevs>(Absent{}));
  EXPECT_EQ(parse("default via 192.168.1.1"),
            Observed<Netdevs>(Unknown{"ip route printed something other than JSON"}));
  EXPECT_EQ(ParseDefaultRoutes({.exit_code = 1, .err = "Cannot open\n"}),
            Observed<Netdevs>(Unknown{"ip route failed: Cannot open"}));
  EXPECT_EQ(ParseDefaultRoutes({.exit_code = 124}),
            Observed<Netdevs>(Unknown{"ip gave no answer in 5 s"}));
}

TEST(NetplanConflict, DefaultRoutesAreTheDefaultOnesAmongAllAndTheRestAreNetworks) {
  const CommandReply reply{.out = R"([{"dst":"default","dev":"enP7s7"},
      {"dst":"192.168.1.0/24","dev":"enP7s7","protocol":"kernel"},{"dst":"10.9.8.7","dev":"tun0"},
      {"type":"blackhole","dst":"10.1.0.0/16"},{"dst":"10.0.0.0/33","dev":"a"}])"};
  EXPECT_EQ(ParseDefaultRoutes(reply), Observed<Netdevs>(Netdevs{"enP7s7"}));
  EXPECT_EQ(ParseRoutes(reply),
            Observed<Routes>(Routes{Route("10.1.0.0/16", ""), Route("10.9.8.7/32", "tun0"),
                                    Route("192.168.1.0/24", "enP7s7")}));
  EXPECT_EQ(ParseRoutes({.out = "[]"}), Observed<Routes>(Absent{}));
  const CommandReply details{.out = R"([{"dst": "10.5.0.0/24", "dev": "p0", "protocol": "boot"},
                 {"dst": "10.6.0.0/24", "dev": "p0"},
                 {"dst": "10.7.0.0/24", "dev": "p0", "protocol": "static"},
                 {"dst": "10.8.0.0/24", "dev": "p0", "protocol": "kernel"},
                 {"dst": "10.9.0.0/24", "nexthops": []}])"};
  EXPECT_EQ(ListRoutesByHand(details), (Routes{{*ParseIpv4Prefix("10.5.0.0/24"), "p0"},
                                               {*ParseIpv4Prefix("10.6.0.0/24"), "p0"}}));
  EXPECT_EQ(ParseRoutes({.exit_code = 124}), Observed<Routes>(Unknown{"ip gave no answer in 5 s"}));
}

// As iproute2 6.1 prints them.
TEST(NetplanConflict, Ipv6RoutesByHandAreThoseOfNoDaemonBeyondTheLink) {
  const CommandReply reply{.out = R"([
      {"dst":"fd00:8::8","dev":"p0","table":"77","protocol":"boot"},
      {"dst":"fd00:1::/64","dev":"p0","table":"main","protocol":"kernel"},
      {"dst":"fd00:5::/64","dev":"p0","table":"main","protocol":"boot"},
      {"dst":"fd00:5::/64","dev":"p1","table":"main","protocol":"boot"},
      {"dst":"fd00:6::/64","dev":"p0","table":"main","protocol":"static"},
      {"dst":"fe80::/64","dev":"p0","table":"main","protocol":"boot"},
      {"dst":"default","gateway":"fd00:1::2","dev":"p0","table":"main","protocol":"boot"},
      {"dst":"fd00:7::/64","table":"main","protocol":"boot","nexthops":[]},
      {"dst":"ff00::/8","dev":"p0","table":"local","protocol":"kernel"},7])"};
  EXPECT_THAT(ListIpv6RoutesByHand(reply),
              testing::ElementsAre(
                  testing::Pair("p0", testing::ElementsAre("fd00:5::/64", "fd00:8::8/128")),
                  testing::Pair("p1", testing::ElementsAre("fd00:5::/64"))));
  EXPECT_THAT(ListIpv6RoutesByHand({.exit_code = 124}), testing::IsEmpty());
  EXPECT_THAT(ListIpv6RoutesByHand({.out = "default via fd00::1"}), testing::IsEmpty());
}

// iproute2 before 5.x prints no list where there are no routes.
TEST(NetplanConflict, RoutesOfTheTwoFamiliesAreKeptApartAlsoWhereOneHasNone) {
  const std::string ipv6 = R"([{"dst":"default","dev":"p0","table":"main","protocol":"boot"},)"
                           R"({"dst":"fd00:5::/64","dev":"p0","table":"main","protocol":"boot"}])";
  const auto parse = [](const std::string& out) {
    NodeFacts facts;
    ProbeReply reply;
    reply.commands["host.ip"] = {.out = out};
    Get().parse(reply, facts);
    return facts.network;
  };
  const std::string ipv4 = R"([{"dst":"10.5.0.0/24","dev":"p0","protocol":"boot"}])";
  const NetworkFacts both = parse("[]\n" + ipv4 + "\n" + ipv6 + "\n");
  EXPECT_EQ(both.by_hand.at("p0"),
            (std::vector<std::string>{"route 10.5.0.0/24", "route fd00:5::/64"}));
  EXPECT_EQ(Answer(both.default_route), Observed<Netdevs>(Absent{}));
  const NetworkFacts without_ipv4 = parse("[]\n" + ipv6 + "\n");
  EXPECT_EQ(without_ipv4.by_hand.at("p0"), std::vector<std::string>{"route fd00:5::/64"});
  EXPECT_EQ(Answer(without_ipv4.default_route), Observed<Netdevs>(Absent{}));
  const NetworkFacts without_ipv6 = parse("[]\n" + ipv4 + "\n");
  EXPECT_EQ(without_ipv6.by_hand.at("p0"), std::vector<std::string>{"route 10.5.0.0/24"});
}

TEST(NetplanConflict, SubnetThatTheNodeRoutesElsewhereBlocksEverything) {
  test::PairScenario scenario = MakeConflict();
  const auto with = [&](const Routes& routes) {
    scenario.facts.network.routes = routes;
    return ExplainBlocked(scenario);
  };
  EXPECT_EQ(with({Route("172.17.0.0/16", "docker0"), Route("192.168.176.0/20", "wlP9s9")}),
            "blocked: fabric subnet 192.168.177.0/24 overlaps 192.168.176.0/20, which this node "
            "reaches over wlP9s9: packets for one would go to the other; give the fabric a subnet "
            "that nothing uses");
  EXPECT_EQ(with({Route("192.168.178.5/32", "tun0")}),
            "blocked: fabric subnet 192.168.178.0/24 overlaps 192.168.178.5/32, which this node "
            "reaches over tun0: packets for one would go to the other; give the fabric a subnet "
            "that nothing uses");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-subnet-routed");
}

// As after `twins: second`, where the manifest says `twins: first` now.
TEST(NetplanConflict, ATwinThatWasAppliedBeforeConflictsWithNothingAndAnotherOneDoes) {
  test::PairScenario scenario = MakeConflict();
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.facts.network.routes = Routes{Route("192.168.177.0/24", "enP2p1s0f1np1")};
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: fabric subnet 192.168.177.0/24 overlaps 192.168.177.0/24, which this node "
            "reaches over enP2p1s0f1np1: packets for one would go to the other; take the address "
            "off there: the twins of a cage share no subnet");
  scenario.facts.ledger =
      Ledger{.entries = {{.kind = "link", .name = "enP2p1s0f1np1", .is_link = true}}};
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.why, "");
}

TEST(NetplanConflict, RoutesOfTheCagesAndDefaultRoutesInHalvesConflictWithNothing) {
  test::PairScenario scenario = MakeConflict();
  // Yesterday's cage, a port of today's, the other rail's, and what VPN clients write.
  scenario.facts.network.routes =
      Routes{Route("128.0.0.0/1", "tun0"), Route("192.168.177.0/24", "enp1s0f0np0"),
             Route("192.168.177.0/24", "enp1s0f1np1"), Route("192.168.178.0/24", "enp1s0f1np1")};
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "(0600, 21 lines)");
}

// `netplan generate` would refuse all files, so that each apply would revert.
TEST(NetplanConflict, APortThatAnotherNetplanFileNeedsIsNotTakenOutOfOurs) {
  test::PairScenario scenario = MakeConflict();
  scenario.facts.files[kNetplanFile] = scenario.File(Get(), kNetplanFile);
  const std::string vlan = "vlans: {st.50: {id: 50, link: enP2p1s0f1np1}}";
  scenario.AddFile("/etc/netplan/70-storage.yaml", "network: {" + vlan + "}\n");
  EXPECT_EQ(scenario.Detail(Get(), kNetplanFile), "holds");
  scenario.fabric.ports["spark-1"].pop_back();
  EXPECT_EQ(ExplainBlocked(scenario),
            "blocked: /etc/netplan/70-storage.yaml puts st.50 on enP2p1s0f1np1, which only our "
            "file defines: add `ethernets: {enP2p1s0f1np1: {}}` to it");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-needed");
  scenario.AddFile("/etc/netplan/70-storage.yaml",
                   "network: {ethernets: {enP2p1s0f1np1: {}}, " + vlan + "}\n");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.why, "");
}

// As `netplan generate` reads the files once all of them are written.
TEST(NetplanConflict, APortThatAFileDefinesThatComesBackIsTakenOutOfOurs) {
  const std::string adopted = "/etc/netplan/40-cx7.yaml";
  test::PairScenario scenario = MakeConflict();
  scenario.facts.files[adopted] = Absent{};
  scenario.facts.files[kNetplanFile] = scenario.File(Get(), kNetplanFile);
  scenario.AddFile("/etc/netplan/70-storage.yaml",
                   "network: {vlans: {st.50: {id: 50, link: enP2p1s0f1np1}}}\n");
  scenario.fabric.ports["spark-1"].pop_back();
  const auto adopt = [&](const std::string& text) {
    scenario.facts.ledger = Ledger{.entries = {{.kind = "file",
                                                .name = adopted,
                                                .plugin = "netplan",
                                                .original = {WriteFile{adopted, {text}}}}}};
  };
  adopt("network: {ethernets: {enP2p1s0f1np1: {}}}\n");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.why, "");
  // It stays away, since ours has one of its ports.
  adopt("network: {ethernets: {enp1s0f1np1: {}, enP2p1s0f1np1: {}}}\n");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-needed");
  // So does one that `adopt` still names.
  adopt("network: {ethernets: {enP2p1s0f1np1: {}}}\n");
  const Value nodes = test::Map({{"spark-1", test::Text("7ad321ebe07d")}});
  const Value entry = test::Map({{"file", test::Text(adopted)}, {"nodes", nodes}});
  scenario.cluster.settings = test::Map({{"adopt", test::List({entry})}});
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-needed");
}

// A file that defined it would configure it, and be in the way of the next apply.
TEST(NetplanConflict, NoDefinitionIsAdvisedOfAPortThatStaysDownWithoutBeingInOurFile) {
  test::PairScenario scenario = MakeConflict();
  scenario.AddFile("/etc/netplan/01-network-manager-all.yaml",
                   "network: {version: 2, renderer: NetworkManager}\n");
  for (auto& [name, link] : scenario.facts.links) link.manager = LinkManager::kNetworkManager;
  scenario.facts.files[kNetplanFile] = scenario.File(Get(), kNetplanFile);
  scenario.AddFile("/etc/netplan/70-storage.yaml",
                   "network: {vlans: {st.50: {id: 50, link: enP2p1s0f1np1}}}\n");
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.fabric.unused_netdevs["spark-1"].push_back("enP2p1s0f1np1");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.why,
            "/etc/netplan/70-storage.yaml puts st.50 on enP2p1s0f1np1, which only our file defines "
            "and `unused_cages: down` keeps down: take st.50 out of it, or set `unused_cages: "
            "ignore` and add `ethernets: {enP2p1s0f1np1: {}}` to it");
}

TEST(NetplanConflict, APortThatStaysInOurFileNeedsNoOtherDefinition) {
  test::PairScenario scenario = MakeConflict();
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  scenario.facts.files[kNetplanFile] = scenario.File(Get(), kNetplanFile);
  scenario.AddFile("/etc/netplan/70-storage.yaml",
                   "network: {vlans: {st.50: {id: 50, link: enp1s0f0np0}, "
                   "st.51: {id: 51, link: enP2p1s0f1np1}}}\n");
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.fabric.unused_netdevs["spark-1"].push_back("enP2p1s0f1np1");
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.why, "");
  scenario.cluster.fabric.unused_cages = UnusedCages::kIgnore;
  EXPECT_EQ(scenario.Find(Get(), kNetplanFile).blocked.code, "netplan-port-needed");
}

}  // namespace
}  // namespace reconciler::plugins::netplan
