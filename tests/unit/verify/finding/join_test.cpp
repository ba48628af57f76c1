#include "reconciler/verify/finding/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;

Finding Found(std::vector<NodeName> nodes, VerifyLevel level, std::string cause) {
  return {.code = "pcie-width",
          .outcome = Outcome::kWarn,
          .level = level,
          .nodes = std::move(nodes),
          .measured = "x2",
          .cause = std::move(cause),
          .explains = 2};
}

// The causes that are left of findings that are added one after the other.
std::vector<std::string> JoinAll(const std::vector<Finding>& added) {
  std::vector<Finding> findings;
  for (const Finding& one : added) JoinFinding(one, findings);
  std::vector<std::string> causes;
  for (const Finding& one : findings) causes.push_back(one.cause);
  return causes;
}

TEST(JoinFinding, OneCauseOfTheSameNodesInAnyOrderIsOneFinding) {
  const Finding one = Found({"spark-1", "spark-2"}, VerifyLevel::kRdma, "a");
  EXPECT_THAT(JoinAll({one, Found({"spark-2", "spark-1"}, VerifyLevel::kRdma, "a")}),
              ElementsAre("a"));
  EXPECT_THAT(JoinAll({one, Found({"spark-1", "spark-3"}, VerifyLevel::kRdma, "a")}),
              ElementsAre("a", "a"));
  EXPECT_THAT(JoinAll({one, Found({"spark-1"}, VerifyLevel::kRdma, "a")}), ElementsAre("a", "a"));
}

TEST(JoinFinding, OnOneLevelTwoCausesAreTwoFindings) {
  EXPECT_THAT(JoinAll({Found({"spark-1"}, VerifyLevel::kRdma, "rail0"),
                       Found({"spark-1"}, VerifyLevel::kRdma, "rail1")}),
              ElementsAre("rail0", "rail1"));
}

TEST(JoinFinding, WhatALowerLevelHasNamedIsNotNamedAgain) {
  EXPECT_THAT(JoinAll({Found({"spark-1"}, VerifyLevel::kFacts, "fewer lanes"),
                       Found({"spark-1"}, VerifyLevel::kNccl, "x2 of x4")}),
              ElementsAre("fewer lanes"));
  Finding other = Found({"spark-1"}, VerifyLevel::kNccl, "x2 of x4");
  other.code = "hca-degraded";
  EXPECT_THAT(JoinAll({Found({"spark-1"}, VerifyLevel::kFacts, "fewer lanes"), other}),
              ElementsAre("fewer lanes", "x2 of x4"));
}

TEST(JoinFinding, TheFirstOnesWordsStayAndTheWorseOutcomeCounts) {
  std::vector<Finding> findings = {Found({"spark-1"}, VerifyLevel::kFacts, "first")};
  findings[0].rails = {0};
  Finding next = Found({"spark-1"}, VerifyLevel::kRdma, "second");
  next.rails = {1};
  next.measured = "other";
  next.outcome = Outcome::kCouldNotMeasure;
  EXPECT_EQ(JoinFinding(next, findings), 0u);
  EXPECT_EQ(findings[0].outcome, Outcome::kCouldNotMeasure);
  next.outcome = Outcome::kFail;
  JoinFinding(next, findings);
  next.outcome = Outcome::kWarn;
  JoinFinding(next, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].outcome, Outcome::kFail);
  EXPECT_EQ(findings[0].cause, "first");
  EXPECT_EQ(findings[0].measured, "x2");
  EXPECT_EQ(findings[0].level, VerifyLevel::kFacts);
  EXPECT_EQ(findings[0].rails, (std::set<int>{0, 1}));
  EXPECT_EQ(findings[0].explains, 8u);
}

}  // namespace
}  // namespace reconciler
