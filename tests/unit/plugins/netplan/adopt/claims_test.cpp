#include "plugins/netplan/adopt/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "plugins/netplan/adopt/owner_files.h"
#include "plugins/netplan/netplan.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Who has a port besides us: profiles of NetworkManager, units of networkd, bonds and bridges.
namespace reconciler::plugins::netplan {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kFileOfOurs = "/etc/netplan/60-spark-reconcile.yaml";
constexpr const char* kFirst = "enp1s0f1np1";
constexpr const char* kSecond = "enP2p1s0f1np1";
constexpr const char* kCx7 = "/etc/NetworkManager/system-connections/cx7-a.nmconnection";
constexpr const char* kFabricUnit = "/etc/systemd/network/05-fabric.network";

// All that is wanted holds, so that nothing but the owner can be in the way.
test::PairScenario MakeConverged(LinkManager manager) {
  test::PairScenario scenario;
  scenario.facts.files[kFileOfOurs] = Absent{};
  if (manager == LinkManager::kNetworkManager) {
    scenario.AddFile("/etc/netplan/01-x.yaml", "network: {renderer: NetworkManager}\n");
  }
  for (const RailPort& port : scenario.fabric.ports.at("spark-1")) {
    LinkFact& link = scenario.facts.links.at(port.netdev);
    link.mtu = port.mtu;
    link.ipv4 = {port.address};
    link.manager = manager;
  }
  scenario.facts.files[kFileOfOurs] = scenario.File(Get(), kFileOfOurs);
  return scenario;
}

std::string MakeProfile(const std::string& rest, const std::string& id = "cx7-a") {
  return "[connection]\nid=" + id +
         "\nuuid=0c2d7e1a-2222-3333-4444-555566667777\ntype=ethernet\ninterface-name="
         "enp1s0f1np1\n" +
         rest;
}

// The next step about a profile that can be adopted.
std::string Offer(const std::string& name, const std::string& text) {
  return "add {nm_profile: " + name + ", nodes: {spark-1: \"" +
         ComputeSha256Hex(text).substr(0, 12) + "\"}} to adopt, or: nmcli connection modify " +
         name + " connection.autoconnect no, then plan again";
}

test::PairScenario MakeWithProfile(const std::string& text, const std::string& path = kCx7) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkManager);
  scenario.AddFile(path, text);
  return scenario;
}

TEST(NetplanClaims, NothingElseHasAPortThatHolds) {
  for (const LinkManager manager : {LinkManager::kNetworkd, LinkManager::kNetworkManager}) {
    const test::PairScenario scenario = MakeConverged(manager);
    for (const char* name : {kFileOfOurs, kFirst, kSecond}) {
      EXPECT_EQ(scenario.Detail(Get(), name), "holds");
    }
  }
}

TEST(NetplanClaims, AProfileWithAHigherPriorityBlocksEvenWhileAllValuesAreRight) {
  const test::PairScenario scenario = MakeWithProfile(MakeProfile("autoconnect-priority=10\n"));
  EXPECT_EQ(
      scenario.Detail(Get(), kFirst),
      std::string("blocked: cx7-a (") + kCx7 + ") connects it automatically, priority 10 (ours 0)");
  EXPECT_EQ(scenario.Detail(Get(), kFileOfOurs), "holds");
  EXPECT_EQ(scenario.Detail(Get(), kSecond), "holds");
  EXPECT_EQ(scenario.Warning(Get(), kCx7),
            std::string("cx7-a (") + kCx7 +
                ") connects enp1s0f1np1 automatically, priority 10 (ours 0): it comes back at the "
                "next boot or re-plug: " +
                Offer("cx7-a", MakeProfile("autoconnect-priority=10\n")));
}

TEST(NetplanClaims, NothingIsWrittenWhereAProfileHasAPort) {
  test::PairScenario scenario = MakeWithProfile(MakeProfile("autoconnect-priority=10\n"));
  scenario.facts.files[kFileOfOurs] = Absent{};
  scenario.facts.links.at(kSecond).mtu = 1500;
  EXPECT_EQ(scenario.Detail(Get(), kFileOfOurs),
            std::string("blocked: cx7-a (") + kCx7 +
                ") connects enp1s0f1np1 automatically, priority 10 (ours 0): it comes back at the "
                "next boot or re-plug: " +
                Offer("cx7-a", MakeProfile("autoconnect-priority=10\n")));
  EXPECT_EQ(scenario.Detail(Get(), kSecond),
            std::string("blocked: nothing is written here while cx7-a (") + kCx7 +
                ") connects enp1s0f1np1 automatically, priority 10 (ours 0)");
}

TEST(NetplanClaims, AProfileWithTheSamePriorityIsInTheWayToo) {
  const test::PairScenario scenario = MakeWithProfile(MakeProfile(""));
  EXPECT_EQ(scenario.Warning(Get(), kCx7),
            std::string("cx7-a (") + kCx7 +
                ") connects enp1s0f1np1 automatically, priority 0 (ours 0): of the two, "
                "NetworkManager uses the one that was active last: " +
                Offer("cx7-a", MakeProfile("")));
}

TEST(NetplanClaims, AProfileThatIsNotUsedInsteadOfOursIsNotInTheWay) {
  for (const std::string& text :
       {MakeProfile("autoconnect=false\nautoconnect-priority=10\n"),
        MakeProfile("autoconnect-priority=-1\n"),
        MakeProfile("autoconnect-priority=-999\n", "Wired connection 1"),
        std::string("[connection]\ntype=ethernet\n"),
        std::string("[connection]\ntype=ethernet\ninterface-name=enP7s7\n")}) {
    const test::PairScenario scenario = MakeWithProfile(text);
    EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds") << text;
    EXPECT_EQ(scenario.Warning(Get(), kCx7), "none") << text;
  }
}

TEST(NetplanClaims, WhatNetworkManagerDoesNotReadIsNotInTheWay) {
  const std::string text = MakeProfile("autoconnect-priority=10\n");
  for (const char* path : {"/etc/NetworkManager/system-connections/cx7-a~",
                           "/run/NetworkManager/system-connections/netplan-x.nmconnection"}) {
    EXPECT_EQ(MakeWithProfile(text, path).Detail(Get(), kFirst), "holds") << path;
  }
  test::PairScenario scenario = MakeWithProfile(text);
  std::get<FileState>(scenario.facts.files.at(kCx7)).mode = 0644;
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
  scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.AddFile(kCx7, text);
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
}

TEST(NetplanClaims, AProfileOfAPackageIsHiddenByOneInEtcWithItsUuid) {
  const std::string packaged = "/usr/lib/NetworkManager/system-connections/x.nmconnection";
  test::PairScenario scenario = MakeWithProfile(MakeProfile("autoconnect-priority=10\n"), packaged);
  std::get<FileState>(scenario.facts.files.at(packaged)).mode = 0644;
  EXPECT_THAT(scenario.Detail(Get(), kFirst), HasSubstr(packaged));
  test::PairScenario changed = scenario;
  changed.AddFile(kCx7, MakeProfile("autoconnect=false\n"));
  EXPECT_EQ(changed.Detail(Get(), kFirst), "holds");
  scenario.facts
      .files["/etc/NetworkManager/system-connections/0c2d7e1a-2222-3333-4444-555566667777.nmmeta"] =
      Unknown{"is a symbolic link"};  // removed
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
}

TEST(NetplanClaims, AProfileWhoseNameIsMoreThanAWordIsAdvisedOnByItsUuid) {
  const test::PairScenario scenario = MakeWithProfile(MakeProfile("", "my fabric"));
  EXPECT_THAT(scenario.Warning(Get(), kCx7), EndsWith(Offer("0c2d7e1a-2222-3333-4444-555566667777",
                                                            MakeProfile("", "my fabric"))));
}

TEST(NetplanClaims, AProfileThatAlsoConnectsWhatLeadsToTheNodeIsNotToBeSwitchedOff) {
  const test::PairScenario scenario = MakeWithProfile(
      "[connection]\nid=cx7-a\ntype=ethernet\nautoconnect-priority=10\n"
      "[match]\ninterface-name=en*;\n");
  EXPECT_EQ(scenario.Warning(Get(), kCx7),
            std::string("cx7-a (") + kCx7 +
                ") connects enp1s0f1np1, enP2p1s0f1np1 automatically, priority 10 (ours 0): it "
                "comes back at the next boot or re-plug: remove enp1s0f1np1, enP2p1s0f1np1 from "
                "it but leave enP7s7, which carries this session, then plan again");
}

TEST(NetplanClaims, AUnitThatNetworkdReadsBeforeOursBlocksEvenWhileAllValuesAreRight) {
  for (const std::string& text : {std::string("[Match]\nName=enp1s0f1np1\n"),
                                  std::string("[Match]\nName=eth0\nName=enp1s0f1np1\n"),
                                  std::string("[Match]\nName=enp1s0f1np1\n[Link]\n"
                                              "Unmanaged=yes\n")}) {
    test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
    scenario.AddFile(kFabricUnit, text);
    EXPECT_EQ(scenario.Detail(Get(), kFirst),
              std::string("blocked: ") + kFabricUnit + " is read before our file and matches it");
    EXPECT_EQ(scenario.Find(Get(), kFirst).blocked.code, "netplan-foreign-unit");
    EXPECT_EQ(scenario.Detail(Get(), kSecond), "holds");
    const std::string offer = "add {networkd_unit: " + std::string(kFabricUnit) +
                              ", nodes: {spark-1: \"" + ComputeSha256Hex(text).substr(0, 12) +
                              "\"}} to adopt, or ";
    EXPECT_EQ(scenario.Warning(Get(), kFabricUnit),
              std::string(kFabricUnit) +
                  " is read before our file and matches enp1s0f1np1: networkd uses the first file "
                  "that matches, and not ours: " +
                  (text.ends_with("=yes\n") ? "" : offer) +
                  "remove it, or give it a name that sorts after "
                  "10-netplan-enp1s0f1np1.network, then plan again");
  }
}

TEST(NetplanClaims, AUnitOfTwoPortsIsToSortAfterBothOfOurs) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.AddFile(kFabricUnit, "[Match]\nName=enp1s0f1np1 enP2p1s0f1np1\n");
  EXPECT_THAT(scenario.Warning(Get(), kFabricUnit),
              HasSubstr("sorts after 10-netplan-enp1s0f1np1.network"));
}

TEST(NetplanClaims, AUnitThatNetworkdReadsAfterOursIsNotInTheWay) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.AddFile("/etc/systemd/network/20-fabric.network", "[Match]\nName=enp1s0f1np1\n");
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
  scenario.AddFile("/etc/systemd/network/10-netplan-enp1s0f1np1.network",
                   "[Match]\nName=enp1s0f1np1\n");  // hides ours
  EXPECT_THAT(scenario.Detail(Get(), kFirst), HasSubstr("10-netplan-enp1s0f1np1.network is read"));
}

TEST(NetplanClaims, AUnitThatAnotherOneHidesIsNotInTheWay) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.AddFile("/usr/lib/systemd/network/05-fabric.network", "[Match]\nName=enp1s0f1np1\n");
  EXPECT_THAT(scenario.Detail(Get(), kFirst), HasSubstr("blocked: /usr/lib/systemd/network/05-"));
  scenario.AddFile(kFabricUnit, "");
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
}

TEST(NetplanClaims, AUnitCountsForUnusedPortsThatMustBeDown) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.cluster.fabric.unused_cages = UnusedCages::kDown;
  scenario.facts.links.at("enp1s0f0np0").admin_up = false;
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"), "holds");
  scenario.AddFile(kFabricUnit, "[Match]\nName=enp1s0f0np0\n");
  EXPECT_EQ(scenario.Detail(Get(), "enp1s0f0np0"),
            std::string("blocked: ") + kFabricUnit + " is read before our file and matches it");
}

TEST(NetplanClaims, UnknownOwnerBlocksInsteadOfHolding) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkManager);
  scenario.facts.files[kCx7] = Unknown{"is a symbolic link"};
  EXPECT_EQ(scenario.Detail(Get(), kFirst),
            std::string("blocked: unknown: ") + kCx7 + " cannot be read: is a symbolic link");
  scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.files["/etc/systemd/network/20-x.network"] = Unknown{"is a symbolic link"};
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");  // read after ours
  scenario.facts.files[kFabricUnit] = Unknown{"is a symbolic link"};
  scenario.facts.files[kFileOfOurs] = Absent{};
  EXPECT_EQ(scenario.Detail(Get(), kFileOfOurs),
            std::string("blocked: ") + kFabricUnit + " cannot be read: is a symbolic link");
}

TEST(NetplanClaims, DropInsOfOurUnitAreNamed) {
  const std::string path = "/etc/systemd/network/10-netplan-enp1s0f1np1.network.d/mtu.conf";
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.AddFile(path, "[Link]\nMTUBytes=1500\n");
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
  EXPECT_EQ(
      scenario.Warning(Get(), path),
      path + " adds settings of its own to enp1s0f1np1: move it away, then: networkctl reload");
  EXPECT_EQ(scenario.FindWarning(Get(), path).code, "netplan-foreign-drop-in");
}

TEST(NetplanClaims, ALiveMasterThatNoFileSaysBlocks) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.links["bond0"] = test::Bare("02:53:50:00:01:04");
  for (const char* port : {kFirst, kSecond}) {
    scenario.facts.links.at(port).master = "bond0";
    scenario.facts.links.at(port).ipv4.clear();
    EXPECT_EQ(scenario.Detail(Get(), port), "blocked: bond0 has it among its members");
  }
  EXPECT_EQ(
      scenario.Warning(Get(), "bond0"),
      "bond0 has enp1s0f1np1, enP2p1s0f1np1 among its members, and no netplan file says so: an "
      "apply would cut off what uses bond0: ip link set dev enp1s0f1np1 nomaster && ip link "
      "set dev enP2p1s0f1np1 nomaster, remove what makes bond0 at boot, then plan again");
  EXPECT_EQ(scenario.FindWarning(Get(), "bond0").code, "netplan-foreign-master");
}

TEST(NetplanClaims, AMasterOfANetplanFileIsNamedByThatFile) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.links.at(kFirst).master = "bond0";
  scenario.AddFile("/etc/netplan/50-x.yaml",
                   "network: {bonds: {bond0: {interfaces: [enp1s0f1np1]}}}\n");
  EXPECT_EQ(scenario.Warning(Get(), "bond0"), "none");
  EXPECT_THAT(scenario.Warning(Get(), "/etc/netplan/50-x.yaml"), HasSubstr("enp1s0f1np1"));
}

TEST(NetplanClaims, APortBelowWhatLeadsToTheNodeIsNeverTouched) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.links["bond0"] = test::Bare("02:53:50:00:01:04");
  scenario.facts.links["bond0.5"] = {.below = "bond0"};
  scenario.facts.links.at(kFirst).master = "bond0";
  scenario.facts.session.interface = "bond0.5";
  EXPECT_EQ(scenario.Detail(Get(), kFirst),
            "blocked: enp1s0f1np1 is a member of bond0, which is below bond0.5, which carries this "
            "session and is never touched");
  EXPECT_EQ(
      scenario.Warning(Get(), "bond0"),
      "bond0 has enp1s0f1np1 among its members, and no netplan file says so: an apply would cut "
      "off what uses bond0: enp1s0f1np1 is a member of bond0, which is below bond0.5, which "
      "carries this session, so leave bond0 as it is; the manifest must name another cage or "
      "address");
}

TEST(NetplanClaims, WhatIsOnTopOfAPortIsNamed) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.links["storage"] = {.below = kFirst};
  EXPECT_EQ(scenario.Detail(Get(), kFirst), "holds");
  EXPECT_EQ(scenario.Warning(Get(), "storage"),
            "storage is on top of enp1s0f1np1: it shares the port's bandwidth and MTU, and its "
            "flaps: remove storage, or put it on another interface");
}

TEST(NetplanClaims, NoAdviceRemovesAnInterfaceOnTopOfAPortThatLeadsToTheNode) {
  test::PairScenario scenario = MakeConverged(LinkManager::kNetworkd);
  scenario.facts.links["mgmt"] = {.below = kFirst};
  scenario.facts.session.interface = "mgmt";
  EXPECT_EQ(
      scenario.Warning(Get(), "mgmt"),
      "mgmt is on top of enp1s0f1np1: it shares the port's bandwidth and MTU, and its flaps: "
      "mgmt carries this session, so leave mgmt as it is; the manifest must name another cage "
      "or address");
}

TEST(NetplanClaims, AProfileForAnyPortCountsWhereItsPriorityIsHigher) {
  for (const auto& [priority, detail] :
       {std::pair("0", "holds"),
        std::pair("5",
                  "blocked: any (/etc/NetworkManager/system-connections/any.nmconnection) "
                  "connects it automatically, priority 5 (ours 0)")}) {
    test::PairScenario scenario = MakeConverged(LinkManager::kNetworkManager);
    scenario.facts.files["/etc/NetworkManager/system-connections/any.nmconnection"] =
        FileState{.content = fmt::format(
                      "[connection]\nid=any\ntype=ethernet\nautoconnect-priority={}\n", priority),
                  .mode = 0600};
    EXPECT_EQ(scenario.Detail(Get(), kFirst), detail);
  }
}

TEST(NetplanClaims, DropInsOfEveryUnitAreRead) {
  std::set<std::string> patterns;
  for (const Read& read : ListOwnerReads()) {
    if (const auto* files = std::get_if<ReadFiles>(&read)) patterns.insert(files->pattern);
  }
  for (const char* folder : {"/etc", "/run", "/usr/local/lib", "/usr/lib"}) {
    EXPECT_TRUE(patterns.contains(std::string(folder) + "/systemd/network/*.network.d/*.conf"))
        << folder;
  }
}

}  // namespace
}  // namespace reconciler::plugins::netplan
