#include "plugins/sysctl/sysctl.h"

#include <gmock/gmock.h>

#include "plugins/shared/mark.h"
#include "plugins/sysctl/keys.h"
#include "reconciler/base/text.h"
#include "tests/unit/plugins/pair_world.h"

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

test::PairWorld World() {
  test::PairWorld world;
  world.cluster.settings = Section();
  world.facts.files[kFile] = Absent{};
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    for (const char* leaf : {".arp_ignore", ".arp_announce"}) {
      world.facts.values[std::string("sysctl.net.ipv4.conf.") + netdev + leaf] = "0";
    }
  }
  world.facts.values["sysctl.net.core.rmem_max"] = "212992";
  world.facts.values["sysctl.net.ipv4.tcp_rmem"] = "4096 131072 6291456";
  world.facts.values["sysctl.net.ipv4.ip_forward"] = "0";
  return world;
}

std::string CheckText(std::vector<std::pair<std::string, Value>> members) {
  test::PairWorld world;
  world.cluster.settings = test::Map({{"sysctl", test::Map(std::move(members))}});
  return FormatErrors(Get().check(world.cluster, world.fabric));
}

TEST(Sysctl, DropInHoldsEveryKeySorted) {
  const FileState wanted{.content = OwnedFile("homelab",
                                              "net.core.rmem_max = 268435456\n"
                                              "net.ipv4.conf.enP2p1s0f1np1.arp_announce = 2\n"
                                              "net.ipv4.conf.enP2p1s0f1np1.arp_ignore = 1\n"
                                              "net.ipv4.conf.enp1s0f1np1.arp_announce = 2\n"
                                              "net.ipv4.conf.enp1s0f1np1.arp_ignore = 1\n"
                                              "net.ipv4.ip_forward = 1\n"
                                              "net.ipv4.tcp_rmem = 4096 131072 6291456\n"),
                         .mode = 0644};
  EXPECT_EQ(World().File(Get(), kFile), wanted);
}

TEST(Sysctl, LiveValueIsSetAndUndoneByTheSameCommand) {
  const Resource resource = World().Find(Get(), "net.core.rmem_max");
  EXPECT_EQ(World().Detail(Get(), "net.core.rmem_max"), "212992 → 268435456");
  EXPECT_THAT(test::Lines(resource.apply), ElementsAre("sysctl -w -- net.core.rmem_max=268435456"));
  EXPECT_THAT(test::Lines(resource.undo), ElementsAre("sysctl -w -- net.core.rmem_max=212992"));
}

TEST(Sysctl, BlanksAndTabsBetweenNumbersDoNotCount) {
  ProbeReply reply;
  reply.values["/proc/sys/net/ipv4/tcp_rmem"] = "4096\t131072\t6291456";
  test::PairWorld world = World();
  world.facts.values.erase("sysctl.net.ipv4.tcp_rmem");
  Get().parse(reply, world.facts);
  EXPECT_EQ(world.Detail(Get(), "net.ipv4.tcp_rmem"), "holds");
}

TEST(Sysctl, MissingKeyIsBlockedAndNotAdded) {
  test::PairWorld world = World();
  world.facts.values["sysctl.net.core.rmem_max"] = Absent{};
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max"),
            "blocked: this kernel (or namespace) has no such key");
}

TEST(Sysctl, ReadOnlyKeyIsBlockedUnlessItHolds) {
  ProbeReply reply;
  reply.commands["sysctl.readonly"] = {.exit_code = 1,
                                       .out = "/proc/sys/net/core/rmem_max\n",
                                       .err = "find: '/proc/sys/x': No such file"};
  test::PairWorld world = World();
  Get().parse(reply, world.facts);
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max"),
            "blocked: this kernel (or namespace) lets nobody write it");
  EXPECT_EQ(world.Detail(Get(), "net.ipv4.ip_forward"), "0 → 1");
  world.facts.values["sysctl.net.core.rmem_max"] = "268435456";
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max"), "holds");
}

TEST(Sysctl, UnknownValueBlocksInsteadOfChanging) {
  ProbeReply reply;
  reply.values["/proc/sys/net/core/rmem_max"] = Unknown{"Permission denied"};
  test::PairWorld world = World();
  Get().parse(reply, world.facts);
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max"), "blocked: unknown: Permission denied");
}

TEST(Sysctl, TheManifestsWordOnAKeyCountsMoreThanTheFabrics) {
  test::PairWorld world = World();
  world.cluster.settings = test::Map(
      {{"sysctl", test::Map({{"net.ipv4.conf.enp1s0f1np1.arp_ignore", test::Number(2)}})}});
  EXPECT_EQ(world.Detail(Get(), "net.ipv4.conf.enp1s0f1np1.arp_ignore"), "0 → 2");
  EXPECT_EQ(world.Detail(Get(), "net.ipv4.conf.enP2p1s0f1np1.arp_ignore"), "0 → 1");
}

TEST(Sysctl, NothingIsWantedWithoutSectionAndPorts) {
  test::PairWorld world;
  world.fabric.ports.clear();
  EXPECT_THAT(world.Resources(Get()), IsEmpty());
  EXPECT_TRUE(Get().probe(world.cluster, world.fabric, world.cluster.nodes[0]).empty());
}

TEST(Sysctl, ProbeReadsEachKeyAndAsksForReadOnlyOnesAtOnce) {
  const test::PairWorld world = World();
  std::vector<std::string> values;
  std::vector<std::string> argv;
  for (const Read& read : Get().probe(world.cluster, world.fabric, world.cluster.nodes[0])) {
    if (const auto* value = std::get_if<ReadValue>(&read)) values.push_back(value->path);
    if (const auto* command = std::get_if<RunProbe>(&read)) argv = command->argv;
  }
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/tcp_rmem"));
  EXPECT_THAT(values, Contains("/proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore"));
  std::vector<std::string> wanted = {"find"};
  wanted.insert(wanted.end(), values.begin(), values.end());
  for (const char* word : {"-maxdepth", "0", "!", "-writable"}) wanted.emplace_back(word);
  EXPECT_EQ(argv, wanted);
}

TEST(Sysctl, LaterDropInThatWinsAtBootIsShown) {
  test::PairWorld world = World();
  world.AddFile("/etc/sysctl.d/90-other.conf",
                "# a comment\n; another\n\n"
                "net.core.rmem_max=1\n"
                "-net/core/rmem_max = 4194304 \n");
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max at boot"),
            "blocked: /etc/sysctl.d/90-other.conf is read after "
            "/etc/sysctl.d/60-spark-reconcile.conf and sets it to 4194304: take it out there");
}

TEST(Sysctl, LaterDropInWithOurValueIsNoProblem) {
  test::PairWorld world = World();
  world.AddFile("/usr/lib/sysctl.d/90-other.conf", "net.core.rmem_max = 268435456\n");
  EXPECT_EQ(world.Detail(Get(), "net.core.rmem_max at boot"), "holds");
}

TEST(Sysctl, EarlierHiddenAndPatternedSettingsDoNotCount) {
  test::PairWorld world = World();
  world.AddFile("/etc/sysctl.d/50-early.conf", "net.core.rmem_max = 1\n");
  world.AddFile("/usr/lib/sysctl.d/90-hidden.conf", "net.core.rmem_max = 1\n");
  world.AddFile("/etc/sysctl.d/90-hidden.conf", "vm.swappiness = 1\n");
  world.AddFile("/etc/sysctl.d/91-pattern.conf", "net.core.*mem_max = 1\nnonsense\n");
  world.AddFile("/etc/sysctl.d/92-not-read", "net.core.rmem_max = 1\n");
  world.AddFile("/etc/sysctl.conf", "net.core.rmem_max = 1\n");  // only through its link
  EXPECT_THAT(world.Names(Get()), Not(Contains("net.core.rmem_max at boot")));
}

TEST(Sysctl, SysctlConfCountsWhereALinkLeadsToIt) {
  test::PairWorld world = World();
  world.facts.files["/etc/sysctl.d/99-sysctl.conf"] = Unknown{"is a symbolic link"};
  world.AddFile("/etc/sysctl.conf", "net.core.rmem_max = 1\n");
  EXPECT_THAT(world.Detail(Get(), "net.core.rmem_max at boot"),
              testing::StartsWith("blocked: /etc/sysctl.conf is read after"));
}

TEST(Sysctl, DotsInInterfaceNamesSurviveEverySpelling) {
  EXPECT_EQ(CanonicalKey("net/ipv4/conf/eth0.5/arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(CanonicalKey("net.ipv4.conf.eth0/5.arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(InterfaceKey("eth0.5", "arp_ignore"), "net.ipv4.conf.eth0/5.arp_ignore");
  EXPECT_EQ(PathOfKey("net.ipv4.conf.eth0/5.arp_ignore"),
            "/proc/sys/net/ipv4/conf/eth0.5/arp_ignore");
  EXPECT_EQ(KeyOfPath("/proc/sys/net/ipv4/conf/eth0.5/arp_ignore"),
            "net.ipv4.conf.eth0/5.arp_ignore");
}

TEST(Sysctl, WhatIsNoKeyIsRefused) {
  for (const char* text :
       {"", "rmem", "net..core", ".net.core", "net.core.", "net/../etc/shadow", "a b.c",
        "net.core.$(x)", "net.core\n.x", "-a.b", "net.c\xff.x", "a.*"}) {
    EXPECT_FALSE(CanonicalKey(text)) << text;
  }
}

TEST(Sysctl, BadKeysAndValuesAreManifestErrors) {
  EXPECT_EQ(CheckText({{"net.core.rmem_max", test::Number(1)}}), "");
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

}  // namespace
}  // namespace reconciler::plugins::sysctl
