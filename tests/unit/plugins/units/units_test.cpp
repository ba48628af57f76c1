#include "plugins/units/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::units {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Settings = std::vector<std::pair<std::string, Value>>;

constexpr const char* kService =
    "[Service]\nExecStart=/bin/sleep 1d\n[Install]\nWantedBy=multi-user.target\n";
constexpr const char* kPath = "/etc/systemd/system/demo.service";

ClusterSpec Cluster(std::vector<Settings> units) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  cluster.nodes.push_back({.name = "spark-1", .id = 1});
  cluster.nodes.push_back({.name = "spark-2", .id = 2});
  std::vector<Value> entries;
  int line = 20;
  for (Settings& unit : units) entries.push_back(test::At(line++, test::Map(std::move(unit))));
  cluster.settings = test::Map({{"units", test::List(std::move(entries))}});
  return cluster;
}

Settings Demo(bool enabled = true, bool active = true) {
  return {{"name", test::Text("demo.service")},
          {"content", test::Text(kService)},
          {"enabled", test::Flag(enabled)},
          {"active", test::Flag(active)}};
}

std::string Block(const std::string& name, const std::string& load, const std::string& file,
                  const std::string& active, const std::string& more = "") {
  return "ActiveState=" + active + "\nId=" + name + "\nLoadState=" + load + "\nNames=" + name +
         "\nNeedDaemonReload=no\nUnitFileState=" + file + "\n" + more;
}

NodeFacts Facts(const CommandReply& show) {
  NodeFacts facts{.node = "spark-1"};
  facts.files[kPath] = Absent{};
  Get().parse({.commands = {{"common.units", show}}}, facts);
  return facts;
}

std::vector<Resource> ListResources(const ClusterSpec& cluster, const NodeFacts& facts) {
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  return Get().resources({cluster, fabric, *cluster.FindNode(facts.node), facts, all});
}

// The steps of one stage as the engine runs them: actions in order, then each trigger once.
std::vector<std::string> ListSteps(const std::vector<Resource>& resources) {
  std::vector<std::string> steps;
  std::vector<std::string> triggers;
  std::set<std::string> ids;
  for (const Resource& resource : resources) {
    const auto change = Diff(resource, "units");
    if (!change || change->change == ChangeKind::kBlocked) continue;
    for (const Action& action : change->actions) steps.push_back(Describe(action));
    for (const RunCommand& trigger : change->triggers) {
      if (trigger.id.empty() || ids.insert(trigger.id).second)
        triggers.push_back(Describe(trigger));
    }
  }
  steps.insert(steps.end(), triggers.begin(), triggers.end());
  return steps;
}

std::string StateDetail(Settings unit, const CommandReply& show) {
  const auto change = Diff(ListResources(Cluster({std::move(unit)}), Facts(show)).back(), "units");
  if (!change) return "holds";
  return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
}

std::vector<std::string> ListMessages(const Errors& errors) {
  std::vector<std::string> messages;
  for (const Error& error : errors) messages.push_back(error.message);
  return messages;
}

std::vector<std::string> Check(std::vector<Settings> units) {
  return ListMessages(Get().check(Cluster(std::move(units)), Fabric()));
}

TEST(Units, NewUnitIsWrittenLinkedReloadedAndStartedOnce) {
  const NodeFacts facts = Facts({.out = Block("demo.service", "not-found", "", "inactive")});
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("write /etc/systemd/system/demo.service",
                          "run systemctl --no-reload enable -- demo.service",
                          "run systemctl daemon-reload", "run systemctl restart -- demo.service"));
  EXPECT_EQ(Diff(resources[1], "units")->detail, "disabled inactive → enabled active");
  EXPECT_EQ(Diff(resources[0], "units")->impact, Impact::kNone);
}

// systemd 255 counts a `disable` that finds no unit as a change that is not loaded yet.
TEST(Units, ARevertReloadsAfterItDisabledAUnitWhoseFileIsGone) {
  const NodeFacts facts = Facts({.out = Block("demo.service", "not-found", "", "inactive")});
  const std::optional<Change> change = Diff(ListResources(Cluster({Demo()}), facts)[1], "units");
  std::vector<std::string> verbs;
  for (const Action& action : change->revert) {
    verbs.push_back(Join(std::get<RunCommand>(action).argv, " "));
  }
  EXPECT_THAT(verbs, ElementsAre("systemctl --no-reload disable -- demo.service",
                                 "systemctl daemon-reload", "systemctl stop -- demo.service",
                                 "systemctl reset-failed -- demo.service"));
}

TEST(Units, FilesOfAllUnitsComeBeforeAnyCommand) {
  Settings other = {{"name", test::Text("other.service")},
                    {"drop_ins", test::Map({{"10-a.conf", test::Text("[Service]\nNice=5")}})},
                    {"active", test::Flag(true)}};
  NodeFacts facts = Facts({.out = Block("demo.service", "not-found", "", "inactive") + "\n" +
                                  Block("other.service", "loaded", "static", "inactive")});
  facts.files["/etc/systemd/system/other.service.d/10-a.conf"] = Absent{};
  const auto resources = ListResources(Cluster({Demo(), other}), facts);
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("write /etc/systemd/system/demo.service",
                          "write /etc/systemd/system/other.service.d/10-a.conf",
                          "run systemctl --no-reload enable -- demo.service",
                          "run systemctl cat --no-pager -- other.service",
                          "run systemctl daemon-reload", "run systemctl restart -- demo.service",
                          "run systemctl restart -- other.service"));
  EXPECT_EQ(std::get<FileState>(std::get<ResourceState>(resources[1].desired)),
            (FileState{.content = FormatOwnedFile("homelab", "[Service]\nNice=5\n")}));
}

TEST(Units, ChangedContentRestartsARunningUnitOnce) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService) + "# edited\n"};
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("write /etc/systemd/system/demo.service", "run systemctl daemon-reload",
                          "run systemctl restart -- demo.service"));
  EXPECT_EQ(Diff(resources[0], "units")->impact, Impact::kServiceRestart);
}

// With the file as it was when another target wanted the unit.
std::vector<Resource> WithOtherInstall(Settings unit, const CommandReply& show) {
  NodeFacts facts = Facts(show);
  facts.files[kPath] = FileState{
      .content = FormatOwnedFile(
          "homelab", "[Install]\nWantedBy=graphical.target\n[Service]\nExecStart=/bin/sleep 1d\n")};
  return ListResources(Cluster({std::move(unit)}), facts);
}

// systemd takes the unit for enabled by the link of the other target.
TEST(Units, AChangedInstallSectionOfAnEnabledUnitChangesItsLinks) {
  const std::string relink = "run systemctl --no-reload reenable -- demo.service";
  const auto resources =
      WithOtherInstall(Demo(), {.out = Block("demo.service", "loaded", "enabled", "active")});
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("write /etc/systemd/system/demo.service", relink,
                          "run systemctl daemon-reload", "run systemctl restart -- demo.service"));
  const std::vector<Action> revert = Diff(resources[0], "units")->revert;
  ASSERT_EQ(revert.size(), 1u);
  EXPECT_EQ(Describe(revert[0]), relink);
  EXPECT_TRUE(std::get<RunCommand>(revert[0]).after_boot);  // of the text that was restored
  // New content of a failed unit starts nothing, and has its links all the same.
  EXPECT_THAT(
      ListSteps(
          WithOtherInstall(Demo(), {.out = Block("demo.service", "loaded", "enabled", "failed")})),
      ElementsAre("write /etc/systemd/system/demo.service", relink, "run systemctl daemon-reload"));
}

// Also= of a unit whose file is not there yet is ignored by systemd. A reload that came before
// the links would not see them.
TEST(Units, LinksAreMadeAgainWhenAllFilesAreThereAndBeforeAReload) {
  Settings other = {{"name", test::Text("demo.socket")},
                    {"content", test::Text("[Socket]\nListenStream=1\n")}};
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", "[Service]\n")};
  facts.files["/etc/systemd/system/demo.socket"] = Absent{};
  const std::string relink = "run systemctl --no-reload reenable -- demo.service";
  EXPECT_THAT(
      ListSteps(ListResources(Cluster({Demo(), other}), facts)),
      ElementsAre("write /etc/systemd/system/demo.service", "write /etc/systemd/system/demo.socket",
                  relink, "run systemctl daemon-reload", "run systemctl restart -- demo.service",
                  "run systemctl daemon-reload"));
  EXPECT_THAT(
      ListSteps(ListResources(Cluster({other, Demo()}), facts)),
      ElementsAre("write /etc/systemd/system/demo.socket", "write /etc/systemd/system/demo.service",
                  "run systemctl daemon-reload", relink, "run systemctl daemon-reload",
                  "run systemctl restart -- demo.service"));
}

TEST(Units, LinksThatAreNotThereOrNotManagedAreNotMadeAgain) {
  EXPECT_THAT(ListSteps(WithOtherInstall(
                  Demo(), {.out = Block("demo.service", "loaded", "disabled", "active")})),
              ElementsAre("write /etc/systemd/system/demo.service",
                          "run systemctl --no-reload enable -- demo.service",
                          "run systemctl daemon-reload", "run systemctl restart -- demo.service"));
  const Settings unit = {{"name", test::Text("demo.service")}, {"content", test::Text(kService)}};
  EXPECT_THAT(ListSteps(WithOtherInstall(
                  unit, {.out = Block("demo.service", "loaded", "enabled", "active")})),
              ElementsAre("write /etc/systemd/system/demo.service", "run systemctl daemon-reload"));
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  facts.files[kPath] =
      FileState{.content = FormatOwnedFile(
                    "homelab", "[Service]\n[Install]\n# a note\n\n WantedBy=multi-user.target\n")};
  EXPECT_THAT(ListSteps(ListResources(Cluster({Demo()}), facts)),
              ElementsAre("write /etc/systemd/system/demo.service", "run systemctl daemon-reload",
                          "run systemctl restart -- demo.service"));
}

TEST(Units, WhereLinksMustChangeAnUnknownStateBlocksTheFile) {
  const auto change = Diff(WithOtherInstall(Demo(), {.exit_code = 124})[0], "units");
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_EQ(change->code, "plan-state-unknown");
  EXPECT_EQ(change->detail, "unknown: systemctl gave no answer in 5 s");
}

TEST(Units, ChangedContentRestartsNothingWhereActiveIsNotManaged) {
  Settings unit = {{"name", test::Text("demo.service")}, {"content", test::Text(kService)}};
  EXPECT_THAT(ListSteps(ListResources(Cluster({unit}), Facts({}))),
              ElementsAre("write /etc/systemd/system/demo.service", "run systemctl daemon-reload"));
}

TEST(Units, EnablingARunningUnitDoesNotRestartIt) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "disabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_THAT(ListSteps(resources), ElementsAre("run systemctl --no-reload enable -- demo.service",
                                                "run systemctl daemon-reload"));
  EXPECT_THAT(Diff(resources[1], "units")->revert,
              ElementsAre(Action(
                  RunCommand{.argv = {"systemctl", "--no-reload", "disable", "--", "demo.service"},
                             .at_boot = true})));
}

std::vector<std::string> ListVerbs(const std::vector<RunCommand>& commands) {
  std::vector<std::string> verbs;
  for (const RunCommand& command : commands) verbs.push_back(Join(command.argv, " "));
  return verbs;
}

TEST(Units, AKeyThatAnEntryGotLaterIsPrunedToo) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "disabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto prune = [&](const std::vector<Action>& original) {
    facts.ledger =
        Ledger{.cluster = "homelab",
               .entries = {{.kind = "unit", .name = "demo.service", .original = original}}};
    return Diff(ListResources(Cluster({Demo()}), facts)[1], "units")->prune_commands;
  };
  const std::string disable = "systemctl --no-reload disable -- demo.service";
  // Started by an entry without `enabled`.
  const PruneCommands added = prune({RunCommand{{"systemctl", "stop", "--", "demo.service"}}});
  EXPECT_TRUE(added.adds);
  EXPECT_THAT(ListVerbs(added.before), ElementsAre(disable));
  EXPECT_THAT(ListVerbs(added.after), ElementsAre("systemctl daemon-reload"));
  // What was there before us is known already: someone disabled it since.
  EXPECT_FALSE(
      prune({RunCommand{{"systemctl", "--no-reload", "enable", "--", "demo.service"}}}).adds);
  facts.ledger = Absent{};
  const PruneCommands first =
      Diff(ListResources(Cluster({Demo()}), facts)[1], "units")->prune_commands;
  EXPECT_FALSE(first.adds);
  EXPECT_THAT(ListVerbs(first.before), ElementsAre(disable));
}

// docker was disabled and ran before the first apply, so that the entry has no command for
// `active`; someone stopped it since.
TEST(Units, AKeyThatHeldAtTheFirstApplyIsLeftAloneByAPrune) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "inactive")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto prune = [&](const std::string& verb, std::optional<std::string> applied) {
    facts.ledger =
        Ledger{.cluster = "homelab",
               .entries = {{.kind = "unit",
                            .name = "demo.service",
                            .original = {RunCommand{{"systemctl", verb, "--", "demo.service"}}},
                            .applied = std::move(applied)}}};
    return Diff(ListResources(Cluster({Demo()}), facts)[1], "units")->prune_commands;
  };
  const PruneCommands held = prune("disable", "enabled active");
  EXPECT_FALSE(held.adds);
  EXPECT_THAT(held.before, IsEmpty());
  // Of an entry that had `enabled` alone, `active` is added.
  for (const auto& applied :
       {std::optional<std::string>("enabled"), std::optional<std::string>()}) {
    const PruneCommands added = prune("disable", applied);
    EXPECT_TRUE(added.adds);
    EXPECT_THAT(ListVerbs(added.before), ElementsAre("systemctl stop -- demo.service"));
  }
  // It was enabled, and its entry has no command for that.
  facts = Facts({.out = Block("demo.service", "loaded", "disabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  EXPECT_FALSE(prune("stop", "enabled active").adds);
}

constexpr const char* kSocketPath = "/etc/systemd/system/demo.socket";

Settings Socket(bool active = true) {
  return {{"name", test::Text("demo.socket")},
          {"content", test::Text("[Socket]\nListenStream=1\n")},
          {"active", test::Flag(active)}};
}

NodeFacts SocketFacts(const std::string& socket, const std::string& service) {
  NodeFacts facts = Facts({.out = Block("demo.socket", "loaded", "static", socket) + "\n" +
                                  Block("demo.service", "loaded", "static", service)});
  facts.files[kSocketPath] =
      FileState{.content = FormatOwnedFile("homelab", "[Socket]\nListenStream=1\n")};
  return facts;
}

// The verb and the unit, behind the script. systemd refuses the plain command while the service
// runs.
auto IsStartedAroundService(const std::string& verb) {
  return ElementsAre("sh", "-c", testing::HasSubstr("show Triggers"), "sh", verb, "demo.socket");
}

TEST(Units, ASocketIsRestartedAroundItsService) {
  for (const std::string service : {"active", "inactive"}) {
    for (const std::string socket : {"active", "inactive"}) {
      NodeFacts facts = SocketFacts(socket, service);
      facts.files[kSocketPath] = FileState{.content = FormatOwnedFile("homelab", "[Socket]\n")};
      const auto change = Diff(ListResources(Cluster({Socket()}), facts)[0], "units");
      ASSERT_EQ(change->triggers.size(), 2u);
      EXPECT_THAT(change->triggers[1].argv, IsStartedAroundService("restart"));
      EXPECT_EQ(change->triggers[1].id, "restart demo.socket");
      EXPECT_EQ(change->triggers[1].time_limit_s, 480) << "a stop and three starts";
      const bool neither_runs = socket == "inactive" && service == "inactive";
      EXPECT_EQ(change->impact, neither_runs ? Impact::kNone : Impact::kServiceRestart)
          << socket << " " << service;
    }
  }
}

TEST(Units, AStartOfASocketRestartsAServiceThatRuns) {
  const auto start = [](const std::string& service) {
    return *Diff(ListResources(Cluster({Socket()}), SocketFacts("inactive", service))[1], "units");
  };
  EXPECT_THAT(start("active").triggers.back().argv, IsStartedAroundService("restart"));
  EXPECT_EQ(start("active").impact, Impact::kServiceRestart);
  EXPECT_EQ(start("inactive").impact, Impact::kNone);
}

// As a packaged file says; a connection of a socket with Accept=yes goes on.
TEST(Units, AStartOfASocketMayRestartAServiceThatAFileOfOthersNames) {
  const Settings packaged = {{"name", test::Text("demo.socket")}, {"active", test::Flag(true)}};
  const auto plan = [&](const Settings& socket, const std::string& more,
                        const std::string& others = "") {
    const NodeFacts facts =
        Facts({.out = Block("demo.socket", "loaded", "static", "inactive", more) + "\n" +
                      Block("demo.service", "not-found", "", "inactive") + "\n" + others});
    return Diff(ListResources(Cluster({socket}), facts).back(), "units")->impact;
  };
  EXPECT_EQ(plan(packaged, "Accept=no\nTriggers=demo.service\n"), Impact::kNone);
  EXPECT_EQ(plan(packaged, "Accept=no\nTriggers=other.service\n"), Impact::kServiceRestart)
      << "not read";
  EXPECT_EQ(plan(packaged, "Accept=no\nTriggers=other.service\n",
                 Block("other.service", "loaded", "static", "inactive")),
            Impact::kNone);
  EXPECT_EQ(plan(packaged, "Accept=yes\nTriggers=demo@0-1.service\n"), Impact::kNone);
  const std::string quoted = R"(Triggers="a\\x2db.service" c.service)"
                             "\n";
  EXPECT_EQ(plan(packaged, quoted,
                 Block(R"(a\x2db.service)", "loaded", "static", "inactive") + "\n" +
                     Block("c.service", "loaded", "static", "inactive")),
            Impact::kNone);
  EXPECT_EQ(plan(packaged, quoted,
                 Block(R"(a\x2db.service)", "loaded", "static", "activating") + "\n" +
                     Block("c.service", "loaded", "static", "inactive")),
            Impact::kServiceRestart);
  const Settings timer = {{"name", test::Text("demo.timer")}, {"active", test::Flag(true)}};
  const NodeFacts facts = Facts(
      {.out = Block("demo.timer", "loaded", "static", "inactive", "Triggers=demo.service\n")});
  EXPECT_EQ(Diff(ListResources(Cluster({timer}), facts).back(), "units")->impact, Impact::kNone);
}

TEST(Units, ARevertStartsASocketAgainAroundItsService) {
  const auto change =
      Diff(ListResources(Cluster({Socket(false)}), SocketFacts("active", "active"))[1], "units");
  const auto& start = std::get<RunCommand>(change->revert.back());
  EXPECT_THAT(start.argv, IsStartedAroundService("start"));
  EXPECT_TRUE(start.must_succeed);
}

TEST(Units, TheServiceThatAnActiveSocketStartsIsReadToo) {
  Settings named = Socket();
  named.emplace_back("drop_ins",
                     test::Map({{"10-a.conf", test::Text("[Socket]\nService=other.service\n")}}));
  const auto list_read = [](Settings unit) {
    const ClusterSpec cluster = Cluster({std::move(unit)});
    return std::get<RunProbe>(Get().probe(cluster, Fabric(), cluster.nodes[0])[0]).operands;
  };
  EXPECT_THAT(list_read(Socket()), ElementsAre("demo.socket", "demo.service"));
  EXPECT_THAT(list_read(named), ElementsAre("demo.socket", "other.service"));
  EXPECT_THAT(list_read(Socket(false)), ElementsAre("demo.socket"));
  Settings accepts = Socket();
  accepts[1].second = test::Text("[Socket]\nListenStream=1\nAccept=yes\n");
  EXPECT_THAT(list_read(accepts), ElementsAre("demo.socket")) << "no one service";
}

TEST(Units, UnwantedUnitIsDisabledAndStopped) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto resources = ListResources(Cluster({Demo(false, false)}), facts);
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("run systemctl --no-reload disable -- demo.service",
                          "run systemctl stop -- demo.service", "run systemctl daemon-reload"));
  const std::optional<Change> change = Diff(resources[1], "units");
  EXPECT_EQ(change->detail, "enabled active → disabled inactive");
  EXPECT_EQ(change->impact, Impact::kNone);  // stopped is not restarted
  const auto& start = std::get<RunCommand>(change->revert.back());
  EXPECT_EQ(start.argv.at(1), "start");
  EXPECT_TRUE(start.must_succeed);  // it ran before
}

TEST(Units, FilesThatSystemdHasNotReadAreReloadedAndTheUnitRestarted) {
  std::string block = Block("demo.service", "loaded", "enabled", "active");
  block.replace(block.find("NeedDaemonReload=no"), 19, "NeedDaemonReload=yes");
  NodeFacts facts = Facts({.out = block});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_EQ(Diff(resources[1], "units")->detail, "enabled active not-reloaded → enabled active");
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("run systemctl --no-reload enable -- demo.service",
                          "run systemctl daemon-reload", "run systemctl restart -- demo.service"));
}

TEST(Units, WhatHoldsGivesNoChange) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  EXPECT_THAT(ListSteps(ListResources(Cluster({Demo()}), facts)), IsEmpty());
}

TEST(Units, OnlyWhatTheManifestSaysIsCompared) {
  Settings unit = {{"name", test::Text("demo.service")}, {"enabled", test::Flag(true)}};
  EXPECT_EQ(StateDetail(unit, {.out = Block("demo.service", "loaded", "enabled", "failed")}),
            "holds");
  unit[1].first = "active";
  EXPECT_EQ(StateDetail(unit, {.out = Block("demo.service", "loaded", "static", "active")}),
            "holds");
}

TEST(Units, UnitThatDoesNotRunOrIsNotThereIsInactiveAndDisabled) {
  const Settings off = {{"name", test::Text("demo.service")},
                        {"enabled", test::Flag(false)},
                        {"active", test::Flag(false)}};
  EXPECT_EQ(StateDetail(off, {.out = Block("demo.service", "not-found", "", "inactive")}), "holds");
  EXPECT_EQ(StateDetail(off, {.out = Block("demo.service", "masked", "masked", "inactive")}),
            "holds");
  EXPECT_EQ(StateDetail(off, {.out = Block("demo.service", "loaded", "static", "failed")}),
            "holds");
}

TEST(Units, EnabledUntilTheNextBootIsNotEnabled) {
  EXPECT_EQ(
      StateDetail(Demo(), {.out = Block("demo.service", "loaded", "enabled-runtime", "active")}),
      "enabled-runtime active → enabled active");
}

TEST(Units, WhatSystemctlCannotBringAboutIsBlockedWithTheReason) {
  const Settings vendor = {{"name", test::Text("demo.service")},
                           {"enabled", test::Flag(true)},
                           {"active", test::Flag(true)}};
  const auto detail = [&](const std::string& block) { return StateDetail(vendor, {.out = block}); };
  EXPECT_EQ(detail(Block("demo.service", "masked", "masked", "inactive")),
            "blocked: masked: systemctl unmask demo.service by hand");
  EXPECT_EQ(
      detail(Block("demo.service", "loaded", "enabled", "failed", "Result=exit-code\n")),
      "blocked: failed (exit-code): see journalctl -u demo.service, then systemctl reset-failed");
  EXPECT_EQ(detail(Block("demo.service", "not-found", "", "inactive")),
            "blocked: not installed, and the manifest gives no content for it");
  EXPECT_EQ(detail(Block("demo.service", "bad-setting", "disabled", "inactive")),
            "blocked: systemd cannot load it (bad-setting)");
  EXPECT_EQ(detail(Block("demo.service", "loaded", "static", "inactive")),
            "blocked: systemd calls its file 'static', which cannot be enabled");
}

TEST(Units, AServiceThatEndsOnceItHasRunIsNotStartedToBeActive) {
  Settings unit = {{"name", test::Text("demo.service")}, {"active", test::Flag(true)}};
  const std::string block = Block("demo.service", "loaded", "static", "inactive", "Type=oneshot\n");
  EXPECT_EQ(StateDetail(unit, {.out = block + "RemainAfterExit=no\n"}),
            "blocked: Type=oneshot without RemainAfterExit=yes is inactive once it has run: leave "
            "`active` out, or set that in a drop-in");
  EXPECT_EQ(StateDetail(unit, {.out = block + "RemainAfterExit=yes\n"}), "inactive → active");
  unit.emplace_back("drop_ins",
                    test::Map({{"10-a.conf", test::Text("[Service]\nRemainAfterExit=true\n")}}));
  NodeFacts facts = Facts({.out = block + "RemainAfterExit=no\n"});
  facts.files["/etc/systemd/system/demo.service.d/10-a.conf"] = Absent{};
  EXPECT_EQ(Diff(ListResources(Cluster({unit}), facts).back(), "units")->detail,
            "inactive → active");
}

TEST(Units, NothingThatIsShownBlockedIsRestarted) {
  for (const CommandReply& show :
       {CommandReply{.out = Block("demo.service", "loaded", "enabled", "failed")},
        CommandReply{.out = Block("demo.service", "masked", "masked", "inactive")},
        CommandReply{.out = Block("demo.service", "loaded", "enabled", "activating")},
        CommandReply{.exit_code = 124}}) {
    const auto resources = ListResources(Cluster({Demo()}), Facts(show));
    EXPECT_EQ(Diff(resources.back(), "units")->change, ChangeKind::kBlocked);
    EXPECT_EQ(Diff(resources.front(), "units")->impact, Impact::kNone);
    EXPECT_THAT(ListSteps(resources), ElementsAre("write /etc/systemd/system/demo.service",
                                                  "run systemctl daemon-reload"));
  }
}

TEST(Units, UnitWhoseFileIsBlockedIsBlockedByThat) {
  const Observed<FileState> stuck[] = {Unknown{"is not a regular file"},
                                       FileState{.content = "# another program\n"},
                                       FileState{.content = FormatOwnedFile("office", kService)}};
  const std::string whys[] = {
      "cannot be read: is not a regular file",
      "was not written by spark-reconcile: move it away, or remove this from the manifest",
      "belongs to cluster 'office': move it away if that cluster is gone, or remove this from the "
      "manifest"};
  for (std::size_t i = 0; i < std::size(stuck); ++i) {
    for (const bool on : {true, false}) {
      NodeFacts facts = Facts({.out = Block("demo.service", "loaded", on ? "disabled" : "enabled",
                                            on ? "inactive" : "active")});
      facts.files[kPath] = stuck[i];
      const auto resources = ListResources(Cluster({Demo(on, on)}), facts);
      EXPECT_EQ(Diff(resources[0], "units")->change, ChangeKind::kBlocked);
      EXPECT_EQ(Diff(resources[1], "units")->change, ChangeKind::kBlocked);
      EXPECT_EQ(Diff(resources[1], "units")->detail, std::string(kPath) + " " + whys[i]);
      EXPECT_THAT(ListSteps(resources), IsEmpty());
    }
  }
}

TEST(Units, UnitWhoseDropInIsBlockedIsNotRestarted) {
  Settings unit = Demo();
  unit.emplace_back("drop_ins", test::Map({{"10-a.conf", test::Text("[Service]\nNice=5")}}));
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "disabled", "active")});
  facts.files["/etc/systemd/system/demo.service.d/10-a.conf"] =
      FileState{.content = "[Service]\nNice=1\n"};
  const auto resources = ListResources(Cluster({unit}), facts);
  EXPECT_EQ(Diff(resources[2], "units")->detail,
            "/etc/systemd/system/demo.service.d/10-a.conf was not written by spark-reconcile: move "
            "it away, or remove this from the manifest");
  EXPECT_THAT(ListSteps(resources),
              ElementsAre("write /etc/systemd/system/demo.service", "run systemctl daemon-reload"));
}

TEST(Units, UnknownStateBlocksInsteadOfChanging) {
  EXPECT_EQ(StateDetail(Demo(), {.exit_code = 124,
                                 .out = Block("demo.service", "loaded", "enabled", "active")}),
            "blocked: unknown: systemctl gave no answer in 5 s");
  EXPECT_EQ(StateDetail(Demo(), {.exit_code = 127}),
            "blocked: unknown: systemctl is not installed");
  EXPECT_EQ(
      StateDetail(Demo(), {.exit_code = 1, .err = "Failed to connect to bus: Host is down\n"}),
      "blocked: unknown: systemctl show failed: Failed to connect to bus: Host is down");
  EXPECT_EQ(StateDetail(Demo(), {.exit_code = 4}),
            "blocked: unknown: systemctl show failed: exit 4");
  EXPECT_EQ(StateDetail(Demo(), {.out = Block("else.service", "loaded", "enabled", "active")}),
            "blocked: unknown: systemctl show left it out");
  EXPECT_EQ(StateDetail(Demo(), {.out = "Id=demo.service\nNames=demo.service\n"}),
            "blocked: unknown: systemctl shows no state for it");
  EXPECT_EQ(StateDetail(Demo(), {.out = Block("demo.service", "loaded", "enabled", "activating")}),
            "blocked: unknown: it is activating: neither running nor stopped yet");
}

TEST(Units, BlocksAreFoundByAnyNameInAnyOrder) {
  const std::string cron =
      "Id=cron.service\nNames=crond.service cron.service\nLoadState=loaded\n"
      "ActiveState=active\nUnitFileState=enabled\nNeedDaemonReload=no\n";
  const Settings unit = {{"name", test::Text("crond.service")}, {"active", test::Flag(true)}};
  EXPECT_EQ(
      StateDetail(unit, {.out = Block("a.service", "loaded", "static", "failed") + "\n" + cron}),
      "holds");
}

TEST(Units, AnAnswerToAnotherPluginsRequestIsNoFact) {
  EXPECT_EQ(Facts({.out = "Id=-.mount\nLoadState=loaded\n"}).units, UnitFacts());
}

TEST(Units, AllUnitsOfANodeAreReadByOneLimitedCommand) {
  const ClusterSpec cluster = Cluster(
      {Demo(),
       {{"name", test::Text("b.timer")}, {"active", test::Flag(true)}},
       {{"name", test::Text("c.service")}, {"drop_ins", test::Map({{"x.conf", test::Text("")}})}},
       {{"name", test::Text("d.service")},
        {"active", test::Flag(true)},
        {"nodes", test::List({test::Text("spark-2")})}}});
  const auto reads = Get().probe(cluster, Fabric(), cluster.nodes[0]);
  ASSERT_EQ(reads.size(), 4u);
  const auto& show = std::get<RunProbe>(reads[0]);
  EXPECT_EQ(show.time_limit_s, 5);
  EXPECT_EQ(show.argv.back(), "--");
  EXPECT_THAT(show.operands, ElementsAre("demo.service", "b.timer"));
  EXPECT_EQ(std::get<ReadFile>(reads[1]).path, kPath);
  EXPECT_EQ(std::get<ReadFile>(reads[2]).path, "/etc/systemd/system/c.service.d/x.conf");
}

TEST(Units, UnitIsHeldOnItsNodesOnly) {
  Settings unit = Demo();
  unit.emplace_back("nodes", test::List({test::Text("spark-2")}));
  const ClusterSpec cluster = Cluster({unit});
  EXPECT_THAT(ListResources(cluster, Facts({})), IsEmpty());
  EXPECT_EQ(ListResources(cluster, NodeFacts{.node = "spark-2"}).size(), 2u);
}

TEST(Units, NamesThatSystemdRefusesAreManifestErrors) {
  for (const std::string name :
       {"demo", "demo.conf", ".service", "-x.service", "-.mount", "a/b.service", "a b.service",
        "x.device", "@.service", "a\nb.service"}) {
    const auto messages = Check({{{"name", test::Text(name)}}});
    ASSERT_EQ(messages.size(), 1u) << name;
    EXPECT_TRUE(
        messages[0].starts_with("units: wanted a unit name such as 'demo.service', found '"));
  }
  EXPECT_THAT(
      Check({{{"name", test::Text("a\nb.service")}}}),
      ElementsAre("units: wanted a unit name such as 'demo.service', found 'a\\x0ab.service'"));
  EXPECT_THAT(Check({{{"name", test::Text("mnt-a\\x2db.mount")}, {"active", test::Flag(true)}},
                     {{"name", test::Text("a@b.timer")}, {"active", test::Flag(true)}}}),
              IsEmpty());
}

TEST(Units, DropInsThatSystemdWouldNotReadAreManifestErrors) {
  const auto check = [](const std::string& file) {
    return Check({{{"name", test::Text("demo.service")},
                   {"drop_ins", test::Map({{file, test::Text("[Service]\n")}})}}});
  };
  EXPECT_THAT(check("10-limits.conf"), IsEmpty());
  EXPECT_THAT(check("limits"),
              ElementsAre("units: demo.service: wanted a drop-in file name such as "
                          "'10-limits.conf', found 'limits'"));
  EXPECT_EQ(check("../x.conf").size(), 1u);
  EXPECT_EQ(check("a/x.conf").size(), 1u);
}

TEST(Units, StateThatCannotBeHeldIsAManifestError) {
  EXPECT_THAT(Check({{{"name", test::Text("demo@.service")}, {"enabled", test::Flag(false)}}}),
              ElementsAre("units: demo@.service: a template can be neither enabled nor active"));
  Settings bare = Demo();
  bare[1].second = test::Text("[Service]\nExecStart=/bin/true\n# [Install]\n");
  EXPECT_THAT(
      Check({bare}),
      ElementsAre("units: demo.service: wanted an [Install] section to enable it by, found none"));
  EXPECT_THAT(Check({Demo()}), IsEmpty());
}

TEST(Units, AnActiveServiceThatEndsOnceItHasRunIsAManifestError) {
  const auto check = [](const std::string& content, const std::string& drop_in = "") {
    return Check({{{"name", test::Text("demo.service")},
                   {"content", test::Text(content)},
                   {"drop_ins", test::Map({{"10-a.conf", test::Text(drop_in)}})},
                   {"active", test::Flag(true)}}});
  };
  const auto is_refused = ElementsAre(
      "units: demo.service: Type=oneshot without RemainAfterExit=yes is inactive once "
      "it has run, and cannot be active");
  const std::string oneshot = "[Service]\nExecStart=/bin/true\nType = oneshot\n";
  EXPECT_THAT(check(oneshot), is_refused);
  EXPECT_THAT(check(oneshot + "#RemainAfterExit=yes\n"), is_refused);
  EXPECT_THAT(check(oneshot + "RemainAfterExit=no\n[Unit]\nRemainAfterExit=yes\n"), is_refused);
  EXPECT_THAT(check("[Service]\nExecStart=/bin/true\n", "[Service]\nType=oneshot\n"), is_refused);
  EXPECT_THAT(check(oneshot + "RemainAfterExit=Yes\n"), IsEmpty());
  EXPECT_THAT(check(oneshot, "[Service]\nRemainAfterExit=1\n"), IsEmpty());
  EXPECT_THAT(check(oneshot + "Type=simple\n"), IsEmpty());
  EXPECT_THAT(check("[Service]\nExecStart=/bin/echo \\\nType=oneshot\n"), IsEmpty());
  EXPECT_THAT(Check({{{"name", test::Text("demo.service")}, {"content", test::Text(oneshot)}}}),
              IsEmpty());
}

TEST(Units, LinesThatSystemdWouldIgnoreAreManifestErrors) {
  const auto check = [](const std::string& content) {
    return Check({{{"name", test::Text("demo.timer")}, {"content", test::Text(content)}}});
  };
  EXPECT_THAT(
      check("# a note\n; another\n\n[Unit]\nDescription=a \\\n  b\n[X-Note]\nA=b\n[Timer]\n"),
      IsEmpty());
  EXPECT_THAT(check("OnBootSec=1min\n"),
              ElementsAre("units: demo.timer: content:1: wanted a section such as [Timer], found "
                          "'OnBootSec'"));
  EXPECT_THAT(check("[Timre]\n"),
              ElementsAre("units: demo.timer: content:1: wanted a section such as [Timer], found "
                          "'[Timre]', did you mean [Timer]?"));
  EXPECT_THAT(check("\n[Timer\n"),
              ElementsAre("units: demo.timer: content:2: wanted a section such as [Timer], found "
                          "'[Timer', did you mean [Timer]?"));
  EXPECT_THAT(check("[Timer]\nOnBootSec\n"),
              ElementsAre("units: demo.timer: content:2: wanted NAME=VALUE, found 'OnBootSec'"));
  EXPECT_THAT(check(" \n"),
              ElementsAre("units: demo.timer: content:1: wanted a section such as [Timer], found "
                          "nothing"));
  EXPECT_THAT(Check({{{"name", test::Text("demo.target")},
                      {"drop_ins", test::Map({{"a.conf", test::Text("Wants=a.service\n")}})}}}),
              ElementsAre("units: demo.target: a.conf:1: wanted a section such as [Unit], found "
                          "'Wants'"));
}

TEST(Units, AnEntryThatRequiresNothingIsAManifestError) {
  EXPECT_THAT(Check({{{"name", test::Text("demo.service")}}}),
              ElementsAre("units: demo.service: wanted content, drop_ins, enabled or active, found "
                          "none"));
}

TEST(Units, UnknownNodesAreManifestErrorsWithASuggestion) {
  Settings unit = Demo();
  unit.emplace_back("nodes", test::List({test::Text("spark-22")}));
  const Errors errors = Get().check(Cluster({unit}), Fabric());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message,
            "units: demo.service: unknown node 'spark-22', did you mean 'spark-2'?");
  EXPECT_EQ(errors[0].hint, "nodes: spark-1, spark-2");
  EXPECT_EQ(errors[0].where, (SourceMark{"cluster.yaml", {20, 5}}));
}

TEST(Units, TwoEntriesForOneUnitOnOneNodeAreAManifestError) {
  Settings first = Demo();
  first.emplace_back("nodes", test::List({test::Text("spark-1")}));
  Settings second = Demo();
  second.emplace_back("nodes", test::List({test::Text("spark-2")}));
  EXPECT_THAT(Check({first, second}), IsEmpty());
  EXPECT_THAT(
      Check({first, Demo()}),
      ElementsAre("units: wanted one entry for demo.service on spark-1, found another on line 20"));
}

TEST(Units, TwoEntriesAreReportedOnceWhateverTheNumberOfTheirNodes) {
  EXPECT_THAT(
      Check({Demo(), Demo()}),
      ElementsAre("units: wanted one entry for demo.service on spark-1, found another on line 20"));
}

// A start or stop changes no file, and systemd's own names of links do not count for it.
TEST(Units, AStartOrStopAloneReloadsNothing) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "enabled", "inactive")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  EXPECT_THAT(ListSteps(ListResources(Cluster({Demo()}), facts)),
              ElementsAre("run systemctl --no-reload enable -- demo.service",
                          "run systemctl restart -- demo.service"));
  const Settings other = {{"name", test::Text("demo.service")}, {"active", test::Flag(false)}};
  facts = Facts({.out = Block("demo.service", "loaded", "enabled", "active")});
  const auto resources = ListResources(Cluster({other}), facts);
  EXPECT_THAT(ListSteps(resources), ElementsAre("run systemctl stop -- demo.service"));
  EXPECT_THAT(resources.back().prune_commands->after, IsEmpty());
}

TEST(Units, WhatCarriesTheLoginIsAManifestError) {
  const ClusterSpec cluster =
      Cluster({{{"name", test::Text("ssh.socket")}, {"active", test::Flag(false)}}});
  EXPECT_EQ(FormatErrors(Get().check(cluster, Fabric())),
            "cluster.yaml:20:5: units: ssh.socket carries the login to the node, and is not "
            "managed\n"
            "  hint: set it up by hand, with a way to the node that does not need it\n");
  for (const char* name :
       {"ssh.service", "sshd.service", "sshd@.service", "ssh@3.service", "systemd-networkd.service",
        "systemd-networkd.socket", "NetworkManager.service", "dbus.service", "dbus.socket",
        "systemd-resolved.service", "systemd-logind.service", "dbus-org.freedesktop.login1.service",
        "user.slice", "user@1000.service", "user-1000.slice", "systemd-user-sessions.service",
        "wpa_supplicant.service"}) {
    EXPECT_EQ(Check({{{"name", test::Text(name)}, {"drop_ins", test::Map({})}}}).size(), 1u)
        << name;
  }
  for (const char* name : {"ssh-agent.service", "systemd-networkd-wait-online.service",
                           "dbus-fcitx.service", "NetworkManager-wait-online.service"}) {
    EXPECT_THAT(Check({{{"name", test::Text(name)}, {"active", test::Flag(true)}}}), IsEmpty())
        << name;
  }
  for (const std::string name : {"rescue.target", "sysinit.target", "basic.target", "system.slice",
                                 "runlevel6.target", "systemd-reboot.service"}) {
    EXPECT_THAT(Check({{{"name", test::Text(name)}, {"active", test::Flag(false)}}}),
                ElementsAre("units: " + name + " ends what runs on the node, and is not managed"));
  }
}

// systemd's reload takes the GPU from containers that got it through the runtime's hook.
TEST(Units, AReloadIsNamedWhereContainersHaveAGpu) {
  const std::string scope = "docker-" + std::string(64, 'a') + ".scope";
  const CommandReply show{.out = Block("demo.service", "loaded", "enabled", "inactive")};
  NodeFacts facts{.node = "spark-1"};
  Get().parse({.commands = {{"common.units", show},
                            {"systemctl.gpu_containers", {.out = scope + "\n../x.scope\nx\n"}}}},
              facts);
  facts.files[kPath] = Absent{};
  const std::string named =
      "the GPU access of docker-aaaaaaaaaaaaaaaaa: a container may lose its GPU when systemd "
      "reloads its units";
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_EQ(Diff(resources[0], "units")->interrupts, named);
  EXPECT_EQ(Diff(resources[1], "units")->interrupts, "");  // started, which reloads nothing

  const ClusterSpec cluster = Cluster({});
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  const PluginInput input{cluster, fabric, cluster.nodes[0], facts, all};
  Change prune{.kind = "file", .triggers = {{.argv = {"systemctl", "daemon-reload"}}}};
  Get().check_prune(input, prune);
  EXPECT_EQ(prune.interrupts, named);
  Change stop{.kind = "unit", .triggers = {{.argv = {"systemctl", "stop", "--", "demo.service"}}}};
  Get().check_prune(input, stop);
  EXPECT_EQ(stop.interrupts, "");
}

// With what the check of the plugin makes of it.
Change CheckedPrune(Change prune) {
  const ClusterSpec cluster = Cluster({});
  const NodeFacts facts{.node = "spark-1"};
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  EXPECT_EQ(Get().check_prune({cluster, fabric, cluster.nodes[0], facts, all}, prune),
            Ownership::kOurs);
  return prune;
}

std::vector<std::string> ListLastWords(const RunCommand& command, std::size_t count) {
  return {command.argv.end() - static_cast<std::ptrdiff_t>(count), command.argv.end()};
}

// Its package goes in an earlier stage of the same prune, or someone removed it by hand.
TEST(Units, APruneOfAUnitThatIsGoneFailsNothing) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "disabled", "inactive")});
  facts.files[kPath] = FileState{.content = FormatOwnedFile("homelab", kService)};
  const auto change = Diff(ListResources(Cluster({Demo()}), facts)[1], "units");
  // As the ledger has them, also that of an earlier version.
  const std::vector<RunCommand>& commands = change->prune_commands.before;
  ASSERT_THAT(ListVerbs(commands), ElementsAre("systemctl --no-reload disable -- demo.service",
                                               "systemctl stop -- demo.service"));
  const Change prune = CheckedPrune(
      {.kind = "unit", .actions = {commands[0], commands[1]}, .triggers = {commands[1]}});
  const auto& disable = std::get<RunCommand>(prune.actions[0]);
  const auto& stop = std::get<RunCommand>(prune.actions[1]);
  EXPECT_THAT(ListLastWords(disable, 4),
              ElementsAre("sh", "demo.service", "--no-reload", "disable"));
  EXPECT_THAT(ListLastWords(stop, 3), ElementsAre("sh", "demo.service", "stop"));
  EXPECT_EQ(prune.triggers[0].argv, stop.argv);
  EXPECT_TRUE(disable.at_boot);
  EXPECT_EQ(stop.time_limit_s, commands[1].time_limit_s);
}

// The ledger has plain commands, that of an earlier version for the revert too.
TEST(Units, APruneStartsASocketAroundItsService) {
  const RunCommand start{.argv = {"systemctl", "start", "--", "demo.socket"}, .must_succeed = true};
  const RunCommand restart{.argv = {"systemctl", "restart", "--", "demo.socket"},
                           .id = "restart demo.socket"};
  const RunCommand stop{.argv = {"systemctl", "stop", "--", "demo.socket"}};
  const Change prune = CheckedPrune(
      {.kind = "unit", .actions = {start, stop}, .revert = {restart}, .triggers = {restart}});
  EXPECT_THAT(std::get<RunCommand>(prune.actions[0]).argv, IsStartedAroundService("start"));
  EXPECT_TRUE(std::get<RunCommand>(prune.actions[0]).must_succeed);
  EXPECT_THAT(ListLastWords(std::get<RunCommand>(prune.actions[1]), 2),
              ElementsAre("demo.socket", "stop"));
  EXPECT_THAT(std::get<RunCommand>(prune.revert[0]).argv, IsStartedAroundService("restart"));
  EXPECT_THAT(prune.triggers[0].argv, IsStartedAroundService("try-restart"));
  EXPECT_EQ(prune.triggers[0].id, "restart demo.socket");
}

Settings InstalledWithDropIn() {
  return {{"name", test::Text("demo.service")},
          {"drop_ins", test::Map({{"10-a.conf", test::Text("[Service]\nNice=5")}})},
          {"active", test::Flag(true)}};
}
constexpr const char* kDropInPath = "/etc/systemd/system/demo.service.d/10-a.conf";

// A prune may have stopped it, when it did not run before the first apply.
TEST(Units, APruneOfADropInRestartsOnlyAUnitThatRuns) {
  NodeFacts facts = Facts({.out = Block("demo.service", "loaded", "static", "inactive")});
  facts.files[kDropInPath] = Absent{};
  const auto change = Diff(ListResources(Cluster({InstalledWithDropIn()}), facts)[0], "units");
  EXPECT_THAT(ListVerbs(change->prune_commands.after),
              ElementsAre("systemctl daemon-reload", "systemctl try-restart -- demo.service"));
  // The ledger of an earlier version.
  const Change prune =
      CheckedPrune({.kind = "file",
                    .triggers = {{.argv = {"systemctl", "daemon-reload"}, .id = "reload systemd"},
                                 {.argv = {"systemctl", "restart", "--", "demo.service"},
                                  .id = "restart demo.service"}}});
  EXPECT_THAT(ListVerbs({prune.triggers[0]}), ElementsAre("systemctl daemon-reload"));
  EXPECT_THAT(ListLastWords(prune.triggers[1], 2), ElementsAre("demo.service", "try-restart"));
  EXPECT_EQ(prune.triggers[1].id, "restart demo.service") << "with a changed file, once is enough";
}

// With a package of the manifest that apt is about to install.
NodeFacts WithPackage(const std::string& step_from = "") {
  NodeFacts facts = Facts({.out = Block("demo.service", "not-found", "", "inactive")});
  facts.files[kDropInPath] = Absent{};
  facts.packages.packages["demo"] = {
      .steps = std::vector<PackageStep>{{.name = "demo", .from = step_from, .to = "2"}}};
  return facts;
}

// The package may enable and start it, or do neither.
TEST(Units, WhatAPackageOfTheSameApplyMayBringIsKnownAfterIt) {
  for (const bool on : {true, false}) {
    const Settings unit = {{"name", test::Text("demo.service")},
                           {"enabled", test::Flag(on)},
                           {"active", test::Flag(on)}};
    const Resource state = ListResources(Cluster({unit}), WithPackage()).back();
    EXPECT_THAT(state.needs, ElementsAre("spark-1/package/demo"));
    EXPECT_EQ(HoldsOtherwise(state), !on) << "where the package is left out";
    const auto change = Diff(state, "units");
    EXPECT_TRUE(change->deferred);
    EXPECT_EQ(change->detail,
              "known after apply: the unit, once the packages of the manifest are installed");
  }
}

TEST(Units, WithoutAPackageToComeAUnitThatIsNotThereIsBlocked) {
  const auto plan = [](const NodeFacts& facts) {
    return Diff(ListResources(Cluster({InstalledWithDropIn()}), facts).back(), "units")->code;
  };
  EXPECT_EQ(plan(WithPackage("1")), "units-not-installed");  // it is only upgraded
  NodeFacts facts = WithPackage();
  facts.packages.packages["demo"].held = true;
  EXPECT_EQ(plan(facts), "units-not-installed");
  facts = WithPackage();
  facts.packages.packages["demo"].unreachable = {"deb.debian.org"};
  EXPECT_EQ(plan(facts), "units-not-installed");
  for (const PackageStep& other : {PackageStep{.name = "libc6", .from = "1", .to = "2"},
                                   PackageStep{.name = "other", .from = "1"}}) {
    facts.packages.packages["demo"] = {
        .steps = std::vector<PackageStep>{{.name = "demo", .to = "2"}, other}};
    EXPECT_EQ(plan(facts), "units-not-installed") << "beyond the list: " << other.name;
  }
  facts.packages.packages["demo"] = {.steps = Unknown{"no source"}};
  EXPECT_EQ(plan(facts), "units-not-installed");
  facts.packages.packages.clear();
  EXPECT_EQ(plan(facts), "units-not-installed");
}

TEST(Units, ContentOfTheManifestWaitsForNoPackage) {
  EXPECT_EQ(Diff(ListResources(Cluster({Demo()}), WithPackage()).back(), "units")->detail,
            "disabled inactive → enabled active");
}

// The package starts it, before the drop-in is there.
TEST(Units, AUnitThatAPackageBringsIsRestartedForItsDropIn) {
  const auto resources = ListResources(Cluster({InstalledWithDropIn()}), WithPackage());
  EXPECT_THAT(ListSteps(resources),
              ElementsAre(std::string("write ") + kDropInPath, "run systemctl daemon-reload",
                          "run systemctl restart -- demo.service"));
  EXPECT_THAT(resources[0].needs, ElementsAre("spark-1/unit/demo.service"));
  // One of others holds up both.
  NodeFacts facts = WithPackage();
  facts.files[kDropInPath] = FileState{.content = "[Service]\n"};
  EXPECT_THAT(ListSteps(ListResources(Cluster({InstalledWithDropIn()}), facts)), IsEmpty());
}

TEST(Units, ContainersThatCouldNotBeListedMayHaveAGpu) {
  const CommandReply show{.out = Block("demo.service", "loaded", "enabled", "inactive")};
  NodeFacts facts{.node = "spark-1"};
  Get().parse({.commands = {{"common.units", show},
                            {"systemctl.gpu_containers", {.exit_code = 124, .out = "x.scope"}}}},
              facts);
  facts.files[kPath] = Absent{};
  const auto resources = ListResources(Cluster({Demo()}), facts);
  EXPECT_EQ(Diff(resources[0], "units")->interrupts,
            "the GPU access of containers, which could not be listed (find gave no answer in 5 s): "
            "a container may lose "
            "its GPU when systemd reloads its units");
}

}  // namespace
}  // namespace reconciler::plugins::units
