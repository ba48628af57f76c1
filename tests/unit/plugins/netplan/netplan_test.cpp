#include "plugins/netplan/netplan.h"

#include <gmock/gmock.h>

#include "plugins/netplan/render.h"
#include "reconciler/base/mark.h"
#include "reconciler/fabric/link_local.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFile = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kUnmanaged = "/etc/NetworkManager/conf.d/60-spark-reconcile.conf";
constexpr const char* kRail0 = "enp1s0f1np1";
constexpr const char* kRail1 = "enP2p1s0f1np1";

constexpr const char* kPorts =
    "network:\n"
    "  version: 2\n"
    "  ethernets:\n"
    "    enp1s0f1np1:\n"
    "      dhcp4: false\n"
    "      dhcp6: false\n"
    "      accept-ra: false\n"
    "      link-local: []\n"
    "      addresses: [192.168.177.1/24]\n"
    "      mtu: 9000\n"
    "      optional: true\n"
    "    enP2p1s0f1np1:\n"
    "      dhcp4: false\n"
    "      dhcp6: false\n"
    "      accept-ra: false\n"
    "      link-local: []\n"
    "      addresses: [192.168.178.1/24]\n"
    "      mtu: 9000\n"
    "      optional: true\n";

test::PairScenario Scenario() {
  test::PairScenario scenario;
  scenario.facts.files[kFile] = Absent{};
  scenario.facts.files[kUnmanaged] = Absent{};
  scenario.AddFile("/etc/netplan/01-management.yaml",
                   "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n"
                   "    enP7s7: {addresses: [192.168.1.21/24]}\n");
  return scenario;
}

test::PairScenario NetworkManagerScenario() {
  test::PairScenario scenario = Scenario();
  scenario.AddFile("/lib/netplan/00-network-manager-all.yaml",
                   "network:\n  version: 2\n  renderer: NetworkManager\n");
  scenario.AddFile("/etc/netplan/01-management.yaml",
                   "network:\n  version: 2\n  ethernets: {enP7s7: {dhcp4: true}}\n");
  for (auto& [name, link] : scenario.facts.links) link.manager = LinkManager::kNetworkManager;
  return scenario;
}

// The node as a successful apply leaves it.
test::PairScenario Applied(test::PairScenario scenario) {
  scenario.facts.files[kFile] = scenario.File(Get(), kFile);
  for (const RailPort& port : scenario.fabric.ports["spark-1"]) {
    LinkFact& link = scenario.facts.links[port.netdev];
    link.mtu = 9000;
    link.ipv4 = {port.address};
    link.ipv6 = {"fe80::1/64"};
  }
  return scenario;
}

TEST(Netplan, FileHoldsBothTwinsAndNoRenderer) {
  EXPECT_EQ(Scenario().File(Get(), kFile),
            (FileState{.content = FormatOwnedFile("homelab", kPorts), .mode = 0600}));
}

TEST(Netplan, FileAndLiveStateAreSeparateResources) {
  EXPECT_THAT(Scenario().Names(Get()), ElementsAre(kFile, kRail0, kRail1));
  EXPECT_EQ(Scenario().Detail(Get(), kFile), "(0600, 21 lines)");
  EXPECT_EQ(Scenario().Detail(Get(), kRail0), "mtu 1500 → 9000, +192.168.177.1/24");
}

TEST(Netplan, NothingDiffersAfterApply) {
  for (const test::PairScenario& scenario :
       {Applied(Scenario()), Applied(NetworkManagerScenario())}) {
    for (const Resource& resource : scenario.Resources(Get())) {
      EXPECT_EQ(Diff(resource, "netplan"), std::nullopt) << resource.name;
    }
  }
}

TEST(Netplan, DriftOfEachLiveValueIsADifferenceAndNothingElseIsNamed) {
  test::PairScenario scenario = Applied(Scenario());
  LinkFact& link = scenario.facts.links[kRail0];
  const LinkFact good = link;
  link.mtu = 1500;
  EXPECT_EQ(scenario.Detail(Get(), kRail0), "mtu 1500 → 9000");
  link = good;
  link.ipv4.insert(link.ipv4.begin(), *ParseIpv4Prefix("10.9.9.9/24"));
  EXPECT_EQ(scenario.Detail(Get(), kRail0), "-10.9.9.9/24");
  link = good;
  link.admin_up = link.carrier = false;
  EXPECT_EQ(scenario.Detail(Get(), kRail0), "down → up");
  link = LinkFact{.mtu = 1500};
  EXPECT_EQ(scenario.Detail(Get(), kRail0), "down → up, mtu 1500 → 9000, +192.168.177.1/24");
}

// networkd and NetworkManager drop what no file lists when they configure the port.
TEST(Netplan, AChangeNamesTheIpv6AddressesAndRoutesThatGoWithIt) {
  test::PairScenario scenario = Scenario();
  scenario.facts.network.by_hand = {{kRail0, {"fd00::1/64", "route 10.5.0.0/24"}},
                                    {kRail1, {"route 10.6.0.0/24"}}};
  EXPECT_EQ(scenario.Detail(Get(), kRail0),
            "mtu 1500 → 9000, +192.168.177.1/24, -fd00::1/64, -route 10.5.0.0/24");
  test::PairScenario applied = Applied(Scenario());
  applied.facts.network.by_hand = scenario.facts.network.by_hand;
  EXPECT_EQ(Diff(applied.Find(Get(), kRail0), "netplan"), std::nullopt);
}

TEST(Netplan, AChangeNamesIpv6RoutesAsThoseOfIpv4) {
  test::PairScenario scenario = Scenario();
  ProbeReply reply;
  reply.commands["host.ip"] = {.out = R"([]
[{"dst":"10.5.0.0/24","dev":"enp1s0f1np1","protocol":"boot"},
 {"dst":"192.168.1.0/24","dev":"enP7s7","protocol":"kernel"}]
[{"dst":"fd00:5::/64","dev":"enp1s0f1np1","table":"main","protocol":"boot"}]
)"};
  Get().parse(reply, scenario.facts);
  EXPECT_EQ(scenario.Detail(Get(), kRail0),
            "mtu 1500 → 9000, +192.168.177.1/24, -route 10.5.0.0/24, -route fd00:5::/64");
}

TEST(Netplan, APortThatGoesDownNamesTheIpv6AddressesAndRoutesThatGoWithIt) {
  test::PairScenario scenario = Scenario();
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  scenario.facts.network.by_hand = {{"enp1s0f0np0", {"fd00::1/64", "route 10.5.0.0/24"}}};
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"), "up → down, -fd00::1/64, -route 10.5.0.0/24");
  scenario.facts.links["enp1s0f0np0"].admin_up = false;
  EXPECT_EQ(Diff(scenario.Find(Get(), "enp1s0f0np0"), "netplan"), std::nullopt);
}

TEST(Netplan, MissingCarrierIsNoChange) {
  for (test::PairScenario scenario : {Applied(Scenario()), Applied(NetworkManagerScenario())}) {
    scenario.facts.links[kRail0].carrier = false;
    scenario.facts.links[kRail0].ipv4.clear();
    EXPECT_EQ(scenario.Detail(Get(), kRail0), "holds");
  }
}

TEST(Netplan, WithoutACarrierOnlyNetworkdCanSetTheMtu) {
  test::PairScenario scenario = Applied(Scenario());
  scenario.facts.links[kRail0].carrier = false;
  scenario.facts.links[kRail0].mtu = 1500;
  EXPECT_EQ(scenario.Detail(Get(), kRail0), "mtu 1500 → 9000");
  test::PairScenario other = Applied(NetworkManagerScenario());
  other.facts.links[kRail0].carrier = false;
  other.facts.links[kRail0].mtu = 1500;
  EXPECT_EQ(other.Detail(Get(), kRail0), "holds");
}

std::string Install(const std::string& permissions) {
  return "install --compare -D -m " + permissions + " -t /run/systemd/network -- {} + ";
}

// A file that netplan gives to its reader alone stays so, and has the mode of the next boot.
TEST(Netplan, NetworkdActivationTouchesOurInterfacesOnly) {
  const std::string ours =
      "find /run/spark-reconcile/netplan/run/systemd/network ( -false "
      "-o -name 10-netplan-enp1s0f1np1.network -o -name 10-netplan-enp1s0f1np1.link "
      "-o -name 10-netplan-enP2p1s0f1np1.network -o -name 10-netplan-enP2p1s0f1np1.link ) ";
  EXPECT_THAT(
      test::Lines(Scenario().Find(Get(), kFile).triggers),
      ElementsAre("rm -rf /run/spark-reconcile/netplan",
                  "mkdir -p -m 0700 /run/spark-reconcile/netplan",
                  "mkdir -p -m 0755 /etc/netplan /run/netplan",
                  "cp -rp --parents -t /run/spark-reconcile/netplan -- /etc/netplan /run/netplan",
                  "env SYSTEMD_OFFLINE=1 netplan generate --root-dir /run/spark-reconcile/netplan",
                  "rmdir --ignore-fail-on-non-empty /run/netplan",
                  "stat --format=%A %U:%G %n -- "
                  "/run/spark-reconcile/netplan/run/systemd/network/"
                  "10-netplan-enp1s0f1np1.network "
                  "/run/spark-reconcile/netplan/run/systemd/network/"
                  "10-netplan-enP2p1s0f1np1.network",
                  ours + "( -perm 0640 -group systemd-network -exec " +
                      Install("0640 -g systemd-network") + "-o -perm 0640 -exec " +
                      Install("0640 -g root") + "-o -exec " + Install("0644 -g root") + ")",
                  "find /run/spark-reconcile/netplan/run -path "
                  "/run/spark-reconcile/netplan/run/udev/rules.d/90-netplan.rules ( -perm 0640 "
                  "-exec install --compare -D -m 0640 -g root -t /run/udev/rules.d -- {} + -o "
                  "-exec install --compare -D -m 0644 -g root -t /run/udev/rules.d -- {} + )",
                  "rm -r /run/spark-reconcile/netplan", "networkctl reload",
                  "networkctl reconfigure enp1s0f1np1", "networkctl reconfigure enP2p1s0f1np1"));
}

TEST(Netplan, NetworkManagerActivationTouchesOurInterfacesOnly) {
  const std::vector<std::string> lines =
      test::Lines(NetworkManagerScenario().Find(Get(), kFile).triggers);
  ASSERT_EQ(lines.size(), 13U);
  EXPECT_EQ(lines[3],
            "cp -rp --parents -t /run/spark-reconcile/netplan -- "
            "/lib/netplan/00-network-manager-all.yaml /etc/netplan /run/netplan");
  EXPECT_EQ(lines[7],
            "find /run/spark-reconcile/netplan/run/NetworkManager/system-connections ( -false "
            "-o -name netplan-enp1s0f1np1.nmconnection "
            "-o -name netplan-enP2p1s0f1np1.nmconnection ) ( -exec install --compare -D -m 0600 "
            "-g root -t /run/NetworkManager/system-connections -- {} + )");
  EXPECT_EQ(lines[10],
            "nmcli connection load "
            "/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection "
            "/run/NetworkManager/system-connections/netplan-enP2p1s0f1np1.nmconnection");
  EXPECT_EQ(lines[11], "nmcli --wait 45 connection up id netplan-enp1s0f1np1 ifname enp1s0f1np1");
}

TEST(Netplan, LinkActivationIsThatOfTheFileForOneInterface) {
  const test::PairScenario scenario = Scenario();
  std::vector<RunCommand> file = scenario.Find(Get(), kFile).triggers;
  const std::vector<RunCommand> link = scenario.Find(Get(), kRail1).triggers;
  file.erase(file.end() - 2);  // of the other rail
  EXPECT_EQ(link, file);
}

TEST(Netplan, NetworkManagerIsNotQueriedToActivateAPortWithoutCarrier) {
  test::PairScenario scenario = NetworkManagerScenario();
  scenario.facts.links[kRail0].carrier = false;
  for (const std::string& line : test::Lines(scenario.Find(Get(), kFile).triggers)) {
    EXPECT_THAT(line, Not(HasSubstr("connection up id netplan-enp1s0f1np1")));
  }
  scenario.facts.links[kRail0].admin_up = false;  // a port that is down shows no carrier
  EXPECT_THAT(test::Lines(scenario.Find(Get(), kFile).triggers),
              testing::Contains(HasSubstr("connection up id netplan-enp1s0f1np1")));
}

TEST(Netplan, RevertRestoresLiveValues) {
  test::PairScenario scenario = Scenario();
  scenario.facts.links[kRail0].ipv4 = {*ParseIpv4Prefix("10.0.0.1/30")};
  EXPECT_THAT(
      test::Lines(scenario.Find(Get(), kRail0).revert),
      ElementsAre("ip link set dev enp1s0f1np1 mtu 1500", EndsWith(" sh enp1s0f1np1 10.0.0.1/30"),
                  "ip link set dev enp1s0f1np1 up"));
}

// Of a subnet the kernel takes the first as the source of what it sends.
TEST(Netplan, RevertRestoresAddressesInTheirOrderWhichIsNoDifference) {
  test::PairScenario scenario = Scenario();
  std::vector<Ipv4Prefix>& addresses = scenario.facts.links[kRail0].ipv4;
  addresses = {*ParseIpv4Prefix("10.0.0.5/24"), *ParseIpv4Prefix("10.0.0.1/24")};
  const Resource link = scenario.Find(Get(), kRail0);
  EXPECT_THAT(test::Lines(link.revert)[1], EndsWith(" sh enp1s0f1np1 10.0.0.5/24 10.0.0.1/24"));
  EXPECT_THAT(test::Lines(link.prune_commands->after),
              testing::Contains(EndsWith(" sh enp1s0f1np1 10.0.0.5/24 10.0.0.1/24")));
  std::swap(addresses[0], addresses[1]);
  EXPECT_EQ(scenario.Find(Get(), kRail0).observed, link.observed);
}

TEST(Netplan, APortThatIsGoneHasNoLiveValuesToRestore) {
  for (const Action& action : Scenario().Find(Get(), kRail0).revert) {
    EXPECT_EQ(std::get<RunCommand>(action).sets, "/sys/class/net/enp1s0f1np1");
  }
}

TEST(Netplan, OnlyTheCommandsOfNetworkManagerMayMakeSystemdReloadItsUnits) {
  for (const RunCommand& command : Scenario().Find(Get(), kFile).triggers) {
    EXPECT_TRUE(command.without_reload) << testing::PrintToString(command.argv);
  }
  for (const RunCommand& command : NetworkManagerScenario().Find(Get(), kFile).triggers) {
    EXPECT_NE(command.without_reload, command.argv[0] == "nmcli") << command.argv[0];
  }
}

// All but the reload of what was made.
TEST(Netplan, WhatMakesGeneratedFilesNamesThem) {
  const auto triggers = Scenario().Find(Get(), kFile).triggers;
  for (const RunCommand& trigger : triggers) {
    if (trigger.argv[0] == "networkctl") {
      EXPECT_THAT(trigger.makes, IsEmpty());
    } else {
      EXPECT_THAT(trigger.makes,
                  ElementsAre("/run/systemd/network/10-netplan-enp1s0f1np1.network",
                              "/run/systemd/network/10-netplan-enp1s0f1np1.link",
                              "/run/systemd/network/10-netplan-enP2p1s0f1np1.network",
                              "/run/systemd/network/10-netplan-enP2p1s0f1np1.link",
                              "/run/udev/rules.d/90-netplan.rules"));
    }
  }
  EXPECT_THAT(
      NetworkManagerScenario().Find(Get(), kFile).triggers[0].makes,
      ElementsAre("/run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection",
                  "/run/NetworkManager/system-connections/netplan-enP2p1s0f1np1.nmconnection",
                  "/run/udev/rules.d/90-netplan.rules"));
}

// They return from the journal: no command removes what was there before.
TEST(Netplan, ARevertRemovesNoGeneratedFile) {
  for (const std::string& line : test::Lines(Scenario().Find(Get(), kFile).revert)) {
    EXPECT_THAT(line, Not(HasSubstr("rm ")));
  }
}

// systemd-networkd sets them for a port that it manages, and leaves them behind.
TEST(Netplan, WhatTheManagerSetsIsRestoredByRevertAndPrune) {
  test::PairScenario scenario = Scenario();
  ProbeReply reply;
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    const auto* value = std::get_if<ReadValue>(&read);
    if (value == nullptr || value->path.find(kRail0) == std::string::npos) continue;
    const bool missing = value->path.ends_with("addr_gen_mode");
    reply.values[value->path] = missing ? Observed<std::string>(Absent{}) : "1";
  }
  EXPECT_EQ(reply.values.size(), 3u);
  Get().parse(reply, scenario.facts);
  const Resource link = scenario.Find(Get(), kRail0);
  const std::vector<std::string> revert = test::Lines(link.revert);
  EXPECT_THAT(std::vector<std::string>(revert.begin(), revert.begin() + 3),
              ElementsAre("sysctl -w -- net.ipv6.conf.enp1s0f1np1.accept_ra=1",
                          "sysctl -w -- net.ipv4.conf.enp1s0f1np1.promote_secondaries=1",
                          "ip link set dev enp1s0f1np1 mtu 1500"));
  EXPECT_THAT(test::Lines(link.prune_commands->after),
              testing::Contains("sysctl -w -- net.ipv6.conf.enp1s0f1np1.accept_ra=1"));
}

TEST(Netplan, UnusedCagesAreLeftAloneUnlessTheManifestWantsThemDown) {
  test::PairScenario scenario = Scenario();
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_THAT(scenario.Names(Get()),
              ElementsAre(kFile, kRail0, kRail1, "enp1s0f0np0", "enP2p1s0f0np0"));
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"), "up → down");
  EXPECT_THAT(scenario.File(Get(), kFile).content,
              testing::EndsWith("    enP2p1s0f0np0:\n"
                                "      dhcp4: false\n"
                                "      dhcp6: false\n"
                                "      accept-ra: false\n"
                                "      link-local: []\n"
                                "      optional: true\n"
                                "      activation-mode: off\n"));
  EXPECT_THAT(test::Lines(scenario.Find(Get(), "enp1s0f0np0").triggers),
              testing::Contains("networkctl reconfigure enp1s0f0np0"));
}

TEST(Netplan, NetworkManagerLetsGoOfPortsThatStayDown) {
  test::PairScenario scenario = NetworkManagerScenario();
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_THAT(scenario.Names(Get()),
              ElementsAre(kFile, kUnmanaged, kRail0, kRail1, "enp1s0f0np0", "enP2p1s0f0np0"));
  EXPECT_EQ(scenario.File(Get(), kFile).content,
            FormatOwnedFile("homelab", FormatNetplan(scenario.fabric.ports.at("spark-1"), {},
                                                     Renderer::kNetworkManager)));
  EXPECT_EQ(scenario.File(Get(), kUnmanaged).content,
            FormatOwnedFile("homelab",
                            "[keyfile]\nunmanaged-devices+=interface-name:enp1s0f0np0;"
                            "interface-name:enP2p1s0f0np0;\n"));
  EXPECT_THAT(test::Lines(scenario.Find(Get(), kUnmanaged).triggers),
              ElementsAre("nmcli general reload conf"));
  const Resource link = scenario.Find(Get(), "enp1s0f0np0");
  EXPECT_THAT(test::Lines(link.apply), ElementsAre("ip link set dev enp1s0f0np0 down"));
  EXPECT_THAT(test::Lines(link.revert), ElementsAre("ip link set dev enp1s0f0np0 up"));
}

TEST(Netplan, PortsAreReturnedToNetworkManagerByOurOwnFileOnly) {
  test::PairScenario scenario = NetworkManagerScenario();
  scenario.AddFile(kUnmanaged, "[keyfile]\nunmanaged-devices=none\n");
  EXPECT_THAT(scenario.Names(Get()), ElementsAre(kFile, kRail0, kRail1));
  scenario.AddFile(kUnmanaged, FormatOwnedFile("homelab", "[keyfile]\n"));
  EXPECT_EQ(scenario.Detail(Get(), kUnmanaged), "(0600, 3 lines)");
  EXPECT_TRUE(std::holds_alternative<Absent>(scenario.Find(Get(), kUnmanaged).desired));
}

TEST(Netplan, NodeWithoutPortsIsNeitherReadNorChanged) {
  test::PairScenario scenario = Scenario();
  scenario.fabric.ports.clear();
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
  EXPECT_TRUE(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]).empty());
}

// netplan 1.1 reads no file at all where `networkmanager` stands at a port of another renderer.
TEST(Netplan, APortOfNetworkManagerSaysSoItself) {
  EXPECT_EQ(FormatNetplan({test::PairPort(1, 0)}, {}, Renderer::kNetworkManager),
            "network:\n"
            "  version: 2\n"
            "  ethernets:\n"
            "    enp1s0f1np1:\n"
            "      dhcp4: false\n"
            "      dhcp6: false\n"
            "      accept-ra: false\n"
            "      link-local: []\n"
            "      addresses: [192.168.177.1/24]\n"
            "      mtu: 9000\n"
            "      optional: true\n"
            "      renderer: NetworkManager\n"
            "      networkmanager: {passthrough: {ipv6.method: link-local}}\n");
}

TEST(Netplan, NamesThatYamlWouldTakeForSomethingElseAreQuoted) {
  for (const auto& [netdev, key] :
       std::vector<std::pair<std::string, std::string>>{{"enp1s0f1np1", "enp1s0f1np1"},
                                                        {"on", "\"on\""},
                                                        {"1e3", "\"1e3\""},
                                                        {"a: {b", "\"a: {b\""},
                                                        {"a\"\n2", "\"a\\\"\\n2\""},
                                                        {"eth0.5", "\"eth0.5\""},
                                                        {"\xff", "\"\\ufffd\""}}) {
    EXPECT_THAT(FormatNetplan({}, {netdev}, Renderer::kNetworkd),
                HasSubstr("ethernets:\n    " + key + ":\n"));
  }
}

// Its triggers would change a port that is held.
TEST(Netplan, TheFileAndItsLinksNeedEachOther) {
  const test::PairScenario scenario = Scenario();
  EXPECT_THAT(scenario.Find(Get(), kFile).needs,
              ElementsAre("spark-1/link/enp1s0f1np1", "spark-1/link/enP2p1s0f1np1"));
  EXPECT_THAT(scenario.Find(Get(), kRail0).needs,
              ElementsAre("spark-1/file//etc/netplan/60-spark-reconcile.yaml"));
}

TEST(Netplan, APortThatIsNotThereHoldsUpNoOther) {
  test::PairScenario scenario = Scenario();
  scenario.facts.links.erase(kRail1);
  EXPECT_THAT(scenario.Find(Get(), kFile).needs, ElementsAre("spark-1/link/enp1s0f1np1"));
}

TEST(Netplan, AnUnusedPortNeedsTheFileOnlyWhereTheFileKeepsItDown) {
  for (const auto& [scenario, needs] :
       {std::pair(Scenario(), 1u), std::pair(NetworkManagerScenario(), 0u)}) {
    test::PairScenario down = scenario;
    down.cluster.fabric.unused_cages = UnusedCages::kDown;
    EXPECT_EQ(down.Find(Get(), "enp1s0f0np0").needs.size(), needs);
  }
}

// The second rail of spark-1.
test::PairScenario LinkLocalScenario(test::PairScenario scenario) {
  RailPort& port = scenario.fabric.ports["spark-1"][1];
  port.address = kLinkLocalSubnet;
  return scenario;
}

TEST(Netplan, ALinkLocalPortHasNoAddressInTheFileAndIpv6ForItsNeighbour) {
  const std::string link_local =
      "      link-local: [ipv4, ipv6]\n"
      "      mtu: 9000\n"
      "      optional: true\n";
  EXPECT_THAT(LinkLocalScenario(Scenario()).File(Get(), kFile).content, EndsWith(link_local));
  EXPECT_THAT(
      LinkLocalScenario(NetworkManagerScenario()).File(Get(), kFile).content,
      EndsWith(link_local + "      renderer: NetworkManager\n"
                            "      networkmanager: {passthrough: {ipv6.method: link-local}}\n"));
}

TEST(Netplan, AnyLinkLocalAddressHoldsAndTheNodeMayTakeAnother) {
  test::PairScenario scenario = Applied(LinkLocalScenario(Scenario()));
  for (const char* address : {"169.254.7.9/16", "169.254.200.1/16"}) {
    scenario.facts.links[kRail1].ipv4 = {*ParseIpv4Prefix(address)};
    EXPECT_EQ(scenario.Detail(Get(), kRail1), "holds") << address;
  }
}

TEST(Netplan, ALinkLocalPortWithoutAnAddressOrWithAnotherOneDiffers) {
  test::PairScenario scenario = Applied(LinkLocalScenario(Scenario()));
  const auto difference = [&](const std::vector<std::string>& addresses) {
    LinkFact& link = scenario.facts.links[kRail1];
    link.ipv4.clear();
    for (const std::string& one : addresses) link.ipv4.push_back(*ParseIpv4Prefix(one));
    return scenario.Detail(Get(), kRail1);
  };
  EXPECT_EQ(difference({}), "+link-local");
  EXPECT_EQ(difference({"192.168.178.1/24"}), "-192.168.178.1/24, +link-local");
  EXPECT_EQ(difference({"10.9.9.9/24", "169.254.7.9/16"}), "-10.9.9.9/24");
  EXPECT_EQ(difference({"169.254.7.9/16", "169.254.8.9/16"}), "-169.254.8.9/16");
}

TEST(Netplan, ARouteToLinkLocalAddressesElsewhereBlocks) {
  test::PairScenario scenario = LinkLocalScenario(Scenario());
  scenario.facts.network.routes =
      std::vector<RouteFact>{{.destination = kLinkLocalSubnet, .netdev = "enP7s7"}};
  EXPECT_EQ(
      scenario.Detail(Get(), kRail1),
      "blocked: fabric subnet 169.254.0.0/16 overlaps 169.254.0.0/16, which this node reaches "
      "over enP7s7: packets for one would go to the other; take the link-local address off "
      "there, or give the rail a subnet");
}

}  // namespace
}  // namespace reconciler::plugins::netplan
