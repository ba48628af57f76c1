#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/text/render.h"
#include "schema/embedded.h"
#include "tests/cases/plan_case.h"

namespace reconciler {
namespace {

using test::LoadPlanCase;
using test::MakeCasePlan;
using test::PlanCase;

nlohmann::json Schema(std::string_view name) {
  return nlohmann::json::parse(FindEmbeddedSchema(name));
}

// Each node's changes without the places where they stand: by stage and id.
std::map<NodeName, std::map<std::string, Change>> ByNode(const Plan& plan) {
  std::map<NodeName, std::map<std::string, Change>> nodes;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    for (const Change& change : plan.stages[i].changes) {
      nodes[change.node][std::to_string(i) + change.Id()] = change;
    }
  }
  return nodes;
}

std::vector<Value>* ReadUnits(ClusterSpec& cluster) {
  auto* top = std::get_if<std::vector<Member>>(&cluster.settings.data);
  if (top == nullptr) return nullptr;
  for (Member& member : *top) {
    if (member.key == "units") return std::get_if<std::vector<Value>>(&member.value.data);
  }
  return nullptr;
}

std::string PlanCaseName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class PlanCases : public testing::TestWithParam<std::string> {};

TEST_P(PlanCases, ReadsLikeThis) {
  const PlanCase one = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  const std::string text = RenderText(MakeCasePlan(one.cluster, one.facts));
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(one.folder + "/plan.txt", std::ios::binary) << text;
    GTEST_SKIP() << "plan.txt written: review it";
  }
  EXPECT_EQ(text, test::ReadAll(one.folder + "/plan.txt"));
}

TEST_P(PlanCases, FactsAndPlanFitTheirSchemas) {
  const PlanCase one = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  const auto facts = nlohmann::json::parse(test::ReadAll(one.folder + "/facts.json"));
  EXPECT_EQ(JudgeBySchema(facts, Schema("facts")), std::nullopt);
  const nlohmann::json plan =
      AddHead(ToJson(MakeCasePlan(one.cluster, one.facts)), {"0.1.0", "2026-11-25T00:00:00Z"});
  EXPECT_EQ(JudgeBySchema(plan, Schema("plan")), std::nullopt);
}

TEST_P(PlanCases, FactsAndPlanComeBackFromJson) {
  const PlanCase one = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  const auto facts = ParseFacts(Dump(ToJson(one.facts)));
  ASSERT_TRUE(facts) << FormatError(facts.error());
  EXPECT_EQ(*facts, one.facts);
  const Plan plan = MakeCasePlan(one.cluster, one.facts);
  const auto back = ParsePlan(Dump(ToJson(plan)));
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(*back, plan);
}

TEST_P(PlanCases, MadeTwiceIsTheSameToTheByte) {
  const PlanCase one = LoadPlanCase(GetParam());
  const PlanCase two = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(Dump(ToJson(MakeCasePlan(one.cluster, one.facts))),
            Dump(ToJson(MakeCasePlan(two.cluster, two.facts))));
}

TEST_P(PlanCases, TheOrderOfTheNodesChangesNothingOnAnyNode) {
  const PlanCase one = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  ClusterSpec turned = one.cluster;
  std::reverse(turned.nodes.begin(), turned.nodes.end());
  EXPECT_EQ(ByNode(MakeCasePlan(turned, one.facts)), ByNode(MakeCasePlan(one.cluster, one.facts)));
}

TEST_P(PlanCases, TheOrderOfTheUnitsChangesNothingOnAnyNode) {
  const PlanCase one = LoadPlanCase(GetParam());
  ASSERT_FALSE(HasFailure());
  ClusterSpec turned = one.cluster;
  if (auto* units = ReadUnits(turned)) std::reverse(units->begin(), units->end());
  EXPECT_EQ(ByNode(MakeCasePlan(turned, one.facts)), ByNode(MakeCasePlan(one.cluster, one.facts)));
}

INSTANTIATE_TEST_SUITE_P(Plan, PlanCases, testing::ValuesIn(test::PlanCaseNames()), PlanCaseName);

}  // namespace
}  // namespace reconciler
