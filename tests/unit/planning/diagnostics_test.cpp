#include "reconciler/planning/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Diagnostic> DiagnoseSession(const PluginInput& input) {
  std::vector<Diagnostic> said = {
      {.code = "session-always", .message = "the same everywhere"},
      {.code = "session-own", .message = "session on " + input.facts.session.interface}};
  if (input.facts.session.interface != "enP7s7") return said;
  said.push_back(
      {.severity = Severity::kBlocks, .code = "session-not-here", .message = "not here"});
  return said;
}

int lists_of_adoptable = 0;

std::vector<AdoptableFile> ListFiles(const ClusterSpec&, const Fabric&, const ClusterFacts& all) {
  ++lists_of_adoptable;
  std::vector<AdoptableFile> files;
  for (const auto& [name, facts] : all.nodes) {
    files.push_back({.path = "/etc/a.conf", .entry = "file: /etc/a.conf", .node = name});
  }
  return files;
}

std::vector<Diagnostic> AdviseOnFile(const PluginInput& input) {
  return {{.severity = Severity::kWarns,
           .message = "/etc/a.conf is in the way",
           .next_step = input.AdviseToAdopt("/etc/a.conf")}};
}

std::vector<Resource> RequireTheAdvice(const PluginInput& input) {
  return {{.kind = "advice",
           .name = input.AdviseToAdopt("/etc/a.conf"),
           .node = input.node.name,
           .desired = ResourceState("there")}};
}

class CollectDiagnosticsTest : public testing::Test {
 protected:
  CollectDiagnosticsTest() {
    for (const char* name : {"spark-2", "spark-1", "spark-3"}) cluster_.nodes.push_back({name});
    facts_.nodes["spark-1"] = {.node = "spark-1", .session = {.interface = "enP7s7"}};
    facts_.nodes["spark-2"] = {.node = "spark-2", .session = {.interface = "eth0"}};
    facts_.unreachable["spark-3"] = {.message = "no route to host"};
  }

  std::vector<std::string> Lines(const PlanScope& scope) const {
    const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_, scope);
    EXPECT_TRUE(plan);
    std::vector<std::string> lines;
    for (const Diagnostic& one : plan->diagnostics) lines.push_back(FormatDiagnostic(one));
    return lines;
  }

  ClusterSpec cluster_;
  Fabric fabric_;
  ClusterFacts facts_;
  std::vector<Plugin> plugins_ = {{.name = "silent"},
                                  {.name = "session", .diagnose = DiagnoseSession}};
};

TEST_F(CollectDiagnosticsTest, ProgramIsSentOnceToEveryNodeThatWasReadAndIsInScopeAndNeedsIt) {
  const auto needs_spark_verify = [](const ClusterSpec&, const NodeFacts& facts) {
    return facts.session.interface == "eth0";
  };
  plugins_ = {{.name = "one", .needs_spark_verify = needs_spark_verify},
              {.name = "two", .needs_spark_verify = needs_spark_verify}};
  const auto list_notes = [&](const PlanScope& scope) {
    std::vector<NodeName> names;
    for (const NodeSpec* node : SelectNodesForSparkVerify(cluster_, facts_, plugins_, scope)) {
      names.push_back(node->name);
    }
    return names;
  };
  EXPECT_THAT(list_notes({}), ElementsAre("spark-2"));
  EXPECT_THAT(list_notes({.nodes = {"spark-1"}}), IsEmpty());
  EXPECT_THAT(list_notes({.only = {"three"}}), IsEmpty());
  EXPECT_THAT(list_notes({.uninstall = true}), IsEmpty());
}

TEST_F(CollectDiagnosticsTest, WhatHoldsOfSeveralNodesIsSaidOnceAndTheWorstFirst) {
  EXPECT_THAT(Lines({}),
              ElementsAre("error: spark-1: not here [session-not-here]\n",
                          "note: spark-2, spark-1: the same everywhere [session-always]\n",
                          "note: spark-2: session on eth0 [session-own]\n",
                          "note: spark-1: session on enP7s7 [session-own]\n"));
}

TEST(MergeEqual, WhatDiffersInItsNodesOnlyIsSaidOnceWithAllOfThem) {
  const Diagnostic note{.code = "a-b", .message = "m", .nodes = {"spark-1"}};
  Diagnostic second = note;
  second.nodes = {"spark-2"};
  Diagnostic other_code = second;
  other_code.code = "a-c";
  Diagnostic blocked = second;
  blocked.change = "file//x";
  Diagnostic of_cluster = note;
  of_cluster.nodes.clear();
  std::vector<Diagnostic> diagnostics = {note, other_code, second, second, blocked, of_cluster};
  MergeEqual(diagnostics);
  Diagnostic both = note;
  both.nodes = {"spark-1", "spark-2"};
  EXPECT_THAT(diagnostics, ElementsAre(both, other_code, blocked, of_cluster));
}

TEST_F(CollectDiagnosticsTest, WhatCouldBeAdoptedIsListedOnceForAllNodesAndPlugins) {
  plugins_ = {{.name = "files",
               .resources = RequireTheAdvice,
               .diagnose = AdviseOnFile,
               .adoptable = ListFiles},
              {.name = "others", .diagnose = AdviseOnFile}};
  lists_of_adoptable = 0;
  const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(lists_of_adoptable, 1);
  const std::string advice = "add {file: /etc/a.conf, nodes: [spark-1, spark-2]} to adopt";
  ASSERT_EQ(plan->stages.size(), 1u);
  EXPECT_THAT(plan->stages[0].changes,
              testing::Each(testing::Field("name", &Change::name, advice)));
  EXPECT_EQ(plan->stages[0].changes.size(), 2u);
  EXPECT_THAT(Lines({}), testing::Each(testing::HasSubstr(advice)));
}

TEST_F(CollectDiagnosticsTest, OnlyWhatIsInScopeSpeaks) {
  EXPECT_THAT(Lines({.nodes = {"spark-2"}}),
              ElementsAre("note: spark-2: the same everywhere [session-always]\n",
                          "note: spark-2: session on eth0 [session-own]\n"));
  EXPECT_THAT(Lines({.only = {"silent"}}), IsEmpty());
  EXPECT_THAT(Lines({.uninstall = true}),
              ElementsAre("note: everything in the nodes' ledgers is pruned; max_prune does not "
                          "apply [plan-uninstall]\n"));
}

TEST_F(CollectDiagnosticsTest, PluginAndNodesAreTheEnginesToSet) {
  const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_, {});
  ASSERT_TRUE(plan);
  for (const Diagnostic& one : plan->diagnostics) {
    EXPECT_EQ(one.plugin, "session");
    EXPECT_THAT(one.nodes, testing::Not(IsEmpty()));
    EXPECT_EQ(one.change, "");
  }
}

TEST_F(CollectDiagnosticsTest, BlockedChangeIsADiagnosticThatNamesItAndBlocksNothingElse) {
  plugins_ = {{.name = "files", .resources = [](const PluginInput& input) {
                 return std::vector<Resource>{{.kind = "file",
                                               .name = "/etc/x",
                                               .node = input.node.name,
                                               .observed = Unknown{"a link"},
                                               .where = {"cluster.yaml", {4, 1}}},
                                              {.kind = "value",
                                               .name = "a",
                                               .node = input.node.name,
                                               .desired = ResourceState("2"),
                                               .observed = ResourceState("1"),
                                               .blocked = {"value-not-now", "not now"}}};
               }}};
  const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_, {.nodes = {"spark-1"}});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->diagnostics, ElementsAre(Diagnostic{.severity = Severity::kBlocks,
                                                        .code = "plan-state-unknown",
                                                        .message = "unknown: a link",
                                                        .where = {"cluster.yaml", {4, 1}},
                                                        .subject = "file//etc/x",
                                                        .plugin = "files",
                                                        .change = "file//etc/x",
                                                        .nodes = {"spark-1"}},
                                             Diagnostic{.severity = Severity::kBlocks,
                                                        .code = "value-not-now",
                                                        .message = "not now",
                                                        .subject = "value/a",
                                                        .plugin = "files",
                                                        .change = "value/a",
                                                        .nodes = {"spark-1"}}));
  EXPECT_EQ(plan->BlockedCount(), 2u);
  EXPECT_FALSE(plan->IsRefused());
}

// On spark-1 it is blocked.
std::vector<Resource> WantSettling(const PluginInput& input) {
  Resource resource{.kind = "file",
                    .name = "/etc/x",
                    .node = input.node.name,
                    .desired = ResourceState(FileState{"x\n"}),
                    .settles = {"key"}};
  if (input.node.name == "spark-1") resource.blocked = {"files-not-now", "not now"};
  return {resource};
}

TEST_F(CollectDiagnosticsTest, AWarningGoesOnTheNodesWhereAChangeOfThePlanSettlesIt) {
  plugins_ = {
      {.name = "files", .resources = WantSettling},
      {.name = "keys", .diagnose = [](const PluginInput&) {
         return std::vector<Diagnostic>{
             {.severity = Severity::kWarns, .code = "k", .message = "is 1", .subject = "key"},
             {.severity = Severity::kWarns, .code = "k", .message = "is 2", .subject = "other"},
             {.severity = Severity::kInforms, .code = "k", .message = "is 3", .subject = "key"}};
       }}};
  EXPECT_THAT(
      Lines({}),
      ElementsAre("blocked: spark-1: not now [files-not-now]\n", "warning: spark-1: is 1 [k]\n",
                  "warning: spark-2, spark-1: is 2 [k]\n", "note: spark-2, spark-1: is 3 [k]\n"));
  EXPECT_THAT(Lines({.nodes = {"spark-2"}, .only = {"keys"}}),
              ElementsAre("warning: spark-2: is 1 [k]\n", "warning: spark-2: is 2 [k]\n",
                          "note: spark-2: is 3 [k]\n"));
}

TEST_F(CollectDiagnosticsTest, WhatOnlyInformsLeavesNothingToDo) {
  const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_, {.nodes = {"spark-2"}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->diagnostics.size(), 2u);
  EXPECT_FALSE(plan->IsPending());
  EXPECT_FALSE(plan->IsRefused());
}

TEST(Plan, IsPendingWhereAPersonMustActAndRefusedOnlyByWhatBlocksEverything) {
  const Plan warned{.diagnostics = {{.severity = Severity::kWarns}}};
  EXPECT_TRUE(warned.IsPending());
  EXPECT_FALSE(warned.IsRefused());
  const Plan refused{.diagnostics = {{.severity = Severity::kBlocks}}};
  EXPECT_TRUE(refused.IsPending());
  EXPECT_TRUE(refused.IsRefused());
  const Plan beside{.diagnostics = {{.severity = Severity::kBlocks, .change = "file//etc/x"}}};
  EXPECT_FALSE(beside.IsRefused());
}

}  // namespace
}  // namespace reconciler
