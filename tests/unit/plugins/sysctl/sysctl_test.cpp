#include "plugins/sysctl/sysctl.h"

#include <gmock/gmock.h>

#include "plugins/sysctl/keys.h"
#include "plugins/sysctl/values.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/probe.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::sysctl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFile = "/etc/sysctl.d/60-spark-reconcile.conf";

Value Section() {
  return test::Map(
      {{"sysctl",
        test::At(16, test::Map({{"net.core.rmem_max", test::Number(268435456)},
                                {"net/ipv4/tcp_rmem", test::Text("4096\t131072  6291456")},
                                {"net.ipv4.ip_forward", test::Number(1)}}))}});
}

test::PairScenario Scenario() {
  test::PairScenario scenario;
  scenario.cluster.settings = Section();
  scenario.facts.files[kFile] = Absent{};
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    for (const char* leaf : {".arp_ignore", ".arp_announce"}) {
      scenario.facts.sysctl.keys[std::string("net.ipv4.conf.") + netdev + leaf] = "0";
    }
  }
  scenario.facts.sysctl.keys["net.core.rmem_max"] = "212992";
  scenario.facts.sysctl.keys["net.ipv4.tcp_rmem"] = "4096 131072 6291456";
  scenario.facts.sysctl.keys["net.ipv4.ip_forward"] = "0";
  return scenario;
}

ProbeReply MakeListReply(const std::string& list, int exit_code = 0) {
  return {.commands = {{"sysctl.readonly", {.exit_code = exit_code, .out = list}}}};
}

std::string CheckText(std::vector<std::pair<std::string, Value>> members) {
  test::PairScenario scenario;
  scenario.cluster.settings = test::Map({{"sysctl", test::Map(std::move(members))}});
  return FormatErrors(Get().check(scenario.cluster, scenario.fabric));
}

TEST(Sysctl, DropInHoldsEveryKeySorted) {
  const FileState wanted{.content = FormatOwnedFile("homelab",
                                                    "net.core.rmem_max = 268435456\n"
                                                    "net.ipv4.conf.enP2p1s0f1np1.arp_announce = 2\n"
                                                    "net.ipv4.conf.enP2p1s0f1np1.arp_ignore = 1\n"
                                                    "net.ipv4.conf.enp1s0f1np1.arp_announce = 2\n"
                                                    "net.ipv4.conf.enp1s0f1np1.arp_ignore = 1\n"
                                                    "net.ipv4.ip_forward = 1\n"
                                                    "net.ipv4.tcp_rmem = 4096 131072 6291456\n"),
                         .mode = 0644};
  EXPECT_EQ(Scenario().File(Get(), kFile), wanted);
}

TEST(Sysctl, LiveValueIsSetAndRevertedByTheSameCommand) {
  const Resource resource = Scenario().Find(Get(), "net.core.rmem_max");
  EXPECT_EQ(Scenario().Detail(Get(), "net.core.rmem_max"), "212992 → 268435456");
  EXPECT_THAT(test::Lines(resource.apply), ElementsAre("sysctl -w -- net.core.rmem_max=268435456"));
  EXPECT_THAT(test::Lines(resource.revert), ElementsAre("sysctl -w -- net.core.rmem_max=212992"));
  EXPECT_EQ(std::get<RunCommand>(resource.revert[0]).sets, "/proc/sys/net/core/rmem_max");
}

TEST(Sysctl, FileThatOthersWroteIsBlockedAndLiveValuesAreNot) {
  test::PairScenario scenario = Scenario();
  scenario.AddFile(kFile, "# another program\n");
  EXPECT_EQ(scenario.Detail(Get(), kFile),
            "blocked: was not written by spark-reconcile: move it away, or remove this from the "
            "manifest");
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"), "212992 → 268435456");
  scenario.AddFile(kFile, FormatOwnedFile("homelab", "x = 1\n") + "y = 2\n");
  EXPECT_THAT(scenario.Detail(Get(), kFile), testing::HasSubstr("+8 -3 lines"));
}

TEST(Sysctl, BlanksAndTabsBetweenNumbersDoNotCount) {
  ProbeReply reply = MakeListReply("- /proc/sys/net/ipv4/tcp_rmem\n");
  reply.values["/proc/sys/net/ipv4/tcp_rmem"] = "4096\t131072\t6291456";
  test::PairScenario scenario = Scenario();
  scenario.facts.sysctl.keys.erase("net.ipv4.tcp_rmem");
  Get().parse(reply, scenario.facts);
  EXPECT_EQ(scenario.Detail(Get(), "net.ipv4.tcp_rmem"), "holds");
}

TEST(Sysctl, MissingKeyIsBlockedAndNotAdded) {
  test::PairScenario scenario = Scenario();
  scenario.facts.sysctl.keys["net.core.rmem_max"] = Absent{};
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"),
            "blocked: wanted 268435456: this kernel (or namespace) has no such key");
}

TEST(Sysctl, ReadOnlyKeyIsBlockedUnlessItHolds) {
  const ProbeReply reply =
      MakeListReply("r /proc/sys/net/core/rmem_max\n- /proc/sys/net/ipv4/ip_forward\n");
  test::PairScenario scenario = Scenario();
  Get().parse(reply, scenario.facts);
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"),
            "blocked: 212992 → 268435456: read-only here");
  EXPECT_EQ(scenario.Detail(Get(), "net.ipv4.ip_forward"), "0 → 1");
  scenario.facts.sysctl.keys["net.core.rmem_max"] = "268435456";
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"), "holds");
}

TEST(Sysctl, KeysOfAnInterfaceThatLeadsToTheNodeAreNeverSet) {
  const std::string key = "net.ipv4.conf.enp1s0f1np1.arp_ignore";
  const std::string session = "enp1s0f1np1 carries this session and is never touched";
  test::PairScenario scenario = Scenario();
  scenario.facts.session.interface = "enp1s0f1np1";
  EXPECT_EQ(scenario.Detail(Get(), key), "blocked: 0 → 1: " + session);
  // Nor by the next boot; what is set now is in the file as well.
  EXPECT_EQ(scenario.File(Get(), kFile).content.find("enp1s0f1np1"), std::string::npos);
  EXPECT_NE(scenario.File(Get(), kFile).content.find("enP2p1s0f1np1"), std::string::npos);
  EXPECT_EQ(scenario.Detail(Get(), "net.ipv4.conf.enP2p1s0f1np1.arp_ignore"), "0 → 1");
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"), "212992 → 268435456");

  scenario = Scenario();
  scenario.facts.links["enp1s0f1np1"].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
  EXPECT_EQ(scenario.Detail(Get(), key),
            "blocked: 0 → 1: enp1s0f1np1 holds the management address 192.168.1.21 and is never "
            "touched");
  scenario = Scenario();
  scenario.facts.network.default_route = std::vector<std::string>{"enp1s0f1np1"};
  EXPECT_EQ(scenario.Detail(Get(), key),
            "blocked: 0 → 1: enp1s0f1np1 carries the default route and is never touched");
  scenario = Scenario();
  scenario.facts.session.interface = "";
  EXPECT_EQ(scenario.Detail(Get(), key),
            "blocked: 0 → 1: cannot determine which interface leads to this node: none holds "
            "192.168.1.21, the address of this session");
  // What is not known takes nothing out of the file.
  EXPECT_EQ(scenario.Detail(Get(), kFile).substr(0, 8), "blocked:");
}

TEST(Sysctl, TheManifestCannotNameTheInterfaceThatLeadsToTheNodeEither) {
  test::PairScenario scenario = Scenario();
  const std::string key = "net.ipv6.conf.enP7s7.accept_ra";
  scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(0)}})}});
  scenario.facts.sysctl.keys[key] = "1";
  EXPECT_EQ(scenario.Detail(Get(), key),
            "blocked: 1 → 0: enP7s7 carries this session and is never touched");
}

TEST(Sysctl, KeysOfNoOrOfAllInterfacesAreAboutNone) {
  EXPECT_EQ(FindInterface("net.ipv4.conf.eth0/5.arp_ignore"), "eth0.5");
  EXPECT_EQ(FindInterface("net.ipv4.neigh.eth0.gc_stale_time"), "eth0");
  for (const char* key : {"net.ipv4.conf.all.rp_filter", "net.ipv6.conf.default.accept_ra",
                          "net.core.rmem_max", "net.ipv4.tcp_rmem", "kernel.a.conf.eth0.x"}) {
    EXPECT_EQ(FindInterface(key), "") << key;
  }
}

TEST(Sysctl, OnlyKeysThatWereRequestedAreStored) {
  NodeFacts facts;
  ProbeReply reply = MakeListReply("- /proc/sys/net/core/rmem_max\n");
  reply.values["/proc/sys/net/core/rmem_max"] = "1";
  reply.values["/proc/sys/kernel/arch"] = "aarch64";
  Get().parse(reply, facts);
  EXPECT_THAT(facts.sysctl.keys,
              testing::ElementsAre(testing::Pair("net.core.rmem_max", testing::_)));
  NodeFacts none;
  Get().parse({.values = reply.values}, none);
  EXPECT_EQ(none, NodeFacts{});
}

TEST(Sysctl, ListThatBrokeOffLosesNoValue) {
  NodeFacts facts;
  ProbeReply reply = MakeListReply("- /proc/sys/net/core/wmem_max\n", 124);
  reply.values["/proc/sys/net/core/rmem_max"] = "1";
  Get().parse(reply, facts);
  EXPECT_EQ(facts.sysctl.keys.at("net.core.rmem_max"), Observed<std::string>("1"));
}

TEST(Sysctl, UnknownValueBlocksInsteadOfChanging) {
  ProbeReply reply = MakeListReply("- /proc/sys/net/core/rmem_max\n");
  reply.values["/proc/sys/net/core/rmem_max"] = Unknown{"Permission denied"};
  test::PairScenario scenario = Scenario();
  Get().parse(reply, scenario.facts);
  EXPECT_EQ(scenario.Detail(Get(), "net.core.rmem_max"), "blocked: unknown: Permission denied");
}

// The manifest's `fabric: {arp: ignore}`, beside its section.
test::PairScenario IgnoreArp() {
  test::PairScenario scenario = Scenario();
  auto& members = std::get<std::vector<Member>>(scenario.cluster.settings.data);
  members.push_back(
      {.key = "fabric", .value = test::Map({{"arp", test::At(12, test::Text("ignore"))}})});
  return scenario;
}

TEST(Sysctl, ArpThatIsIgnoredIsNeitherSetNorWritten) {
  const test::PairScenario scenario = IgnoreArp();
  EXPECT_THAT(scenario.Names(Get()),
              ElementsAre(kFile, "net.core.rmem_max", "net.ipv4.ip_forward", "net.ipv4.tcp_rmem"));
  EXPECT_EQ(scenario.File(Get(), kFile).content.find("arp"), std::string::npos);
  EXPECT_THAT(scenario.Find(Get(), kFile).needs, IsEmpty());
}

TEST(Sysctl, WithoutASectionIgnoredArpLeavesNothingToManage) {
  test::PairScenario scenario = IgnoreArp();
  std::get<std::vector<Member>>(scenario.cluster.settings.data)
      .erase(std::get<std::vector<Member>>(scenario.cluster.settings.data).begin());
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
}

TEST(Sysctl, TheManifestsWordOnAKeyCountsMoreThanTheFabrics) {
  test::PairScenario scenario = Scenario();
  scenario.cluster.settings = test::Map(
      {{"sysctl", test::Map({{"net.ipv4.conf.enp1s0f1np1.arp_ignore", test::Number(2)}})}});
  EXPECT_EQ(scenario.Detail(Get(), "net.ipv4.conf.enp1s0f1np1.arp_ignore"), "0 → 2");
  EXPECT_EQ(scenario.Detail(Get(), "net.ipv4.conf.enP2p1s0f1np1.arp_ignore"), "0 → 1");
}

TEST(Sysctl, NothingIsWantedWithoutSectionAndPorts) {
  test::PairScenario scenario;
  scenario.fabric.ports.clear();
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
  EXPECT_TRUE(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]).empty());
}

TEST(Sysctl, ProbeReadsEachKeyAndReadsReadOnlyOnesAtOnce) {
  const test::PairScenario scenario = Scenario();
  std::vector<std::string> values;
  std::vector<std::string> argv;
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    if (const auto* value = std::get_if<ReadValue>(&read)) values.push_back(value->path);
    if (const auto* command = std::get_if<RunProbe>(&read)) argv = command->argv;
  }
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/tcp_rmem"));
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore"));
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv6/conf/enp1s0f1np1/disable_ipv6"));
  // For `discover`, and for where ARP is not managed.
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/conf/enp1s0f0np0/arp_announce"));
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/conf/all/arp_ignore"));
  ASSERT_GT(argv.size(), 4U);
  EXPECT_THAT(std::vector<std::string>(argv.begin(), argv.begin() + 2), ElementsAre("sh", "-c"));
  EXPECT_EQ(std::vector<std::string>(argv.begin() + 4, argv.end()), values);
}

std::vector<Diagnostic> Diagnose(const test::PairScenario& scenario) {
  const ClusterFacts all{.nodes = {{scenario.facts.node, scenario.facts}}};
  const AdoptOffers offers = scenario.CollectOffers(Get(), all);
  return Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                         scenario.facts, all, false, &offers});
}

TEST(Sysctl, IgnoredArpThatMayMisleadIsNoted) {
  test::PairScenario scenario = IgnoreArp();
  scenario.facts.sysctl.keys["net.ipv4.conf.enP2p1s0f1np1.arp_ignore"] = "1";
  const std::vector<Diagnostic> said = Diagnose(scenario);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].severity, Severity::kInforms);
  EXPECT_EQ(said[0].code, "sysctl-arp-ignored");
  EXPECT_EQ(said[0].message,
            "sysctl: fabric.arp is ignore, and a port may answer ARP for the address of another "
            "one of its node: found arp_ignore 0, arp_announce 0 on enp1s0f1np1; arp_ignore 1, "
            "arp_announce 0 on enP2p1s0f1np1");
  EXPECT_EQ(said[0].next_step,
            "write arp: manage into the manifest, or set arp_ignore to 1 and arp_announce to 2 on "
            "these ports");
  EXPECT_EQ(said[0].where.position.line, 12);
}

TEST(Sysctl, ArpThatMisleadsNoOneIsNotNoted) {
  EXPECT_THAT(Diagnose(Scenario()), IsEmpty());  // it is managed
  test::PairScenario of_all = IgnoreArp();       // the kernel takes the greater value
  of_all.facts.sysctl.keys["net.ipv4.conf.all.arp_ignore"] = "1";
  of_all.facts.sysctl.keys["net.ipv4.conf.all.arp_announce"] = "2";
  EXPECT_THAT(Diagnose(of_all), IsEmpty());
  test::PairScenario one_port = IgnoreArp();
  one_port.fabric.ports["spark-1"].pop_back();
  EXPECT_THAT(Diagnose(one_port), IsEmpty());
  test::PairScenario unknown = IgnoreArp();
  for (auto& [key, value] : unknown.facts.sysctl.keys) {
    if (key.find("arp") != std::string::npos) value = Unknown{"Permission denied"};
  }
  EXPECT_THAT(Diagnose(unknown), IsEmpty());
}

TEST(Sysctl, WhatTheManifestSetsOfIgnoredArpCountsBeforeWhatIsLive) {
  test::PairScenario scenario = IgnoreArp();
  scenario.cluster.settings =
      test::Map({{"sysctl", test::Map({{"net.ipv4.conf.all.arp_ignore", test::Number(1)},
                                       {"net.ipv4.conf.all.arp_announce", test::Number(2)}})},
                 {"fabric", test::Map({{"arp", test::Text("ignore")}})}});
  EXPECT_THAT(Diagnose(scenario), IsEmpty());
}

TEST(Sysctl, LaterDropInThatWinsAtBootIsShown) {
  test::PairScenario scenario = Scenario();
  scenario.AddFile("/etc/sysctl.d/90-other.conf",
                   "# a comment\n; another\n\n"
                   "net.core.rmem_max=1\n"
                   "-net/core/rmem_max = 4194304 \n");
  const std::vector<Diagnostic> said = Diagnose(scenario);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].severity, Severity::kWarns);
  EXPECT_EQ(said[0].code, "sysctl-overridden-at-boot");
  EXPECT_EQ(said[0].message,
            "sysctl: the next boot sets net.core.rmem_max to 4194304 and not to 268435456: "
            "/etc/sysctl.d/90-other.conf is read after /etc/sysctl.d/60-spark-reconcile.conf");
  EXPECT_THAT(said[0].next_step,
              testing::EndsWith("or remove net.core.rmem_max from /etc/sysctl.d/90-other.conf"));
}

// At the boot of a node that is ready to commit, it must win over ours of the generation before.
TEST(Sysctl, OurTrialIsReadRightAfterOursAndIsNoOtherDropIn) {
  test::PairScenario scenario = Scenario();
  const std::string trial = "/run/sysctl.d/60-spark-reconcile.trial.conf";
  EXPECT_EQ(scenario.Find(Get(), kFile).trial.path, trial);
  EXPECT_GT(GetBasename(trial), GetBasename(kFile));
  scenario.AddFile(trial, "net.core.rmem_max = 1\n");
  EXPECT_THAT(Diagnose(scenario), IsEmpty());
}

TEST(Sysctl, LaterDropInWithOurValueIsNoProblem) {
  test::PairScenario scenario = Scenario();
  scenario.AddFile("/usr/lib/sysctl.d/90-other.conf", "net.core.rmem_max = 268435456\n");
  EXPECT_THAT(Diagnose(scenario), testing::IsEmpty());
}

TEST(Sysctl, EarlierHiddenAndPatternedSettingsDoNotCount) {
  test::PairScenario scenario = Scenario();
  scenario.AddFile("/etc/sysctl.d/50-early.conf", "net.core.rmem_max = 1\n");
  scenario.AddFile("/usr/lib/sysctl.d/90-hidden.conf", "net.core.rmem_max = 1\n");
  scenario.AddFile("/etc/sysctl.d/90-hidden.conf", "vm.swappiness = 1\n");
  scenario.AddFile("/etc/sysctl.d/91-pattern.conf", "net.core.*mem_max = 1\nnonsense\n");
  scenario.AddFile("/etc/sysctl.d/92-not-read", "net.core.rmem_max = 1\n");
  scenario.AddFile("/etc/sysctl.conf", "net.core.rmem_max = 1\n");  // only through its link
  EXPECT_THAT(Diagnose(scenario), testing::IsEmpty());
}

TEST(Sysctl, ALaterDropInThatCannotBeReadIsNamed) {
  test::PairScenario scenario = Scenario();
  scenario.facts.files["/etc/sysctl.d/50-early.conf"] = Unknown{"is a symbolic link"};
  scenario.facts.files["/etc/sysctl.d/80-off.conf"] = Unknown{std::string(kLinkToNull)};
  scenario.AddFile("/usr/lib/sysctl.d/80-off.conf", "net.core.rmem_max = 1\n");
  EXPECT_THAT(Diagnose(scenario), IsEmpty());
  scenario.facts.files["/etc/sysctl.d/90-link.conf"] = Unknown{"is a symbolic link"};
  scenario.facts.files["/usr/lib/sysctl.d/95-large.conf"] = Unknown{"larger than 1 MiB"};
  const std::vector<Diagnostic> said = Diagnose(scenario);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].severity, Severity::kWarns);
  EXPECT_EQ(said[0].code, "sysctl-dropin-unread");
  EXPECT_EQ(
      said[0].message,
      "sysctl: cannot determine what the next boot sets: /etc/sysctl.d/90-link.conf is read "
      "after /etc/sysctl.d/60-spark-reconcile.conf and could not be read (is a symbolic link)");
  EXPECT_EQ(said[0].next_step,
            "check that it sets no key of the manifest, or make it a plain file that can be read");
  EXPECT_EQ(said[1].subject, "/usr/lib/sysctl.d/95-large.conf");
}

TEST(Sysctl, SysctlConfCountsWhereALinkLeadsToIt) {
  test::PairScenario scenario = Scenario();
  scenario.facts.files["/etc/sysctl.d/99-sysctl.conf"] = Unknown{"is a symbolic link"};
  scenario.AddFile("/etc/sysctl.conf", "net.core.rmem_max = 1\n");
  ASSERT_EQ(Diagnose(scenario).size(), 1u);
  EXPECT_EQ(Diagnose(scenario)[0].next_step,
            "add {lines: /etc/sysctl.conf, match: [net.core.rmem_max], nodes: {spark-1: "
            "\"04e2805fb528\"}} to adopt, or remove net.core.rmem_max from /etc/sysctl.conf");
}

// The node's value of both keys of a pair, where the manifest has the one.
test::PairScenario Pair(const std::string& key, int wanted, const std::string& before,
                        const std::string& partner, const std::string& others) {
  test::PairScenario scenario;
  scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(wanted)}})}});
  scenario.facts.files[kFile] = Absent{};
  scenario.facts.sysctl.keys[key] = before;
  scenario.facts.sysctl.keys[partner] = others;
  return scenario;
}

// The kernel refuses a 0 for some of them, and reads it for others as what was not there before.
TEST(Sysctl, AKeyThatWas0ComesBackByItsPartner) {
  const auto revert = [](const test::PairScenario& scenario, const std::string& key) {
    return test::Lines(scenario.Find(Get(), key).revert);
  };
  EXPECT_THAT(
      revert(Pair("vm.dirty_bytes", 67108864, "0", "vm.dirty_ratio", "20"), "vm.dirty_bytes"),
      ElementsAre("sysctl -w -- vm.dirty_ratio=20"));
  EXPECT_THAT(
      revert(Pair("vm.dirty_ratio", 10, "0", "vm.dirty_bytes", "67108864"), "vm.dirty_ratio"),
      ElementsAre("sysctl -w -- vm.dirty_bytes=67108864"));
  EXPECT_THAT(revert(Pair("vm.overcommit_kbytes", 4096, "0", "vm.overcommit_ratio", "50"),
                     "vm.overcommit_kbytes"),
              ElementsAre("sysctl -w -- vm.overcommit_ratio=50"));
  EXPECT_THAT(
      revert(Pair("vm.dirty_bytes", 67108864, "8192", "vm.dirty_ratio", "0"), "vm.dirty_bytes"),
      ElementsAre("sysctl -w -- vm.dirty_bytes=8192"));
  const test::PairScenario scenario = Pair("vm.dirty_bytes", 67108864, "0", "vm.dirty_ratio", "20");
  const Resource resource = scenario.Find(Get(), "vm.dirty_bytes");
  EXPECT_EQ(std::get<RunCommand>(resource.revert[0]).sets, "/proc/sys/vm/dirty_ratio");
  std::vector<std::string> values;
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    if (const auto* value = std::get_if<ReadValue>(&read)) values.push_back(value->path);
  }
  EXPECT_THAT(values, Contains("/proc/sys/vm/dirty_ratio"));
}

TEST(Sysctl, AnUnknownPartnerBlocksInsteadOfChanging) {
  test::PairScenario scenario = Pair("vm.dirty_bytes", 67108864, "0", "vm.dirty_ratio", "20");
  scenario.facts.sysctl.keys["vm.dirty_ratio"] = Unknown{"Permission denied"};
  EXPECT_EQ(scenario.Detail(Get(), "vm.dirty_bytes"),
            "blocked: unknown: vm.dirty_ratio: Permission denied");
  scenario.facts.sysctl.keys["vm.dirty_bytes"] = "67108864";
  EXPECT_EQ(scenario.Detail(Get(), "vm.dirty_bytes"), "holds");
}

Change PruneOf(const std::string& key, const std::string& original, const std::string& applied) {
  return {.kind = "sysctl",
          .name = key,
          .plugin = "sysctl",
          .triggers = {{.argv = {"sysctl", "-w", "--", original}}},
          .prune = true,
          .cause = {.kind = CauseKind::kNotRequired, .applied = applied}};
}

// What the plan says of a prune that sets nothing.
std::string NoteOn(const test::PairScenario& scenario, Change change) {
  const ClusterFacts all{.nodes = {{scenario.facts.node, scenario.facts}}};
  const Ownership owner = Get().check_prune(
      {scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(), scenario.facts, all},
      change);
  return owner == Ownership::kNoOnes ? change.detail : "is set back";
}

// Its prune would come after the new value and replace it.
TEST(Sysctl, AKeyGivesWayToItsPartnerAndLeavesItsOriginalToIt) {
  test::PairScenario scenario = Pair("vm.dirty_ratio", 10, "0", "vm.dirty_bytes", "67108864");
  const Change prune = PruneOf("vm.dirty_bytes", "vm.dirty_ratio=20", "67108864");
  scenario.facts.ledger =
      Ledger{.entries = {{.kind = "sysctl", .name = "vm.dirty_bytes", .triggers = prune.triggers}}};
  EXPECT_EQ(NoteOn(scenario, prune),
            "sysctl: vm.dirty_bytes gives way to vm.dirty_ratio, which the manifest sets: only one "
            "of them holds");
  const Resource resource = scenario.Find(Get(), "vm.dirty_ratio");
  ASSERT_TRUE(resource.prune_commands);
  EXPECT_EQ(resource.prune_commands->after, prune.triggers);
  EXPECT_THAT(test::Lines(resource.revert), ElementsAre("sysctl -w -- vm.dirty_bytes=67108864"));
  EXPECT_EQ(NoteOn(Scenario(), prune), "is set back");
}

// A prune would drop it, and nothing else has it.
TEST(Sysctl, AnOriginalStaysWithItsKeyWhileThePartnerIsNotSet) {
  const auto list_kept = [](const test::PairScenario& scenario) {
    std::vector<std::string> names;
    for (const Resource& one : scenario.Resources(Get())) {
      if (one.left_as_is) names.push_back(one.kind + "/" + one.name);
    }
    return names;
  };
  const LedgerEntry former{.kind = "sysctl",
                           .name = "vm.dirty_bytes",
                           .triggers = PruneOf("vm.dirty_bytes", "vm.dirty_ratio=20", "").triggers};
  test::PairScenario scenario = Pair("vm.dirty_ratio", 10, "0", "vm.dirty_bytes", "67108864");
  EXPECT_THAT(list_kept(scenario), IsEmpty());
  scenario.facts.ledger = Ledger{.entries = {former}};
  EXPECT_THAT(list_kept(scenario), IsEmpty()) << "it is set now";
  scenario.facts.sysctl.readonly = std::set<std::string>{"vm.dirty_ratio"};
  EXPECT_THAT(list_kept(scenario), ElementsAre("sysctl/vm.dirty_bytes")) << "blocked";
  scenario.facts.sysctl.readonly = std::set<std::string>();
  scenario.facts.sysctl.keys["vm.dirty_ratio"] = Unknown{"Permission denied"};
  EXPECT_THAT(list_kept(scenario), ElementsAre("sysctl/vm.dirty_bytes")) << "unknown";
  scenario.facts.sysctl.keys["vm.dirty_ratio"] = "10";
  EXPECT_THAT(list_kept(scenario), ElementsAre("sysctl/vm.dirty_bytes")) << "it holds already";
  scenario.facts.ledger = Ledger{.entries = {former, {.kind = "sysctl", .name = "vm.dirty_ratio"}}};
  EXPECT_THAT(list_kept(scenario), IsEmpty()) << "it has an original of its own";
}

TEST(Sysctl, WhatTheKernelWouldRefuseIsNotedAndNotPruned) {
  EXPECT_EQ(NoteOn(Scenario(), PruneOf("vm.dirty_bytes", "vm.dirty_bytes=0", "67108864")),
            "sysctl: vm.dirty_bytes stays as it is: a 0 does not bring it back, and what "
            "vm.dirty_ratio was is not known");
  EXPECT_EQ(NoteOn(Scenario(), PruneOf("vm.dirty_ratio", "vm.dirty_bytes=0", "10")),
            "sysctl: vm.dirty_ratio stays as it is: a 0 does not bring it back, and what "
            "vm.dirty_ratio was is not known")
      << "of its partner, as an earlier version wrote it";
  const Change ptrace = PruneOf("kernel.yama.ptrace_scope", "kernel.yama.ptrace_scope=1", "3");
  EXPECT_EQ(NoteOn(Scenario(), ptrace),
            "sysctl: kernel.yama.ptrace_scope stays 3 until the node restarts: the kernel takes no "
            "other value");
  EXPECT_EQ(NoteOn(Scenario(), PruneOf("net.core.rmem_max", "net.core.rmem_max=0", "1")),
            "is set back");
}

TEST(Sysctl, AValueThatNoRevertCouldSetBackIsLeftToTheNextBoot) {
  test::PairScenario scenario;
  const std::string key = "kernel.unprivileged_bpf_disabled";
  scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(1)}})}});
  scenario.facts.files[kFile] = Absent{};
  scenario.facts.sysctl.keys[key] = "2";
  EXPECT_EQ(
      scenario.Detail(Get(), key),
      "blocked: 2 → 1: the kernel takes no other value after it, so that a failed apply could "
      "not set it back: the next boot sets it");
  EXPECT_EQ(scenario.Find(Get(), key).blocked.code, "sysctl-one-way");
  EXPECT_THAT(scenario.File(Get(), kFile).content, testing::HasSubstr(key + " = 1\n"));
  scenario.facts.sysctl.keys[key] = "1";
  EXPECT_EQ(scenario.Detail(Get(), key), "holds");
  scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(2)}})}});
  EXPECT_EQ(scenario.Detail(Get(), key),
            "blocked: 1 → 2: the kernel takes no other value until a restart");
}

TEST(Sysctl, ALaterLineAboutThePartnerIsWarnedOf) {
  test::PairScenario scenario = Pair("vm.dirty_bytes", 67108864, "67108864", "vm.dirty_ratio", "0");
  scenario.AddFile("/etc/sysctl.d/90-other.conf", "vm.dirty_ratio = 0\n");
  EXPECT_THAT(Diagnose(scenario), IsEmpty());
  scenario.AddFile("/etc/sysctl.d/90-other.conf", "vm.dirty_ratio = 10\n");
  const std::vector<Diagnostic> said = Diagnose(scenario);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].code, "sysctl-overridden-at-boot");
  EXPECT_EQ(said[0].message,
            "sysctl: the next boot sets vm.dirty_bytes to 0 and not to 67108864: "
            "/etc/sysctl.d/90-other.conf is read after /etc/sysctl.d/60-spark-reconcile.conf and "
            "sets vm.dirty_ratio");
  EXPECT_EQ(said[0].next_step, "remove vm.dirty_ratio from /etc/sysctl.d/90-other.conf");
}

TEST(Sysctl, APortWithoutIpv6IsNamed) {
  const std::string key = "net.ipv6.conf.enP2p1s0f1np1.disable_ipv6";
  test::PairScenario scenario = Scenario();
  scenario.facts.sysctl.keys[key] = "0";
  EXPECT_THAT(Diagnose(scenario), testing::IsEmpty());
  scenario.facts.sysctl.keys[key] = "1";
  const std::vector<Diagnostic> said = Diagnose(scenario);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].severity, Severity::kWarns);
  EXPECT_EQ(said[0].code, "sysctl-ipv6-disabled");
  EXPECT_EQ(said[0].message,
            "sysctl: wanted 0 for net.ipv6.conf.enP2p1s0f1np1.disable_ipv6, found 1: nodes show "
            "over IPv6 on the fabric that they are ready to commit");
  EXPECT_EQ(said[0].next_step,
            "set net.ipv6.conf.enP2p1s0f1np1.disable_ipv6 to 0, and remove what disables it");
  EXPECT_EQ(said[0].subject, key);
}

TEST(Sysctl, WhereTheManifestTurnsIpv6OnThatIsAChange) {
  const std::string key = "net.ipv6.conf.enp1s0f1np1.disable_ipv6";
  test::PairScenario scenario = Scenario();
  scenario.facts.sysctl.keys[key] = "1";
  scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(0)}})}});
  EXPECT_THAT(Diagnose(scenario), testing::IsEmpty());
  EXPECT_EQ(scenario.Detail(Get(), key), "1 → 0");
}

TEST(Sysctl, DotsInInterfaceNamesSurviveEverySpelling) {
  EXPECT_EQ(NormalizeKey("net/ipv4/conf/eth0.5/arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(NormalizeKey("net.ipv4.conf.eth0/5.arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(MakeInterfaceKey("eth0.5", "arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(MakeKeyPath("net.ipv4.conf.eth0/5.arp_ignore"),
            "/proc/sys/net/ipv4/conf/eth0.5/arp_ignore");
  EXPECT_EQ(ReadKeyFromPath("/proc/sys/net/ipv4/conf/eth0.5/arp_ignore"),
            "net.ipv4.conf.eth0/5.arp_ignore");
}

TEST(Sysctl, WhatIsNoKeyIsRefused) {
  for (const char* text :
       {"", "rmem", "net..core", ".net.core", "net.core.", "net/../etc/shadow", "a b.c",
        "net.core.$(x)", "net.core\n.x", "-a.b", "net.c\xff.x", "a.*"}) {
    EXPECT_FALSE(NormalizeKey(text)) << text;
  }
}

TEST(Sysctl, BadKeysAndValuesAreManifestErrors) {
  EXPECT_EQ(CheckText({{"net.core.rmem_max", test::Number(4096)}}), "");
  EXPECT_EQ(CheckText({{"rmem max", test::At(3, test::Number(1))}}),
            "cluster.yaml: sysctl: wanted a key like 'net.core.rmem_max', found 'rmem max'\n"
            "  hint: letters, digits, _ and - with dots between them; a dot in an interface name "
            "is written as a slash\n");
  EXPECT_EQ(CheckText({{"net.core.x", test::Number(1)}, {"net/core/x", test::Number(2)}}),
            "cluster.yaml: sysctl: 'net.core.x' and 'net/core/x' are the same key\n"
            "  hint: keep one of them\n");
  EXPECT_EQ(CheckText({{"net.core.x", test::At(3, test::List({}))}}),
            "cluster.yaml:3:5: sysctl: wanted one line of text or a number for 'net.core.x', found "
            "a list\n  hint: write several numbers as one text, like '4096 131072 6291456'\n");
  EXPECT_EQ(CheckText({{"net.core.x", test::At(3, test::Text("1\n2"))}}),
            "cluster.yaml:3:5: sysctl: wanted one line of text or a number for 'net.core.x', found "
            "several lines\n  hint: write several numbers as one text, like '4096 131072 "
            "6291456'\n");
}

TEST(Sysctl, BothKeysOfAPairAreAManifestError) {
  EXPECT_EQ(
      CheckText({{"vm.dirty_bytes", test::Number(67108864)}, {"vm/dirty_ratio", test::Number(20)}}),
      "cluster.yaml: sysctl: wanted one of 'vm.dirty_bytes' and 'vm/dirty_ratio', found both: "
      "the kernel sets one of them to 0 when the other is written\n"
      "  hint: keep one of them\n");
  EXPECT_NE(CheckText({{"vm.dirty_background_ratio", test::Number(5)},
                       {"vm.dirty_background_bytes", test::Number(8192)}}),
            "");
  EXPECT_NE(CheckText({{"vm.overcommit_ratio", test::Number(50)},
                       {"vm.overcommit_kbytes", test::Number(4096)}}),
            "");
  EXPECT_EQ(CheckText({{"vm.dirty_bytes", test::Number(67108864)},
                       {"vm.dirty_background_ratio", test::Number(5)}}),
            "");
}

std::string CheckOne(const std::string& key, Value value) {
  return CheckText({{key, test::At(3, std::move(value))}});
}

TEST(Sysctl, AValueThatTheKernelWouldRefuseIsAManifestError) {
  EXPECT_EQ(CheckOne("net.core.rmem_max", test::Text("256M")),
            "cluster.yaml:3:5: sysctl: wanted a whole number from 2048 to 2147483647 for "
            "'net.core.rmem_max', found '256M'\n"
            "  hint: the kernel knows no units: write 268435456\n");
  EXPECT_EQ(CheckOne("net.core.rmem_max", test::Text("")),
            "cluster.yaml:3:5: sysctl: wanted a whole number from 2048 to 2147483647 for "
            "'net.core.rmem_max', found nothing\n"
            "  hint: write a value such as 268435456, or leave the key out to leave the setting as "
            "it is\n");
  EXPECT_EQ(CheckOne("vm/swappiness", test::Text("abc")),
            "cluster.yaml:3:5: sysctl: wanted a whole number from 0 to 200 for 'vm/swappiness', "
            "found 'abc'\n  hint: in decimal digits alone, such as 200\n");
  EXPECT_EQ(CheckOne("net.ipv4.ip_forward", test::Number(2)),
            "cluster.yaml:3:5: sysctl: wanted 0 or 1 for 'net.ipv4.ip_forward', found '2'\n"
            "  hint: in decimal digits alone, such as 1\n");
  EXPECT_EQ(CheckOne("net.ipv4.tcp_congestion_control", test::Text("bbr cubic")),
            "cluster.yaml:3:5: sysctl: wanted one word for 'net.ipv4.tcp_congestion_control', "
            "found 'bbr cubic'\n  hint: such as bbr\n");
}

TEST(Sysctl, TheValueOfAHintIsRight) {
  for (const char* key : {"fs.nr_open",
                          "fs.pipe-max-size",
                          "kernel.panic",
                          "kernel.pid_max",
                          "kernel.printk",
                          "kernel.sem",
                          "kernel.shmmni",
                          "kernel.watchdog_thresh",
                          "net.core.default_qdisc",
                          "net.core.rmem_default",
                          "net.core.rmem_max",
                          "net.core.wmem_max",
                          "net.core.somaxconn",
                          "net.ipv4.ip_forward",
                          "net.ipv4.ip_local_port_range",
                          "net.ipv4.tcp_adv_win_scale",
                          "net.ipv4.tcp_mem",
                          "net.ipv4.tcp_congestion_control",
                          "net.ipv4.tcp_rmem",
                          "net.ipv4.tcp_wmem",
                          "net.ipv4.udp_mem",
                          "vm.mmap_min_addr",
                          "vm.swappiness",
                          "vm.watermark_scale_factor"}) {
    const auto bad = JudgeValue(key, "");
    ASSERT_TRUE(bad) << key;
    const std::string begin = "write a value such as ";
    ASSERT_TRUE(bad->hint.starts_with(begin)) << bad->hint;
    std::string example = bad->hint.substr(begin.size(), bad->hint.find(", or ") - begin.size());
    std::erase(example, '\'');
    EXPECT_FALSE(example.empty()) << key;
    EXPECT_FALSE(JudgeValue(key, example)) << key << " = " << example;
  }
}

TEST(Sysctl, TriplesAndRangesAreCheckedAsAWhole) {
  EXPECT_EQ(CheckOne("net.ipv4.tcp_rmem", test::Text("4096 131072\t 6291456")), "");
  EXPECT_EQ(CheckOne("net.ipv4.tcp_rmem", test::Number(6291456)),
            "cluster.yaml:3:5: sysctl: wanted 3 whole numbers from 1 to 2147483647 for "
            "'net.ipv4.tcp_rmem', found '6291456'\n"
            "  hint: least, default and most bytes, with blanks between them, such as '4096 131072 "
            "268435456'\n");
  EXPECT_EQ(CheckOne("net.ipv4.tcp_rmem", test::Text("4096 128K 64MiB")),
            "cluster.yaml:3:5: sysctl: wanted 3 whole numbers from 1 to 2147483647 for "
            "'net.ipv4.tcp_rmem', found '4096 128K 64MiB'\n"
            "  hint: the kernel knows no units: write '4096 131072 67108864'\n");
  EXPECT_EQ(CheckOne("net.ipv4.ip_local_port_range", test::Text("60999 32768")),
            "cluster.yaml:3:5: sysctl: wanted numbers of which none is less than the one before it "
            "for 'net.ipv4.ip_local_port_range', found '60999 32768'\n"
            "  hint: first and last port, with blanks between them, such as '32768 60999'\n");
}

TEST(Sysctl, ANumberThatTheKernelWouldRoundUpIsAManifestError) {
  EXPECT_EQ(CheckOne("fs.pipe-max-size", test::Number(5000000)),
            "cluster.yaml:3:5: sysctl: wanted a power of two from 4096 to 1073741824 for "
            "'fs.pipe-max-size', found '5000000'\n"
            "  hint: the kernel rounds it up to a power of two: write 8388608\n");
  EXPECT_EQ(CheckOne("net.core.rps_sock_flow_entries", test::Number(30000)),
            "cluster.yaml:3:5: sysctl: wanted 0 or a power of two from 1 to 536870912 for "
            "'net.core.rps_sock_flow_entries', found '30000'\n"
            "  hint: the kernel rounds it up to a power of two: write 32768\n");
  EXPECT_EQ(CheckOne("fs.pipe-max-size", test::Text("5M")),
            "cluster.yaml:3:5: sysctl: wanted a power of two from 4096 to 1073741824 for "
            "'fs.pipe-max-size', found '5M'\n"
            "  hint: the kernel knows no units: write 8388608\n");
  EXPECT_THAT(CheckOne("fs.pipe-max-size", test::Number(2000000000)),
              testing::HasSubstr("the largest that the kernel takes: write 1073741824\n"));
  EXPECT_EQ(CheckOne("fs.pipe-max-size", test::Number(1048576)), "");
  EXPECT_NE(CheckOne("fs.pipe-max-size", test::Number(2048)), "");
  for (const int entries : {0, 1, 32768}) {
    EXPECT_EQ(CheckOne("net.core.rps_sock_flow_entries", test::Number(entries)), "") << entries;
  }
}

TEST(Sysctl, OnlyNumbersAsTheKernelShowsThemAreNumbers) {
  for (const char* text : {"0x10", "010", "1.5", "+1", "1e3", "--1", "1 ", " 1"}) {
    const bool right = NormalizeValue(text) == "1";
    EXPECT_EQ(CheckOne("vm.swappiness", test::Text(text)).empty(), right) << text;
  }
  EXPECT_EQ(CheckOne("kernel.panic", test::Number(-1)), "");
  EXPECT_EQ(CheckOne("fs.file-max", test::Text("9223372036854775807")), "");
  EXPECT_NE(CheckOne("fs.file-max", test::Text("9223372036854775808")), "");
  EXPECT_NE(CheckOne("vm.dirty_bytes", test::Number(0)), "") << "two pages are the least";
}

TEST(Sysctl, ValuesOfUnknownKeysAreOnlyRequiredToBeThere) {
  EXPECT_EQ(CheckOne("kernel.core_pattern", test::Text("|/bin/false %e")), "");
  EXPECT_EQ(CheckOne("dev.some.key", test::Text("256M")), "");
  EXPECT_EQ(CheckOne("dev.some.key", test::Text("  ")),
            "cluster.yaml:3:5: sysctl: wanted a value for 'dev.some.key', found nothing\n"
            "  hint: leave the key out to leave the setting as it is\n");
}

TEST(Sysctl, AKeyThatIsNearlyAWellKnownOneIsAManifestError) {
  EXPECT_EQ(CheckOne("net.core.rmem_maxx", test::Number(4096)),
            "cluster.yaml: sysctl: unknown key 'net.core.rmem_maxx', did you mean "
            "'net.core.rmem_max'?\n  hint: `sysctl -a` on a node lists its keys\n");
  EXPECT_NE(CheckOne("net.ipv4.conf.eth0/5.arp_ingore", test::Number(1)), "");
  EXPECT_EQ(CheckOne("NET.core.rmem_max", test::Text("256M")),
            "cluster.yaml: sysctl: unknown key 'NET.core.rmem_max', did you mean "
            "'net.core.rmem_max'?\n  hint: `sysctl -a` on a node lists its keys\n");
  EXPECT_EQ(CheckOne("net.IPv4.conf.enP7s7.Arp_Ignore", test::Number(1)),
            "cluster.yaml: sysctl: unknown key 'net.IPv4.conf.enP7s7.Arp_Ignore', did you mean "
            "'net.ipv4.conf.enP7s7.arp_ignore'?\n  hint: `sysctl -a` on a node lists its keys\n");
  for (const char* key :
       {"kernel.msgmni", "net.ipv4.tcp_dsack", "net.ipv4.tcp_fack", "net.ipv6.conf.all.accept_dad",
        "net.ipv4.tcp_ecn", "vm.dirty_background_bytes", "net.ipv6.conf.all.accept_source_route"}) {
    EXPECT_EQ(CheckOne(key, test::Number(1)), "") << key;
  }
}

TEST(Sysctl, AKeyThatContradictsTheFabricIsAManifestError) {
  EXPECT_EQ(CheckOne("net.ipv4.conf.enp1s0f1np1.arp_ignore", test::Number(0)),
            "cluster.yaml:3:5: sysctl: wanted 1 or 2 for 'net.ipv4.conf.enp1s0f1np1.arp_ignore', "
            "found '0'\n"
            "  hint: enp1s0f1np1 is a port of the fabric on spark-1, spark-2, and both rails can "
            "meet on one switch, where a port must answer for its own address alone: leave it "
            "out\n");
  EXPECT_EQ(CheckOne("net.ipv6.conf.all.disable_ipv6", test::Number(1)),
            "cluster.yaml:3:5: sysctl: wanted 0 for 'net.ipv6.conf.all.disable_ipv6', found '1'\n"
            "  hint: nodes show over IPv6 on the fabric that they are ready to commit: leave it "
            "out\n");
  EXPECT_EQ(CheckOne("net/ipv4/icmp_echo_ignore_all", test::Number(1)),
            "cluster.yaml:3:5: sysctl: wanted 0 for 'net/ipv4/icmp_echo_ignore_all', found '1'\n"
            "  hint: nodes prove by pings that they reach each other: leave it out\n");
  EXPECT_NE(CheckOne("net.ipv4.conf.all.arp_ignore", test::Number(8)), "");
  EXPECT_NE(CheckOne("net.ipv4.conf.enP2p1s0f1np1.arp_announce", test::Number(0)), "");
  EXPECT_NE(CheckOne("net.ipv6.conf.enp1s0f1np1.disable_ipv6", test::Number(1)), "");
  EXPECT_NE(CheckOne("net.ipv6.conf.default.disable_ipv6", test::Number(1)), "");
  EXPECT_NE(CheckOne("net.ipv6.icmp.echo_ignore_all", test::Number(1)), "");
}

TEST(Sysctl, WithIgnoredArpItsKeysAreTheManifestsBusinessAndNoOthers) {
  const auto check = [](const std::string& key, int value) {
    test::PairScenario scenario;
    scenario.cluster.settings = test::Map({{"sysctl", test::Map({{key, test::Number(value)}})},
                                           {"fabric", test::Map({{"arp", test::Text("ignore")}})}});
    return FormatErrors(Get().check(scenario.cluster, scenario.fabric));
  };
  EXPECT_EQ(check("net.ipv4.conf.enp1s0f1np1.arp_ignore", 0), "");
  EXPECT_EQ(check("net.ipv4.conf.enP2p1s0f1np1.arp_announce", 0), "");
  EXPECT_EQ(check("net.ipv4.conf.all.arp_ignore", 8), "");
  EXPECT_NE(check("net.ipv6.conf.enp1s0f1np1.disable_ipv6", 1), "");
  EXPECT_NE(check("net/ipv4/icmp_echo_ignore_all", 1), "");
}

TEST(Sysctl, OtherInterfacesAreTheManifestsBusiness) {
  EXPECT_EQ(CheckOne("net.ipv4.conf.wlan0.arp_ignore", test::Number(0)), "");
  EXPECT_EQ(CheckOne("net.ipv6.conf.wlan0.disable_ipv6", test::Number(1)), "");
  EXPECT_EQ(CheckOne("net.ipv4.conf.enp1s0f1np1.arp_ignore", test::Number(2)), "");
  EXPECT_EQ(CheckOne("net.ipv4.conf.enp1s0f1np1.rp_filter", test::Number(2)), "");
}

TEST(Sysctl, KeysOfAPortNeedItAndOthersNeedNothing) {
  const test::PairScenario scenario = Scenario();
  EXPECT_THAT(scenario.Find(Get(), "net.ipv4.conf.enp1s0f1np1.arp_ignore").needs,
              ElementsAre("spark-1/link/enp1s0f1np1"));
  EXPECT_THAT(scenario.Find(Get(), "net.core.rmem_max").needs, IsEmpty());
}

TEST(Sysctl, TheDropInNeedsThePortsThatTheNextBootWouldSet) {
  test::PairScenario scenario = Scenario();
  EXPECT_THAT(scenario.Find(Get(), kFile).needs,
              ElementsAre("spark-1/link/enp1s0f1np1", "spark-1/link/enP2p1s0f1np1"));
  scenario.fabric = {};
  EXPECT_THAT(scenario.Find(Get(), kFile).needs, IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins::sysctl
