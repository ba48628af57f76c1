#include "reconciler/planning/plan_maker.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/text/render.h"

namespace reconciler {
namespace {

std::vector<Resource> FileResources(const PluginInput& input) {
  return {{.kind = "file",
           .name = "/etc/x",
           .node = input.node.name,
           .desired = ResourceState(FileState{"x\n"}),
           .observed = Absent{},
           .where = input.cluster.Mark({9, 1})}};
}

std::vector<Resource> ValueResources(const PluginInput& input) {
  return {{.kind = "sysctl",
           .name = "a.b",
           .node = input.node.name,
           .desired = ResourceState("2"),
           .observed = input.facts.session.interface.empty()
                           ? Observed<ResourceState>(Unknown{"gone"})
                           : ResourceState("1"),
           .apply = {RunCommand{{"sysctl", "-w", "a.b=2"}}}}};
}

class MakePlanTest : public testing::Test {
 protected:
  MakePlanTest() {
    cluster_.file = "cluster.yaml";
    cluster_.name = "homelab";
    cluster_.digest = "d";
    for (const char* name : {"spark-1", "spark-2", "spark-3"}) {
      cluster_.nodes.push_back({.name = name, .address = "192.168.1.2"});
    }
    fabric_.summary = "3 nodes on a switch";
    facts_.nodes["spark-1"] = {.node = "spark-1", .session = {.interface = "enP7s7"}};
    facts_.nodes["spark-2"] = {.node = "spark-2"};
    facts_.unreachable["spark-3"] = {.message = "no route to host"};
    plugins_ = {{.name = "values", .after = {"files"}, .resources = ValueResources},
                {.name = "files", .resources = FileResources}};
  }

  Result<Plan> Make(const PlanScope& scope = {}) {
    return MakePlan(cluster_, fabric_, facts_, plugins_, scope);
  }

  ClusterSpec cluster_;
  Fabric fabric_;
  ClusterFacts facts_;
  std::vector<Plugin> plugins_;
};

// A network file of ours that someone edited, two ports, and a unit file that no one edited with a
// unit, of one plugin.
std::vector<Resource> NetworkResources(const PluginInput& input) {
  const auto trigger = [](const std::string& id) { return RunCommand{.argv = {"run"}, .id = id}; };
  const auto port = [&](const std::string& name) {
    return Resource{.kind = "link",
                    .name = name,
                    .is_link = true,
                    .node = input.node.name,
                    .desired = ResourceState("mtu 9000"),
                    .observed = ResourceState("mtu 1500"),
                    .triggers = {trigger("regenerate"), trigger("reconfigure " + name)}};
  };
  return {{.kind = "file",
           .name = "/etc/netplan/60.yaml",
           .node = input.node.name,
           .desired = ResourceState(FileState{"mtu 9000\n"}),
           .observed = ResourceState(FileState{"edited\n"}),
           .triggers = {trigger("regenerate"), trigger("reconfigure p0")}},
          port("p0"),
          port("p1"),
          {.kind = "file",
           .name = "/etc/x.service",
           .node = input.node.name,
           .desired = ResourceState(FileState{"x\n"}),
           .observed = Absent{},
           .triggers = {trigger("reload")}},
          {.kind = "unit",
           .name = "x.service",
           .node = input.node.name,
           .desired = ResourceState("active"),
           .observed = ResourceState("inactive"),
           .triggers = {trigger("reload"), trigger("restart x")}},
          {.kind = "limit",
           .name = "network limit",
           .node = input.node.name,
           .desired = ResourceState("2"),
           .observed = ResourceState("1"),
           .apply = {trigger("load")},
           .activates = "/etc/netplan/60.yaml"}};
}

// Otherwise they flap at each apply, and never become what the manifest says.
TEST_F(MakePlanTest, LinksOfAnEditedFileAreBlockedWithIt) {
  plugins_ = {{.name = "netplan", .sets_links = true, .resources = NetworkResources}};
  facts_.nodes["spark-1"].ledger = Ledger{
      .generation = 3,
      .entries = {
          {.kind = "file", .name = "/etc/netplan/60.yaml", .generation = 3, .digest = "0123"}}};
  const auto list = [&](const PlanScope& scope) {
    std::string text;
    const auto plan = Make(scope);
    for (const Change& change : plan->stages.at(0).changes) {
      text += change.name + (change.code.empty() ? "" : " " + change.code + ": " + change.detail);
      text += '\n';
    }
    return text;
  };
  const std::string edited =
      "edited on the node since generation 3: --overwrite-edited writes it again\n";
  const std::string held =
      " plan-file-edited: this would activate /etc/netplan/60.yaml, which was " + edited;
  EXPECT_EQ(list({.nodes = {"spark-1"}}), "/etc/netplan/60.yaml plan-file-edited: " + edited +
                                              "p0" + held + "p1" + held +
                                              "/etc/x.service\nx.service\nnetwork limit" + held);
  EXPECT_EQ(list({.nodes = {"spark-1"}, .overwrite_edited = true}),
            "/etc/netplan/60.yaml\np0\np1\n/etc/x.service\nx.service\nnetwork limit\n");
}

TEST_F(MakePlanTest, StagesFollowThePluginsOrderAndNodesTheManifest) {
  const auto plan = Make();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->stages.size(), 2u);
  EXPECT_EQ(plan->stages[0].plugins, std::vector<std::string>{"files"});
  EXPECT_EQ(plan->stages[0].changes[0].node, "spark-1");
  EXPECT_EQ(plan->stages[0].changes[1].node, "spark-2");
  EXPECT_EQ(plan->ChangeCount(), 3u);
  EXPECT_EQ(plan->BlockedCount(), 1u);
}

TEST_F(MakePlanTest, AnUnreachableNodeIsSaidAndHidesNoOneElse) {
  EXPECT_EQ(Make()->nodes[2].unreachable, "no route to host");
  EXPECT_EQ(Make()->nodes[0].unreachable, "");
}

TEST_F(MakePlanTest, TheSameInputGivesTheSameBytesAndTheSameId) {
  EXPECT_EQ(Dump(ToJson(*Make())), Dump(ToJson(*Make())));
  const std::string id = Make()->id;
  facts_.nodes["spark-2"].session.interface = "enP7s7";
  EXPECT_NE(Make()->id, id);
}

TEST_F(MakePlanTest, TheIdIsTheDigestOfTheRest) {
  Plan plan = HideForeignContent(*Make());
  EXPECT_EQ(plan.id, ComputePlanDigest(plan));
  plan.stages[0].changes[0].name = "/etc/y";
  EXPECT_NE(plan.id, ComputePlanDigest(plan));
}

TEST_F(MakePlanTest, ScopeLimitsNodesAndPlugins) {
  const auto plan = Make({.nodes = {"spark-2"}, .only = {"files"}});
  EXPECT_EQ(plan->ChangeCount(), 1u);
  EXPECT_EQ(plan->nodes.size(), 1u);
}

TEST_F(MakePlanTest, AnUnknownNameInTheScopeIsAnErrorWithASuggestion) {
  EXPECT_EQ(FormatError(Make({.nodes = {"spark-4x"}}).error()),
            "unknown node 'spark-4x', did you mean 'spark-1'?\n"
            "  hint: known: spark-1, spark-2, spark-3\n");
  EXPECT_EQ(Make({.only = {"netplan"}}).error().message, "unknown plugin 'netplan'");
}

TEST_F(MakePlanTest, ThePlanReadsAsAPersonExpects) {
  EXPECT_EQ(RenderText(*Make()),
            "homelab · 3 nodes · 3 nodes on a switch · mtu 9000\n"
            "spark-1, spark-2 (2 nodes)\n"
            "  + file    /etc/x (0644, 1 line)  cluster.yaml:9\n"
            "        @@ -0,0 +1 @@\n"
            "        +(1 line that is not ours)\n"
            "spark-1  192.168.1.2\n"
            "  ~ sysctl  a.b: 1 → 2\n"
            "spark-2  192.168.1.2\n"
            "  ! sysctl  a.b: unknown: gone                     blocked [plan-state-unknown]\n"
            "spark-3  192.168.1.2  not reached: no route to host\n"
            "+ created  ~ changed  ! blocked\n"
            "first apply to spark-1, spark-2\n"
            "3 changes on 2 nodes, 1 blocked, 1 node not reached.\n"
            "enP7s7 carries this session and is not touched.\n"
            "Each node is armed to revert the plan before its first change.\n");
}

// What someone made of a file that we wrote.
struct Edited {
  static inline std::string content = {};
  static std::vector<Resource> ListResources(const PluginInput& input) {
    return {{.kind = "file",
             .name = "/etc/ours",
             .node = input.node.name,
             .desired = ResourceState(FileState{FormatOwnedFile("homelab", "mtu 9000\n")}),
             .observed = ResourceState(FileState{content})}};
  }
};

TEST_F(MakePlanTest, AnEditOfOurFileIsShownAsADiffToWhatWouldBeWritten) {
  plugins_ = {{.name = "files", .resources = Edited::ListResources}};
  facts_.nodes["spark-1"].ledger =
      Ledger{.cluster = "homelab",
             .generation = 3,
             .entries = {{.kind = "file", .name = "/etc/ours", .generation = 3, .digest = "0123"}}};
  Edited::content = FormatOwnedFile("homelab", "mtu 9000\n") + "by hand\n";
  const auto plan = Make({.nodes = {"spark-1"}});
  ASSERT_TRUE(plan);
  const Change& change = plan->stages.at(0).changes.at(0);
  EXPECT_EQ(change.detail,
            "edited on the node since generation 3: --overwrite-edited writes it again");
  EXPECT_EQ(change.diff,
            "@@ -1,4 +1,3 @@\n"
            " # Written by spark-reconcile for cluster homelab (body sha256 " +
                change.diff.substr(79, 16) +
                ").\n"
                " # Change the manifest and apply it; an edit made here is reported as drift.\n"
                " mtu 9000\n"
                "-by hand\n");
  EXPECT_TRUE(change.actions.empty());
}

TEST_F(MakePlanTest, AnEditThatTookOurMarkAwayIsNotShown) {
  plugins_ = {{.name = "files", .resources = Edited::ListResources}};
  facts_.nodes["spark-1"].ledger = Ledger{
      .cluster = "homelab", .entries = {{.kind = "file", .name = "/etc/ours", .digest = "0123"}}};
  Edited::content = "password\n";
  const auto plan = Make({.nodes = {"spark-1"}});
  ASSERT_TRUE(plan);
  const std::string& diff = plan->stages.at(0).changes.at(0).diff;
  EXPECT_NE(diff.find("-(1 line that is not ours)\n"), std::string::npos) << diff;
  EXPECT_EQ(diff.find("password"), std::string::npos) << diff;
}

TEST_F(MakePlanTest, EachChangeHasItsCause) {
  facts_.nodes["spark-1"].ledger =
      Ledger{.cluster = "homelab",
             .generation = 3,
             .manifest_digest = "d",
             .entries = {{.kind = "sysctl", .name = "a.b", .generation = 2, .applied = "2"},
                         {.kind = "sysctl", .name = "c.d", .generation = 3, .applied = "1"}}};
  Ledger& ledger = std::get<Ledger>(facts_.nodes["spark-1"].ledger);
  ledger.entries.back().original = {RunCommand{{"sysctl", "-w", "c.d=0"}}};
  const auto plan = Make({.nodes = {"spark-1"}});
  ASSERT_TRUE(plan);
  std::map<std::string, ChangeCause> causes;
  for (const Stage& stage : plan->stages) {
    for (const Change& change : stage.changes) causes[change.name] = change.cause;
  }
  EXPECT_EQ(causes,
            (std::map<std::string, ChangeCause>{{"/etc/x", {CauseKind::kNew}},
                                                {"a.b", {CauseKind::kDrifted, 2, "2"}},
                                                {"c.d", {CauseKind::kNotRequired, 3, "1"}}}));
}

TEST_F(MakePlanTest, AdviceOnTheManifestIsGivenUntilAllNodesHaveIt) {
  fabric_.diagnostics = {{.code = "fabric-advice", .message = "advice"},
                         {.severity = Severity::kWarns, .code = "fabric-risk", .message = "risk"}};
  const auto list = [&](const PlanScope& scope) {
    std::string codes;
    const auto plan = Make(scope);
    for (const Diagnostic& one : plan->diagnostics) {
      if (one.change.empty()) codes += one.code + " ";
    }
    return codes;
  };
  EXPECT_EQ(list({}), "fabric-risk fabric-advice ");
  const Ledger ledger{.cluster = "homelab", .generation = 1, .manifest_digest = "d"};
  facts_.nodes["spark-1"].ledger = ledger;
  EXPECT_EQ(list({}), "fabric-risk fabric-advice ");
  EXPECT_EQ(list({.nodes = {"spark-1"}}), "fabric-risk ");
  facts_.nodes["spark-2"].ledger = ledger;
  EXPECT_EQ(list({}), "fabric-risk fabric-advice ") << "spark-3 was not reached";
  EXPECT_EQ(list({.nodes = {"!spark-3"}}), "fabric-risk ");
  cluster_.digest = "changed since";
  EXPECT_EQ(list({.nodes = {"!spark-3"}}), "fabric-risk fabric-advice ");
}

TEST(FormatApplyState, WhoIsRunningOrWhatWasCutOffIsReported) {
  NodeFacts facts;
  EXPECT_EQ(FormatApplyState(facts), "");
  facts.apply.undecided = {"0a49-11"};
  EXPECT_EQ(FormatApplyState(facts), "apply 0a49-11 is unfinished; apply ends it first");
  facts.apply.lease = "root@desk pid 812";
  EXPECT_EQ(FormatApplyState(facts),
            "an apply of root@desk pid 812 is running: its revert is armed");
}

std::vector<Resource> LinkResources(const PluginInput& input) {
  const std::vector<RunCommand> triggers = {RunCommand{.argv = {"reload"}, .id = "reload"}};
  Resource file{.kind = "file",
                .name = "/etc/link",
                .node = input.node.name,
                .desired = ResourceState(FileState{"x\n"}),
                .observed = input.facts.session.interface.empty()
                                ? Observed<ResourceState>(ResourceState(FileState{"x\n"}))
                                : Absent{},
                .triggers = triggers};
  Resource link{.kind = "link",
                .name = "port",
                .node = input.node.name,
                .desired = ResourceState("up"),
                .observed = ResourceState("up"),
                .triggers = triggers};
  return {file, link};
}

TEST_F(MakePlanTest, WhatHoldsAndIsSetByAnotherChangesTriggersIsHeld) {
  plugins_ = {{.name = "links", .resources = LinkResources}};
  const auto plan = Make();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->stages.size(), 1u);
  ASSERT_EQ(plan->stages[0].changes.size(), 1u);
  ASSERT_EQ(plan->stages[0].held.size(), 1u);  // nothing changes on spark-2
  EXPECT_EQ(plan->stages[0].held[0].Id(), "spark-1/link/port");
}

Ownership LeaveToAnother(const PluginInput&, Change& change) {
  Block(change, "links-claimed", "now another's; left as it is");
  return Ownership::kOthers;
}

TEST_F(MakePlanTest, WhatAnotherOwnerHasByNowIsShownAndDroppedFromTheLedger) {
  plugins_ = {{.name = "links", .check_prune = LeaveToAnother}};
  Ledger ledger{.cluster = "homelab", .generation = 1};
  ledger.entries = {{.kind = "link",
                     .name = "port",
                     .plugin = "links",
                     .generation = 1,
                     .triggers = {RunCommand{{"restore"}}}}};
  facts_.nodes["spark-1"].ledger = ledger;
  const auto plan = Make();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->nodes[0].dropped, std::vector<std::string>{"link/port"});
  ASSERT_EQ(plan->BlockedCount(), 1u);
  EXPECT_EQ(plan->stages[0].changes[0].detail, "now another's; left as it is");
}

// A mount goes before the network that it needs.
TEST_F(MakePlanTest, WhatMayUseOtherChangesIsPrunedBeforeThem) {
  plugins_ = {{.name = "services", .after = {kAllOthers}},
              {.name = "network", .after = {}},
              {.name = "mounts", .after = {"network"}, .is_pruned_first = true}};
  Ledger ledger{.cluster = "homelab", .generation = 1};
  for (const std::string plugin : {"gone", "mounts", "network", "services"}) {
    for (const std::string number : {"1", "2"}) {
      ledger.entries.push_back({.kind = "value",
                                .name = plugin + number,
                                .plugin = plugin,
                                .generation = 1,
                                .triggers = {RunCommand{{"restore"}}}});
    }
  }
  facts_.nodes["spark-1"].ledger = ledger;
  const auto list = [&](const PlanScope& scope) {
    std::string text;
    const auto plan = Make(scope);
    for (const Stage& stage : plan->stages) {
      text += Join(stage.plugins, " ") + ":";
      for (const Change& change : stage.changes) text += " " + change.name;
      text += "\n";
    }
    return text;
  };
  for (const PlanScope& scope : {PlanScope{.uninstall = true}, PlanScope{}}) {
    EXPECT_EQ(list(scope),
              "mounts: mounts2 mounts1\n"
              "network: network2 network1\n"
              "services: services2 services1 gone2 gone1\n");
  }
}

Ownership LeaveToNoOne(const PluginInput&, Change& change) {
  change.detail = "the program is gone";
  return Ownership::kNoOnes;
}

Ledger MakeLinkLedger() {
  Ledger ledger{.cluster = "homelab", .generation = 1};
  for (const std::string name : {"port", "other"}) {
    ledger.entries.push_back({.kind = "link",
                              .name = name,
                              .plugin = "links",
                              .generation = 1,
                              .triggers = {RunCommand{{"restore"}}}});
  }
  return ledger;
}

TEST_F(MakePlanTest, WhatCannotBeRestoredIsANoteAndDroppedFromTheLedger) {
  plugins_ = {{.name = "links", .check_prune = LeaveToNoOne}};
  facts_.nodes["spark-1"].ledger = MakeLinkLedger();
  const auto plan = Make();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->nodes[0].dropped, (std::vector<std::string>{"link/other", "link/port"}));
  EXPECT_TRUE(plan->stages.empty());
  EXPECT_FALSE(plan->IsPending());
  ASSERT_EQ(plan->diagnostics.size(), 1u);
  EXPECT_EQ(plan->diagnostics[0].code, "plan-not-restored");
  EXPECT_EQ(plan->diagnostics[0].message, "the program is gone");
  EXPECT_EQ(plan->diagnostics[0].nodes, std::vector<std::string>{"spark-1"});
}

std::vector<Resource> BlockedFile(const PluginInput& input) {
  return {{.kind = "file",
           .name = "/etc/x",
           .node = input.node.name,
           .desired = ResourceState(FileState{.content = "new"}),
           .blocked = {.code = "other", .why = "of another owner"}}};
}

Ownership NeedTheFile(const PluginInput& input, Change& change) {
  if (change.name == "port") change.needs = {input.node.name + "/file//etc/x"};
  return Ownership::kOurs;
}

TEST_F(MakePlanTest, APruneStaysWithWhatItNeedsWhereThatIsBlocked) {
  plugins_ = {{.name = "links", .resources = BlockedFile, .check_prune = NeedTheFile}};
  facts_.nodes["spark-1"].ledger = MakeLinkLedger();
  const auto plan = Make();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->nodes[0].dropped.empty()) << "a later plan prunes it";
  std::map<std::string, std::string> details;
  for (const Change& change : plan->stages.at(0).changes) {
    if (change.node != "spark-1" || !change.prune) continue;
    EXPECT_TRUE(change.needs.empty()) << "it is no part of a plan";
    details[change.name] = change.detail;
  }
  EXPECT_EQ(details["port"], "needs /etc/x of spark-1, which is blocked");
  EXPECT_EQ(details["other"], "no longer in the manifest: set back by restore");
}

std::vector<Resource> LeftAsItIs(const PluginInput& input) {
  return {{.kind = "link",
           .name = "port",
           .node = input.node.name,
           .desired = ResourceState("up"),
           .observed = ResourceState("down"),
           .left_as_is = true}};
}

TEST_F(MakePlanTest, WhatIsLeftAsItIsIsNeitherChangedNorPruned) {
  plugins_ = {{.name = "links", .resources = LeftAsItIs}};
  facts_.nodes["spark-1"].ledger = MakeLinkLedger();
  const auto plan = Make();
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->nodes[0].dropped.empty());
  ASSERT_EQ(plan->stages.size(), 1u);
  ASSERT_EQ(plan->stages[0].changes.size(), 1u);
  EXPECT_EQ(plan->stages[0].changes[0].Id(), "spark-1/link/other");
}

}  // namespace
}  // namespace reconciler
