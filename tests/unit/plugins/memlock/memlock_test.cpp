#include "plugins/memlock/memlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/probe.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::memlock {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPam = "/etc/security/limits.d/60-spark-reconcile.conf";
constexpr const char* kSystem = "/etc/systemd/system.conf.d/60-spark-reconcile.conf";
constexpr const char* kUser = "/etc/systemd/user.conf.d/60-spark-reconcile.conf";

ClusterSpec Cluster(std::vector<std::pair<std::string, Value>> settings) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  cluster.nodes.push_back({.name = "spark-1", .id = 1});
  cluster.settings = test::Map(std::move(settings));
  return cluster;
}

ClusterSpec With(Value limit) { return Cluster({{"memlock", test::At(17, std::move(limit))}}); }

CommandReply Show(const std::string& soft, const std::string& hard) {
  return {.out = "LimitMEMLOCK=" + hard + "\nLimitMEMLOCKSoft=" + soft +
                 "\nId=-.mount\nNames=-.mount\nLoadState=loaded\n"};
}

NodeFacts Facts(const CommandReply& show) {
  NodeFacts facts{.node = "spark-1"};
  for (const char* path : {kPam, kSystem, kUser}) facts.files[path] = Absent{};
  Get().parse({.commands = {{"common.units", show}}}, facts);
  return facts;
}

std::vector<Resource> ListResources(const ClusterSpec& cluster, const NodeFacts& facts) {
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  return Get().resources({cluster, fabric, cluster.nodes.front(), facts, all});
}

std::string ReadContent(const Resource& resource) {
  return std::get<FileState>(std::get<ResourceState>(resource.desired)).content;
}

std::string ServiceLimit(const CommandReply& show) {
  const auto change =
      Diff(ListResources(With(test::Text("unlimited")), Facts(show)).back(), "memlock");
  return change ? change->detail : "holds";
}

TEST(Memlock, ManifestWithoutItHoldsNothing) {
  const ClusterSpec cluster = Cluster({});
  EXPECT_TRUE(ListResources(cluster, NodeFacts{.node = "spark-1"}).empty());
}

std::vector<std::string> Probes(const ClusterSpec& cluster) {
  std::vector<std::string> ids;
  for (const Read& read : Get().probe(cluster, Fabric(), cluster.nodes.front())) {
    if (const auto* run = std::get_if<RunProbe>(&read)) ids.push_back(run->id);
  }
  return ids;
}

TEST(Memlock, MeasuringRdmaReadsTheLimitsOfEveryContextThoughNoneIsOurs) {
  const auto level = [](const char* text) {
    return std::pair<std::string, Value>("verify", test::Map({{"level", test::Text(text)}}));
  };
  EXPECT_THAT(Probes(Cluster({level("rdma")})),
              ElementsAre("memlock.session", "common.units", "memlock.user_service"));
  EXPECT_THAT(Probes(Cluster({level("link")})), ElementsAre());
  EXPECT_THAT(Probes(Cluster({level("link"), {"memlock", test::Text("unlimited")}})),
              ElementsAre("memlock.session", "common.units"));
}

TEST(Memlock, TheLevelThatDependsOnTheNodesReadsTheLimitOfTheLogin) {
  EXPECT_THAT(Probes(Cluster({})), ElementsAre("memlock.session"));
}

TEST(Memlock, AUserManagerSaysWhatItsServicesGetOrThereIsNone) {
  const CommandReply low{.out = "DefaultLimitMEMLOCK=8388608\nDefaultLimitMEMLOCKSoft=8388608\n"};
  const auto user = [](const CommandReply& reply) {
    NodeFacts facts;
    Get().parse({.commands = {{"memlock.user_service", reply}}}, facts);
    return facts.memlock.user_service;
  };
  EXPECT_EQ(user(low), Observed<MemlockLimits>(MemlockLimits{{8388608}, {8388608}}));
  EXPECT_EQ(user({.exit_code = 3}), Observed<MemlockLimits>(Absent{}));
  EXPECT_EQ(user({.exit_code = 124}),
            Observed<MemlockLimits>(Unknown{"systemctl gave no answer in 5 s"}));
}

TEST(Memlock, UnlimitedIsWrittenForUsersForRootAndForServices) {
  const auto resources = ListResources(With(test::Text("unlimited")), Facts(Show("1", "1")));
  ASSERT_EQ(resources.size(), 4u);
  EXPECT_EQ(resources[0].name, kPam);
  EXPECT_EQ(ReadContent(resources[0]), FormatOwnedFile("homelab",
                                                       "* soft memlock unlimited\n"
                                                       "* hard memlock unlimited\n"
                                                       "root soft memlock unlimited\n"
                                                       "root hard memlock unlimited\n"));
  EXPECT_EQ(resources[1].name, kSystem);
  EXPECT_EQ(ReadContent(resources[1]),
            FormatOwnedFile("homelab", "[Manager]\nDefaultLimitMEMLOCK=infinity\n"));
  EXPECT_EQ(resources[2].name, kUser);
  EXPECT_EQ(ReadContent(resources[2]), ReadContent(resources[1]));
  EXPECT_EQ(resources[3].Id(), "spark-1/memlock/service limit");
  EXPECT_EQ(resources[3].where.position.line, 17);
}

TEST(Memlock, KibibytesStayKibibytesInEveryFileAndAreBytesInFacts) {
  const auto resources = ListResources(With(test::Number(65536)), Facts(Show("1", "1")));
  EXPECT_EQ(ReadContent(resources[0]), FormatOwnedFile("homelab",
                                                       "* soft memlock 65536\n"
                                                       "* hard memlock 65536\n"
                                                       "root soft memlock 65536\n"
                                                       "root hard memlock 65536\n"));
  EXPECT_EQ(ReadContent(resources[1]),
            FormatOwnedFile("homelab", "[Manager]\nDefaultLimitMEMLOCK=65536K\n"));
  EXPECT_EQ(std::get<ResourceState>(resources[3].desired), ResourceState("67108864"));
}

TEST(Memlock, LiveLimitThatDiffersIsReloadedOnceAfterTheFiles) {
  const auto resources =
      ListResources(With(test::Text("unlimited")), Facts(Show("8388608", "8388608")));
  int reloads = 0;
  for (const Resource& resource : resources) {
    const auto change = Diff(resource, "memlock");
    ASSERT_TRUE(change);
    for (const Action& action : change->actions)
      reloads += Describe(action) == "run systemctl daemon-reload";
    reloads += static_cast<int>(change->triggers.size());
  }
  EXPECT_EQ(reloads, 1);
  const auto live = Diff(resources.back(), "memlock");
  EXPECT_EQ(live->detail, "8192 KiB → unlimited");
  EXPECT_THAT(
      live->actions,
      ElementsAre(Action(RunCommand{.argv = {"systemctl", "daemon-reload"}, .time_limit_s = 60})));
}

TEST(Memlock, AReloadIsNamedWhereContainersHaveAGpu) {
  NodeFacts facts = Facts(Show("8388608", "8388608"));
  const auto read_interrupts = [&] {
    return Diff(ListResources(With(test::Text("unlimited")), facts).back(), "memlock")->interrupts;
  };
  EXPECT_EQ(read_interrupts(), "");
  facts.units.gpu_containers =
      std::vector<std::string>{"docker-" + std::string(64, 'a') + ".scope"};
  EXPECT_EQ(read_interrupts(),
            "the GPU access of docker-aaaaaaaaaaaaaaaaa: a container may lose its GPU when systemd "
            "reloads its units");
}

TEST(Memlock, LiveLimitHoldsOnlyWhenSoftAndHardBothDo) {
  EXPECT_EQ(ServiceLimit(Show("infinity", "infinity")), "holds");
  EXPECT_EQ(ServiceLimit(Show("18446744073709551615", "18446744073709551615")), "holds");
  EXPECT_EQ(ServiceLimit(Show("65536", "infinity")), "soft 64 KiB, hard unlimited → unlimited");
}

TEST(Memlock, LiveLimitsAreShownWithUnits) {
  const auto detail = [](const std::string& bytes) {
    return Diff(ListResources(With(test::Number(4096)), Facts(Show(bytes, bytes))).back(),
                "memlock")
        ->detail;
  };
  EXPECT_EQ(detail("8388608"), "8192 KiB → 4096 KiB");
  EXPECT_EQ(detail("infinity"), "unlimited → 4096 KiB");
  EXPECT_EQ(detail("1000"), "1000 bytes → 4096 KiB");
}

TEST(Memlock, UnknownLiveLimitBlocksItselfAndNotTheFiles) {
  const auto resources = ListResources(With(test::Text("unlimited")), Facts({.exit_code = 124}));
  EXPECT_EQ(Diff(resources[1], "memlock")->change, ChangeKind::kAdd);
  EXPECT_EQ(Diff(resources[3], "memlock")->change, ChangeKind::kBlocked);
}

TEST(Memlock, FileThatOthersWroteIsBlockedAndWhatReloadsItToo) {
  NodeFacts facts = Facts(Show("8388608", "8388608"));
  for (const char* path : {kPam, kSystem}) facts.files[path] = FileState{.content = "# mine\n"};
  const auto resources = ListResources(With(test::Text("unlimited")), facts);
  const std::string why =
      "was not written by spark-reconcile: move it away, or remove this from the manifest";
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(Diff(resources[i], "memlock")->change, ChangeKind::kBlocked);
    EXPECT_EQ(Diff(resources[i], "memlock")->detail, why);
  }
  EXPECT_EQ(Diff(resources[2], "memlock")->change, ChangeKind::kAdd);
  EXPECT_EQ(Diff(resources[3], "memlock")->change, ChangeKind::kBlocked);
  EXPECT_EQ(Diff(resources[3], "memlock")->detail, std::string(kSystem) + " " + why);
}

// A reload would not change it, and each apply would be reverted for that.
TEST(Memlock, AServiceLimitThatALaterDropInSetsIsBlocked) {
  const auto plan = [](const std::string& path, const std::string& content) {
    NodeFacts facts = Facts(Show("8388608", "8388608"));
    facts.files[path] = FileState{.content = content};
    const auto resources = ListResources(With(test::Text("unlimited")), facts);
    EXPECT_EQ(Diff(resources[1], "memlock")->change, ChangeKind::kAdd);
    const auto change = Diff(resources[3], "memlock");
    return change->change == ChangeKind::kBlocked ? change->detail : "changes";
  };
  const std::string later = "/etc/systemd/system.conf.d/99-limits.conf";
  EXPECT_EQ(
      plan(later, "[Manager]\n# of a guide\nDefaultLimitMEMLOCK = 8M\n"),
      "/etc/systemd/system.conf.d/99-limits.conf:3 sets DefaultLimitMEMLOCK=8M and is read "
      "after /etc/systemd/system.conf.d/60-spark-reconcile.conf: remove that line, or give it "
      "the value of the manifest");
  EXPECT_NE(plan("/run/systemd/system.conf.d/99.conf", "[Manager]\nDefaultLimitMEMLOCK=\n"),
            "changes");
  EXPECT_NE(plan(later, "[Manager]\nDefaultLimitMEMLOCK=8M:infinity\n"), "changes");
  for (const char* same : {"[Manager]\nDefaultLimitMEMLOCK=infinity\n",
                           "[Manager]\nDefaultLimitMEMLOCK=8M\nDefaultLimitMEMLOCK=infinity\n",
                           "[Manager]\nDefaultLimitMEMLOCK=lots\n",
                           "[Manager]\nDefaultLimitNOFILE=1\n#DefaultLimitMEMLOCK=1\n",
                           "[Other]\nDefaultLimitMEMLOCK=1\n", "DefaultLimitMEMLOCK=1\n"}) {
    EXPECT_EQ(plan(later, same), "changes") << same;
  }
  const std::string other = "[Manager]\nDefaultLimitMEMLOCK=1\n";
  EXPECT_EQ(plan("/etc/systemd/system.conf.d/10-early.conf", other), "changes");
  EXPECT_EQ(plan("/etc/systemd/user.conf.d/99-limits.conf", other), "changes");
}

TEST(Memlock, ADropInIsReadFromTheLastFolderThatHasItsName) {
  NodeFacts facts = Facts(Show("8388608", "8388608"));
  facts.files["/usr/lib/systemd/system.conf.d/90-x.conf"] =
      FileState{.content = "[Manager]\nDefaultLimitMEMLOCK=1\n"};
  const auto plan = [&] {
    return Diff(ListResources(With(test::Number(65536)), facts).back(), "memlock")->change;
  };
  EXPECT_EQ(plan(), ChangeKind::kBlocked);
  facts.files["/etc/systemd/system.conf.d/90-x.conf"] = Unknown{std::string(kLinkToNull)};
  EXPECT_EQ(plan(), ChangeKind::kModify);
  facts.files["/etc/systemd/system.conf.d/90-x.conf"] =
      FileState{.content = "[Manager]\nDefaultLimitMEMLOCK=64M:65536K\n"};
  EXPECT_EQ(plan(), ChangeKind::kModify);
}

TEST(Memlock, ALaterDropInForServicesOfUsersIsWarnedOf) {
  NodeFacts facts = Facts(Show("infinity", "infinity"));
  facts.files["/etc/systemd/user.conf.d/99-limits.conf"] =
      FileState{.content = "[Manager]\nDefaultLimitMEMLOCK=8M\n"};
  const ClusterSpec cluster = With(test::Text("unlimited"));
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  const auto said = Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].severity, Severity::kWarns);
  EXPECT_EQ(said[0].code, "memlock-later-dropin");
  EXPECT_EQ(said[0].message,
            "memlock of user services: /etc/systemd/user.conf.d/99-limits.conf:2 sets "
            "DefaultLimitMEMLOCK=8M and is read after "
            "/etc/systemd/user.conf.d/60-spark-reconcile.conf");
  EXPECT_EQ(said[0].next_step, "remove that line, or give it the value of the manifest");
  EXPECT_EQ(said[0].where.position.line, 17);
}

// The next reload or boot reads it.
TEST(Memlock, ALaterDropInForServicesIsWarnedOfWhileTheLiveLimitHolds) {
  const ClusterSpec cluster = With(test::Text("unlimited"));
  const Fabric fabric;
  const auto diagnose = [&](const std::string& live) {
    NodeFacts facts = Facts(Show(live, live));
    facts.files["/etc/systemd/system.conf.d/99-limits.conf"] =
        FileState{.content = "[Manager]\nDefaultLimitMEMLOCK=8M\n"};
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    return Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all});
  };
  const auto said = diagnose("infinity");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].severity, Severity::kWarns);
  EXPECT_EQ(said[0].code, "memlock-later-dropin");
  EXPECT_EQ(said[0].message,
            "memlock of services: /etc/systemd/system.conf.d/99-limits.conf:2 sets "
            "DefaultLimitMEMLOCK=8M and is read after "
            "/etc/systemd/system.conf.d/60-spark-reconcile.conf");
  EXPECT_EQ(said[0].next_step, "remove that line, or give it the value of the manifest");
  EXPECT_EQ(said[0].subject, "services");
  EXPECT_TRUE(diagnose("8388608").empty()) << "the live limit is blocked with it";
}

TEST(Memlock, UnknownLiveLimitSaysWhy) {
  EXPECT_EQ(ServiceLimit({.exit_code = 124}), "unknown: systemctl gave no answer in 5 s");
  EXPECT_EQ(ServiceLimit({.exit_code = 127}), "unknown: systemctl is not installed");
  EXPECT_EQ(ServiceLimit({.exit_code = 1, .err = "Failed to connect to bus: Host is down\n"}),
            "unknown: systemctl show failed: Failed to connect to bus: Host is down");
  EXPECT_EQ(ServiceLimit({.exit_code = 3}), "unknown: systemctl show failed: exit 3");
  EXPECT_EQ(ServiceLimit({.out = "Id=-.mount\n"}), "unknown: systemctl shows no LimitMEMLOCK");
  EXPECT_EQ(ServiceLimit(Show("many", "many")), "unknown: systemctl shows no LimitMEMLOCK");
}

TEST(Memlock, AnAnswerToAnotherPluginsRequestIsNoFact) {
  EXPECT_EQ(Facts({.out = "Id=x.service\nLimitMEMLOCK=1\n"}).memlock.service, std::nullopt);
}

TEST(Memlock, SessionLimitIsTheSoftOneOfTheLoginItself) {
  NodeFacts facts;
  Get().parse(
      {.commands = {{"memlock.session",
                     {.out = "Limit                     Soft Limit           Hard Limit     "
                             "      Units     \n"
                             "Max processes             31391                31391          "
                             "      processes \n"
                             "Max locked memory         8388608              unlimited      "
                             "      bytes     \n"}}}},
      facts);
  EXPECT_EQ(facts.memlock.session, Observed<MemoryLimit>(MemoryLimit{8388608}));
}

TEST(Memlock, SessionLimitThatIsNotShownIsUnknown) {
  NodeFacts facts;
  Get().parse({.commands = {{"memlock.session", {.exit_code = 1}}}}, facts);
  EXPECT_EQ(facts.memlock.session,
            Observed<MemoryLimit>(Unknown{"/proc/self/limits has no line for locked memory"}));
}

TEST(Memlock, SessionLimitThatIsNoNumberIsUnknownWithTheWord) {
  const auto session = [](const std::string& limit) {
    NodeFacts facts;
    const std::string line = "Max locked memory         " + limit + "   unlimited   bytes\n";
    Get().parse({.commands = {{"memlock.session", {.out = line}}}}, facts);
    return facts.memlock.session;
  };
  EXPECT_EQ(session("lots"),
            Observed<MemoryLimit>(Unknown{"wanted a limit in bytes, found 'lots'"}));
  EXPECT_EQ(session("-1"), Observed<MemoryLimit>(Unknown{"wanted a limit in bytes, found '-1'"}));
  EXPECT_EQ(session("18446744073709551615"),
            Observed<MemoryLimit>(MemoryLimit{MemoryLimit::kUnlimited}));
}

TEST(Memlock, EveryReadHasATimeLimit) {
  const ClusterSpec cluster = With(test::Text("unlimited"));
  int commands = 0;
  for (const Read& read : Get().probe(cluster, Fabric(), cluster.nodes.front())) {
    if (const auto* probe = std::get_if<RunProbe>(&read)) {
      ++commands;
      EXPECT_GT(probe->time_limit_s, 0) << probe->id;
    }
  }
  EXPECT_EQ(commands, 2);
}

TEST(Memlock, WhatWasWrittenHoldsAfterwards) {
  const ClusterSpec cluster = With(test::Text("unlimited"));
  NodeFacts facts = Facts(Show("infinity", "infinity"));
  for (const Resource& resource : ListResources(cluster, facts)) {
    const auto& desired = std::get<ResourceState>(resource.desired);
    if (const auto* file = std::get_if<FileState>(&desired)) facts.files[resource.name] = *file;
  }
  for (const Resource& resource : ListResources(cluster, facts)) {
    EXPECT_FALSE(Diff(resource, "memlock")) << resource.name;
  }
}

}  // namespace
}  // namespace reconciler::plugins::memlock
