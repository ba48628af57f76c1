#include "plugins/netplan/boot_unit.h"

#include <gmock/gmock.h>

#include "plugins/netplan/netplan.h"
#include "plugins/netplan/prune_check.h"
#include "plugins/netplan/reads/boot_services.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Services of others that configure ports at boot, and those that the manifest's `adopt` names.
namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kService = "fabric.service";
constexpr const char* kScript = "/usr/local/sbin/fabric.sh";
constexpr const char* kWants = "multi-user.target.wants";
const std::string kUnitDigest(64, 'a');
const std::string kScriptDigest(64, 'b');
const std::string kSystemctlEnable = "systemctl --no-reload enable -- fabric.service";

BootService MakeService() {
  return {.name = kService,
          .active = "active",
          .wanted_by = {kWants},
          .installs = {kWants},
          .files = {{.path = "/etc/systemd/system/fabric.service", .digest = kUnitDigest},
                    {.path = kScript,
                     .digest = kScriptDigest,
                     .netdevs = {"enp1s0f1np1"},
                     .configures = true}}};
}

struct BootCase : test::PairScenario {
  BootService service = MakeService();

  BootCase() {
    facts.files["/etc/netplan/60-spark-reconcile.yaml"] = Absent{};
    for (const RailPort& port : fabric.ports.at("spark-1")) {
      LinkFact& link = facts.links.at(port.netdev);
      link.mtu = 9000;
      link.ipv4 = {port.address};
      link.manager = LinkManager::kNetworkd;
    }
  }

  const ClusterFacts all = {};

  void Store() { facts.network.boot_services = std::vector<BootService>{service}; }

  PluginInput Input() {
    Store();
    return {cluster, fabric, cluster.nodes[0], facts, all};
  }

  void Name(const std::string& digest) {
    cluster.settings = test::Map(
        {{"adopt",
          test::List({test::Map({{"unit", test::Text(kService)},
                                 {"nodes", test::Map({{"spark-1", test::Text(digest)}})}})})}});
  }

  void Adopt() { Name(ComputeDigest(service).substr(0, 12)); }

  Change PlanUnit() {
    Store();
    const auto change = Diff(Find(Get(), kService), "netplan");
    return change ? *change : Change{.detail = "holds"};
  }

  std::string Warn() {
    Store();
    return Warning(Get(), kService);
  }

  std::vector<std::string> Offers() {
    Store();
    std::vector<std::string> lines;
    for (const AdoptableFile& file : Get().adoptable(cluster, fabric, {{{facts.node, facts}}})) {
      lines.push_back(file.entry + " " + file.digest.substr(0, 12));
    }
    return lines;
  }

  Ownership Prune(Change& change, bool uninstall = true) {
    change = {.kind = "unit", .name = kService, .actions = {RunCommand{.argv = {"x"}}}};
    Store();
    return CheckPrune({cluster, fabric, cluster.nodes[0], facts, all, uninstall}, change);
  }
};

TEST(NetplanBootUnit, TheDigestIsThatOfWhatSha256sumPrints) {
  EXPECT_EQ(ComputeDigest(MakeService()),
            ComputeSha256Hex(kUnitDigest + "  /etc/systemd/system/fabric.service\n" +
                             kScriptDigest + "  /usr/local/sbin/fabric.sh\n"));
}

TEST(NetplanBootUnit, AServiceThatConfiguresAPortAtTheNextBootIsAWarning) {
  BootCase one;
  const std::string digest = ComputeDigest(one.service).substr(0, 12);
  EXPECT_EQ(one.Warn(),
            "fabric.service runs /usr/local/sbin/fabric.sh, which configures enp1s0f1np1 again at "
            "the next boot: add {unit: fabric.service, nodes: {spark-1: \"" +
                digest + "\"}} to adopt, or: systemctl disable fabric.service, then plan again");
  EXPECT_THAT(one.Offers(), ElementsAre("unit: fabric.service " + digest));
  one.service.files = {{.path = "/etc/systemd/system/fabric.service",
                        .digest = kUnitDigest,
                        .netdevs = {"enP2p1s0f1np1", "enp1s0f1np1"},
                        .configures = true}};
  EXPECT_THAT(one.Warn(),
              testing::StartsWith("fabric.service configures enp1s0f1np1, enP2p1s0f1np1 again at "
                                  "the next boot: add {unit: "));
  EXPECT_EQ(one.FindWarning(Get(), kService).code, "netplan-boot-service");
}

TEST(NetplanBootUnit, WhatIsNotEnabledOrNamesNoPortOfOursOrConfiguresNothingIsNoWarning) {
  BootCase one;
  one.service.wanted_by.clear();
  EXPECT_EQ(one.Warn(), "none");
  one.service = MakeService();
  one.service.files[1].configures = false;
  EXPECT_EQ(one.Warn(), "none");
  one.service = MakeService();
  one.service.files[1].netdevs = {"enp1s0f0np0"};  // of the other cage, which is left alone
  EXPECT_EQ(one.Warn(), "none");
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_THAT(one.Warn(), HasSubstr("configures enp1s0f0np0 again"));
}

TEST(NetplanBootUnit, AnAdoptedOneIsStoppedAndDisabledAndEnabledAndStartedAgain) {
  BootCase one;
  one.Adopt();
  const Change change = one.PlanUnit();
  EXPECT_EQ(change.change, ChangeKind::kAdopt);
  EXPECT_EQ(change.detail,
            "stopped and disabled; /usr/local/sbin/fabric.sh configures enp1s0f1np1");
  EXPECT_EQ(change.owner, (OtherOwner{.name = "fabric.service", .claims = {"enp1s0f1np1"}}));
  EXPECT_EQ(change.impact, Impact::kLinkFlap);
  EXPECT_THAT(test::Lines(change.actions),
              ElementsAre("systemctl --no-reload disable -- fabric.service",
                          "systemctl stop -- fabric.service"));
  // A prune that a power loss cuts off is reverted at boot by these actions.
  EXPECT_TRUE(std::get<RunCommand>(change.actions[0]).at_boot);
  const std::string start =
      "sh -c if systemctl -q is-active sysinit.target; then timeout 60 systemctl start -- \"$1\"; "
      "else systemctl --no-block start -- \"$1\"; fi; exit 0 sh fabric.service";
  EXPECT_THAT(test::Lines(change.revert), ElementsAre(kSystemctlEnable, start));
  EXPECT_THAT(test::Lines(change.prune_commands.before), ElementsAre(kSystemctlEnable, start));
  EXPECT_THAT(change.prune_commands.after, IsEmpty());
  // What it runs when it stops may take our addresses away.
  EXPECT_THAT(test::Lines(change.triggers),
              testing::Contains("networkctl reconfigure enp1s0f1np1"));
  EXPECT_THAT(one.Find(Get(), kService).needs,
              ElementsAre("spark-1/file//etc/netplan/60-spark-reconcile.yaml"));
  EXPECT_EQ(one.Warn(), "none");
}

TEST(NetplanBootUnit, TheOtherWorkOfAnAdoptedOneIsNamed) {
  BootCase one;
  one.service.files[0].also_runs = {"sysctl"};
  one.service.files[1].also_runs = {"modprobe", "sysctl"};
  one.Adopt();
  EXPECT_EQ(one.PlanUnit().detail,
            "stopped and disabled; /usr/local/sbin/fabric.sh configures enp1s0f1np1; it also runs "
            "modprobe, sysctl");
}

TEST(NetplanBootUnit, OfWhatDoesNotRunOnlyTheStartAtBootIsTakenAway) {
  BootCase one;
  one.service.active = "inactive";
  one.service.files.resize(1);
  one.service.files[0].netdevs = {"enp1s0f1np1"};
  one.service.files[0].configures = true;
  one.Adopt();
  EXPECT_EQ(one.PlanUnit().detail, "disabled; it configures enp1s0f1np1");
  EXPECT_THAT(test::Lines(one.PlanUnit().revert), ElementsAre(kSystemctlEnable));
  one.service.active = "failed";
  EXPECT_EQ(one.PlanUnit().detail, "disabled; it configures enp1s0f1np1");
  one.service.active = "active";
  one.service.wanted_by.clear();
  EXPECT_EQ(one.PlanUnit().detail, "stopped; it configures enp1s0f1np1");
}

TEST(NetplanBootUnit, OnceItIsDisabledAndDoesNotRunItHoldsWhateverItSays) {
  BootCase one;
  one.Name("000000000000");
  one.service.wanted_by.clear();
  one.service.active = "inactive";
  EXPECT_EQ(one.PlanUnit().detail, "holds");
  one.service.files.clear();
  one.service.active.clear();
  EXPECT_EQ(one.PlanUnit().detail, "holds");
  one.service.name = "other.service";
  EXPECT_EQ(one.PlanUnit().detail, "holds");
}

// mesh@.service, enabled for one port, with a script that has the port as an argument.
BootCase MakeInstanceCase() {
  BootCase one;
  one.service.name = "mesh@enp1s0f1np1.service";
  one.service.files = {{.path = "/etc/systemd/system/mesh@.service", .digest = kUnitDigest},
                       {.path = kScript, .digest = kScriptDigest, .configures = true}};
  return one;
}

TEST(NetplanBootUnit, AnInstanceOfATemplateIsAboutThePortInItsName) {
  BootCase one = MakeInstanceCase();
  one.Store();
  const std::string digest = ComputeDigest(one.service).substr(0, 12);
  EXPECT_EQ(one.Warning(Get(), one.service.name),
            "mesh@enp1s0f1np1.service runs /usr/local/sbin/fabric.sh, which configures "
            "enp1s0f1np1 again at the next boot: add {unit: mesh@enp1s0f1np1.service, nodes: "
            "{spark-1: \"" +
                digest +
                "\"}} to adopt, or: systemctl disable mesh@enp1s0f1np1.service, then plan again");
  one.service.name = "mesh@eth9.service";
  one.Store();
  EXPECT_EQ(one.Warning(Get(), one.service.name), "none");
  one.service.name = "mesh@enP7s7.service";
  EXPECT_THAT(one.Offers(), IsEmpty());
}

// Then only its template is there to be read.
TEST(NetplanBootUnit, AnInstanceThatIsDisabledHoldsAndIsEnabledAgain) {
  BootCase one = MakeInstanceCase();
  const std::string name = one.service.name;
  one.service.name = "mesh@.service";
  one.service.wanted_by.clear();
  one.service.active.clear();
  one.cluster.settings = test::Map(
      {{"adopt", test::List({test::Map(
                     {{"unit", test::Text(name)},
                      {"nodes", test::Map({{"spark-1", test::Text("aaaaaaaaaaaa")}})}})})}});
  one.Store();
  EXPECT_EQ(one.Detail(Get(), name), "holds");
  Change change{.kind = "unit", .name = name, .actions = {RunCommand{.argv = {"x"}}}};
  EXPECT_EQ(
      CheckPrune({one.cluster, one.fabric, one.cluster.nodes[0], one.facts, one.all, true}, change),
      Ownership::kOurs);
  EXPECT_NE(change.change, ChangeKind::kBlocked);
  EXPECT_EQ(change.actions.size(), 1u);
}

TEST(NetplanBootUnit, WhatATimerStartsIsAWarningAndNotAdopted) {
  BootCase one;
  one.service.wanted_by = {"fabric.timer"};
  one.service.installs.clear();
  EXPECT_EQ(one.Warn(),
            "fabric.service runs /usr/local/sbin/fabric.sh, which configures enp1s0f1np1 again "
            "whenever fabric.timer starts it: systemctl disable --now fabric.timer");
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.Adopt();
  EXPECT_EQ(one.PlanUnit().detail,
            "is not adopted: fabric.timer starts it: systemctl disable --now fabric.timer");
}

TEST(NetplanBootUnit, OneThatWasChangedIsNotAdopted) {
  BootCase one;
  one.Name("000000000000");
  const std::string now = ComputeDigest(one.service).substr(0, 12);
  EXPECT_EQ(
      one.PlanUnit().detail,
      "is not adopted: the SHA-256 of its files begins with " + now +
          ", and the manifest has 000000000000: read what they say now; to adopt that, write " +
          now + " into the manifest");
  EXPECT_EQ(one.PlanUnit().change, ChangeKind::kBlocked);
}

TEST(NetplanBootUnit, OneThatNamesTheWayToTheNodeIsNeverAdopted) {
  BootCase one;
  one.service.files[1].netdevs = {"enP7s7", "enp1s0f1np1"};
  one.Adopt();
  EXPECT_EQ(
      one.PlanUnit().detail,
      "is not adopted: /usr/local/sbin/fabric.sh names enP7s7 too, which carries this session: "
      "remove what it says of enp1s0f1np1, and leave the rest in effect");
  one.cluster.settings = {};
  EXPECT_THAT(one.Warn(), testing::EndsWith("again at the next boot: remove what it says of "
                                            "enp1s0f1np1, and leave the rest in effect"));
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.service = MakeService();
  one.service.name = "ssh.service";
  one.service.files[0].path = "/etc/systemd/system/ssh.service";
  one.Store();
  EXPECT_THAT(one.Warning(Get(), "ssh.service"),
              testing::EndsWith("boot: remove what it says of our ports"));
  EXPECT_THAT(one.Offers(), IsEmpty());
}

TEST(NetplanBootUnit, WhereTheWayToTheNodeIsUnknownNothingIsAdopted) {
  BootCase one;
  one.facts.network.default_route = Unknown{"ip failed"};
  one.Adopt();
  EXPECT_EQ(one.PlanUnit().detail,
            "is not adopted: cannot determine which interface leads to this node: ip failed: leave "
            "it as it is");
}

TEST(NetplanBootUnit, WhatEnableWouldNotBringBackAsItWasIsNotAdopted) {
  const auto why = [](const BootService& service) {
    BootCase one;
    one.service = service;
    one.Adopt();
    return one.PlanUnit().detail;
  };
  const std::string next = ": systemctl disable fabric.service";
  BootService service = MakeService();
  service.wanted_by = {"graphical.target.wants"};
  EXPECT_EQ(why(service),
            "is not adopted: it is enabled in another way than its [Install] section says" + next);
  service = MakeService();
  service.installs.emplace_back("other");
  EXPECT_EQ(why(service),
            "is not adopted: it is enabled in another way than its [Install] section says" + next);
  service = MakeService();
  service.linked = true;
  EXPECT_EQ(why(service), "is not adopted: its unit is a symbolic link" + next);
  service = MakeService();
  service.files.erase(service.files.begin());
  EXPECT_EQ(why(service), "is not adopted: its unit is not read: it is no text" + next);
  service = MakeService();
  service.files[1].digest.clear();
  EXPECT_EQ(
      why(service),
      "is not adopted: /usr/local/sbin/fabric.sh is larger than 64 KiB, and is not looked at" +
          next);
  service = MakeService();
  service.wanted_by = service.installs = {"network-online.target.requires"};
  EXPECT_EQ(why(service),
            "is not adopted: another unit requires it, and would be stopped with it" + next);
  service = MakeService();
  service.files[1].netdevs = {"enp1s0f0np0"};
  EXPECT_EQ(why(service),
            "is not adopted: it configures none of this node's ports of the fabric: remove it from "
            "adopt");
}

TEST(NetplanBootUnit, WhatCannotBeReadOrIsBetweenTwoStatesIsUnknown) {
  BootCase one;
  one.Adopt();
  one.service.active = "activating";
  EXPECT_EQ(one.PlanUnit().detail, "unknown: it is activating: neither running nor stopped yet");
  StoreBootServices({.commands = {{"netplan.boot_services", {.exit_code = 124}}}}, one.facts);
  const auto change = Diff(one.Find(Get(), kService), "netplan");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->detail, "unknown: systemctl gave no answer in 5 s");
}

TEST(NetplanBootUnit, APruneLeavesAUnitAloneThatIsGoneOrIsTheWayToTheNodeByNow) {
  BootCase one;
  Change change;
  EXPECT_EQ(one.Prune(change), Ownership::kOurs);
  EXPECT_NE(change.change, ChangeKind::kBlocked);
  one.service.files[1].netdevs = {"enP7s7"};
  EXPECT_EQ(one.Prune(change), Ownership::kOurs);
  EXPECT_EQ(change.code, "netplan-leads-to-node");
  EXPECT_EQ(change.detail,
            "/usr/local/sbin/fabric.sh names enP7s7 too, which carries this session");
  one.service.name = "other.service";
  EXPECT_EQ(one.Prune(change), Ownership::kOthers);
  EXPECT_EQ(change.code, "netplan-boot-service-gone");
  EXPECT_EQ(change.detail, "is not there any more; nothing is enabled");
  one.Store();
  one.facts.network.boot_services = Unknown{"no answer"};
  change = {.kind = "unit", .name = kService};
  EXPECT_EQ(CheckPrune({one.cluster, one.fabric, one.cluster.nodes[0], one.facts, one.all}, change),
            Ownership::kOurs);
  EXPECT_EQ(change.detail, "unknown: no answer");
  EXPECT_EQ(change.code, "netplan-boot-service-unknown");
  one.facts.network.boot_services.reset();
  change = {.kind = "unit", .name = kService};
  EXPECT_EQ(CheckPrune({one.cluster, one.fabric, one.cluster.nodes[0], one.facts, one.all}, change),
            Ownership::kOurs);
  EXPECT_EQ(change.detail, "unknown: not read");
}

TEST(NetplanBootUnit, WhatBlocksOurFileBlocksItToo) {
  BootCase one;
  one.Adopt();
  for (const RailPort& port : one.fabric.ports.at("spark-1")) {
    if (port.netdev != "enp1s0f1np1") one.facts.session.interface = port.netdev;
  }
  const Change change = one.PlanUnit();
  EXPECT_EQ(change.change, ChangeKind::kBlocked);
  EXPECT_EQ(change.code, "netplan-leads-to-node");
  EXPECT_EQ(change.detail, "enP2p1s0f1np1 carries this session and is never touched");
}

TEST(NetplanBootUnit, AnUninstallThatLeavesOurFileDoesNotEnableIt) {
  constexpr const char* kOurs = "/etc/netplan/60-spark-reconcile.yaml";
  BootCase one;
  one.facts.ledger =
      Ledger{.entries = {{.kind = "file", .name = kOurs, .digest = ComputeSha256Hex("ours\n")}}};
  one.facts.files[kOurs] = FileState{.content = "ours\n"};
  Change change;
  one.Prune(change);
  EXPECT_NE(change.change, ChangeKind::kBlocked);
  one.facts.files[kOurs] = FileState{.content = "edited\n"};
  one.Prune(change);
  EXPECT_EQ(change.code, "netplan-adopted-in-use");
  EXPECT_EQ(change.detail,
            "is enabled only when /etc/netplan/60-spark-reconcile.yaml is pruned, which was edited "
            "on the node");
  one.facts.files[kOurs] = Unknown{"no answer"};
  one.Prune(change);
  EXPECT_EQ(change.detail,
            "is enabled only when /etc/netplan/60-spark-reconcile.yaml is pruned, which cannot be "
            "read: no answer");
  one.facts.files[kOurs] = FileState{.content = "ours\n"};
  for (const RailPort& port : one.fabric.ports.at("spark-1")) {
    if (port.netdev != "enp1s0f1np1") one.facts.session.interface = port.netdev;
  }
  one.Prune(change);
  EXPECT_EQ(change.detail,
            "is enabled only when /etc/netplan/60-spark-reconcile.yaml is pruned, which is about "
            "an interface that leads to the node");
}

TEST(NetplanBootUnit, WhereAnotherNetplanFileNeedsOursItIsNotEnabled) {
  constexpr const char* kOurs = "/etc/netplan/60-spark-reconcile.yaml";
  const std::string text = "network: {ethernets: {enp1s0f1np1: {}}}\n";
  BootCase one;
  one.facts.ledger =
      Ledger{.entries = {{.kind = "file", .name = kOurs, .digest = ComputeSha256Hex(text)}}};
  one.AddFile(kOurs, text);
  one.AddFile("/etc/netplan/70-x.yaml", "network: {vlans: {x.5: {id: 5, link: enp1s0f1np1}}}\n");
  Change change;
  one.Prune(change);
  EXPECT_EQ(change.code, "netplan-adopted-in-use");
  EXPECT_EQ(change.detail,
            "is enabled only when /etc/netplan/60-spark-reconcile.yaml is pruned, which defines a "
            "port that another netplan file needs");
}

TEST(NetplanBootUnit, WhileOursConfiguresItsPortItIsNotEnabledAgain) {
  BootCase one;
  Change change;
  EXPECT_EQ(one.Prune(change, /*uninstall=*/false), Ownership::kOurs);
  EXPECT_EQ(change.code, "netplan-adopted-in-use");
  EXPECT_EQ(change.detail,
            "adopt names it no more, but /etc/netplan/60-spark-reconcile.yaml configures "
            "enp1s0f1np1 instead of it: name it there again; uninstall enables it");
  one.service.files[1].netdevs = {"enp1s0f0np0"};
  EXPECT_EQ(one.Prune(change, /*uninstall=*/false), Ownership::kOurs);
  EXPECT_NE(change.change, ChangeKind::kBlocked);
}

TEST(NetplanBootUnit, HostileLinesOfTheReplyMakeNoService) {
  NodeFacts facts;
  StoreBootServices({.commands = {{"netplan.boot_services",
                                   {.out = "part x.service /x\nwanted x.service y\nActiveState=z\n"
                                           "Id=\nActiveState=active\n\nservice\nservice a\n"
                                           "digest\nnames\n\xff\xfe\n   \nsets a b c d e\n"
                                           "service a.service file\nnames /a \033[2J 1\n"
                                           "part a.service /a\ndigest 00  /a\n"}}}},
                    facts);
  const auto* services = Known(facts.network.boot_services);
  ASSERT_NE(services, nullptr);
  ASSERT_EQ(services->size(), 1U);
  EXPECT_EQ(services->front().name, "a.service");
  ASSERT_EQ(services->front().files.size(), 1U);
  EXPECT_EQ(services->front().files[0].netdevs[0].find('\033'), std::string::npos);
}

TEST(NetplanBootUnit, NoNameOfANodeReachesACommandOrAManifestWithSignsOfItsOwn) {
  NodeFacts facts;
  StoreBootServices(
      {.commands = {{"netplan.boot_services",
                     {.out = "service $(id).service file\nservice a,}.service file\n"
                             "service .x.service file\nservice a file\n"
                             "service b.service file\nwanted b.service $(id).wants\n"
                             "part b.service /etc/systemd/system/b.service\n"
                             "part b.service /x;reboot\npart b.service relative\n"
                             "names /etc/systemd/system/b.service enp1s0f1np1 3\n"
                             "digest 00  /etc/systemd/system/b.service\ndigest 00  /x;reboot\n"}}}},
      facts);
  const auto* services = Known(facts.network.boot_services);
  ASSERT_NE(services, nullptr);
  ASSERT_EQ(services->size(), 1U);
  EXPECT_EQ(services->front().name, "b.service");
  EXPECT_THAT(services->front().wanted_by, IsEmpty());
  ASSERT_EQ(services->front().files.size(), 1U);
  EXPECT_EQ(services->front().files[0].path, "/etc/systemd/system/b.service");
}

TEST(NetplanBootUnit, UnitsThatWouldBeStoppedWithItAreKnown) {
  NodeFacts facts;
  StoreBootServices({.commands = {{"netplan.boot_services",
                                   {.out = "service a.service file\nId=a.service\n"
                                           "RequiredBy=b.service c.target\nRequisiteOf=\n"
                                           "BoundBy=d.service\nConsistsOf=e.service\n"
                                           "ActiveState=active\n"}}}},
                    facts);
  const auto* services = Known(facts.network.boot_services);
  ASSERT_NE(services, nullptr);
  ASSERT_EQ(services->size(), 1U);
  EXPECT_THAT(services->front().wanted_by, ElementsAre("b.service.requires", "c.target.requires",
                                                       "d.service.requires", "e.service.requires"));
}

TEST(NetplanBootUnit, OneThatAnEarlierApplyDisabledIsStillListed) {
  BootCase one;
  one.service.wanted_by = {};
  one.service.active = "inactive";
  EXPECT_THAT(one.Offers(), IsEmpty());
  one.facts.ledger = Ledger{.cluster = "homelab",
                            .entries = {{.kind = "unit", .name = kService, .plugin = "netplan"}}};
  EXPECT_THAT(one.Offers(),
              ElementsAre("unit: fabric.service " + ComputeDigest(one.service).substr(0, 12)));
}

}  // namespace
}  // namespace reconciler::plugins::netplan
