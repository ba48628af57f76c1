#include "reconciler/planning/plugin_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> MakeNotes(const PluginInput& input) {
  return {"the same everywhere", "kernel " + input.facts.session_interface};
}

Errors Refuse(const PluginInput& input) {
  if (input.facts.session_interface != "enP7s7") return {};
  return {{.kind = ErrorKind::kManifest, .message = "not on " + input.node.name}};
}

class CollectPluginNotesTest : public testing::Test {
 protected:
  CollectPluginNotesTest() {
    for (const char* name : {"spark-2", "spark-1", "spark-3"}) cluster_.nodes.push_back({name});
    facts_.nodes["spark-1"] = {.node = "spark-1", .session_interface = "enP7s7"};
    facts_.nodes["spark-2"] = {.node = "spark-2", .session_interface = "eth0"};
    facts_.unreachable["spark-3"] = {.message = "no route to host"};
  }

  std::vector<std::string> Notes(const PlanScope& scope) const {
    return CollectPluginNotes(cluster_, fabric_, facts_, plugins_, scope);
  }
  std::vector<std::string> Refusals(const PlanScope& scope) const {
    std::vector<std::string> said;
    for (const Error& error : CheckRuledOut(cluster_, fabric_, facts_, plugins_, scope)) {
      said.push_back(error.message);
    }
    return said;
  }

  ClusterSpec cluster_;
  Fabric fabric_;
  ClusterFacts facts_;
  std::vector<Plugin> plugins_ = {{.name = "silent"},
                                  {.name = "talks", .refuse = Refuse, .notes = MakeNotes}};
};

TEST_F(CollectPluginNotesTest, ProgramIsSentOnceToEveryNodeThatWasReadAndIsInScopeAndNeedsIt) {
  const auto needs_spark_verify = [](const ClusterSpec&, const NodeFacts& facts) {
    return facts.session_interface == "eth0";
  };
  plugins_ = {{.name = "one", .needs_spark_verify = needs_spark_verify},
              {.name = "two", .needs_spark_verify = needs_spark_verify}};
  const auto asked = [&](const PlanScope& scope) {
    std::vector<NodeName> names;
    for (const NodeSpec* node : SelectNodesForSparkVerify(cluster_, facts_, plugins_, scope)) {
      names.push_back(node->name);
    }
    return names;
  };
  EXPECT_THAT(asked({}), ElementsAre("spark-2"));
  EXPECT_THAT(asked({.nodes = {"spark-1"}}), IsEmpty());
  EXPECT_THAT(asked({.only = {"three"}}), IsEmpty());
  EXPECT_THAT(asked({.uninstall = true}), IsEmpty());
}

TEST_F(CollectPluginNotesTest, NoteThatSeveralNodesMakeIsSaidOnceByAllThatWereRead) {
  EXPECT_THAT(Notes({}), ElementsAre("spark-2, spark-1: the same everywhere",
                                     "spark-2: kernel eth0", "spark-1: kernel enP7s7"));
}

TEST_F(CollectPluginNotesTest, RefusalsAreThoseOfTheNodesThatWereRead) {
  EXPECT_THAT(Refusals({}), ElementsAre("not on spark-1"));
}

TEST_F(CollectPluginNotesTest, OnlyWhatIsInScopeSpeaks) {
  EXPECT_THAT(Notes({.nodes = {"spark-1"}}),
              ElementsAre("spark-1: the same everywhere", "spark-1: kernel enP7s7"));
  EXPECT_THAT(Refusals({.nodes = {"spark-2"}}), IsEmpty());
  for (const PlanScope& scope : {PlanScope{.only = {"silent"}}, PlanScope{.uninstall = true}}) {
    EXPECT_THAT(Notes(scope), IsEmpty());
    EXPECT_THAT(Refusals(scope), IsEmpty());
  }
}

TEST_F(CollectPluginNotesTest, NotesStandInThePlan) {
  const auto plan = MakePlan(cluster_, fabric_, facts_, plugins_, {.nodes = {"spark-2"}});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->notes, ElementsAre("spark-2: the same everywhere", "spark-2: kernel eth0"));
}

}  // namespace
}  // namespace reconciler
