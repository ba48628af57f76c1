#include "reconciler/progress/apply_end.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

ApplyEnd MakeGoodEnd() {
  return {.changes = 40,
          .nodes = 2,
          .seconds = 5.84,
          .generation = 1,
          .checks = CheckCounts{.passed = 42},
          .undo = "spark-reconcile rollback --to 0 cluster.yaml"};
}

TEST(FormatApplyEnd, AnApplySaysWhatItMadeAndTheWayBack) {
  EXPECT_EQ(FormatApplyEnd(MakeGoodEnd()),
            "Applied: 40 changes on 2 nodes in 5.8 s, generation 1, verified 42/42. "
            "Undo: spark-reconcile rollback --to 0 cluster.yaml\n");
}

TEST(FormatApplyEnd, WithoutAVerificationItSaysSo) {
  EXPECT_EQ(FormatApplyEnd({.changes = 1, .nodes = 1, .seconds = 0.25, .generation = 7}),
            "Applied: 1 change on 1 node in 0.2 s, generation 7, not verified.\n");
}

TEST(FormatApplyEnd, NothingToDoIsNoApply) {
  EXPECT_EQ(FormatApplyEnd({.checks = CheckCounts{.passed = 42}}),
            "No changes: nothing was changed, verified 42/42.\n");
}

TEST(FormatApplyEnd, WhatASavedPlanLeavesIsNoEndWithoutChanges) {
  EXPECT_EQ(FormatApplyEnd({.beside = 1, .checks = CheckCounts{.passed = 42}}),
            "DRIFT: 1 other difference from the manifest was not in the plan and is left as it "
            "was; nothing was changed, verified 42/42.\n");
  EXPECT_EQ(FormatBeside(2),
            "2 other differences from the manifest were not in the plan and are left as they "
            "were");
}

TEST(FormatApplyEnd, WarningsAreCountedAtTheStart) {
  ApplyEnd end = MakeGoodEnd();
  end.warnings = 1;
  end.undo = "";
  EXPECT_EQ(FormatApplyEnd(end),
            "Applied, with 1 warning: 40 changes on 2 nodes in 5.8 s, generation 1, verified "
            "42/42.\n");
}

TEST(FormatApplyEnd, ABlockedEndDoesNotBeginAsSuccess) {
  ApplyEnd end = MakeGoodEnd();
  end.blocked = 2;
  end.checks = std::nullopt;
  EXPECT_EQ(FormatApplyEnd(end),
            "BLOCKED: 2 changes are blocked; applied: 40 changes on 2 nodes in 5.8 s, "
            "generation 1, not verified. Undo: spark-reconcile rollback --to 0 cluster.yaml\n");
  EXPECT_EQ(FormatApplyEnd({.blocked = 1}),
            "BLOCKED: 1 change is blocked; nothing was changed, not verified.\n");
}

TEST(FormatApplyEnd, APartialEndNamesTheNodesAndWhatIsNotProved) {
  EXPECT_EQ(FormatApplyEnd({.changes = 20,
                            .nodes = 1,
                            .seconds = 3,
                            .generation = 3,
                            .absent = {"spark-2", "spark-3"},
                            .blocked = 1}),
            "PARTIAL: not reached, and not changed: spark-2, spark-3; 1 change is blocked; "
            "applied: 20 changes on 1 node in 3.0 s, generation 3, not verified.\n"
            "  not proved: the state there, the connections to there, and the manifest's "
            "verification, which needs every node\n");
}

TEST(FormatApplyEnd, AFailedVerificationDoesNotBeginAsSuccess) {
  ApplyEnd end = MakeGoodEnd();
  end.checks = CheckCounts{.passed = 38, .failed = 3, .not_measured = 1};
  EXPECT_EQ(FormatApplyEnd(end),
            "NOT VERIFIED: 3 of 42 checks failed, 1 of 42 checks could not be measured; applied: "
            "40 changes on 2 nodes in 5.8 s, generation 1, verified 38/42. "
            "Undo: spark-reconcile rollback --to 0 cluster.yaml\n");
}

TEST(FormatApplyEnd, WhatIsOverriddenIsNoEndWithoutChanges) {
  const std::string wins = "1 thing on 1 node wins over the manifest at the next boot or re-plug";
  EXPECT_EQ(FormatApplyEnd({.generation = 3, .warnings = 1, .overridden = wins}),
            "OVERRIDDEN, with 1 warning: " + wins +
                "; nothing was changed, generation 3, not verified.\n");
  ApplyEnd end = MakeGoodEnd();
  end.warnings = 1;
  end.overridden = wins;
  EXPECT_EQ(FormatApplyEnd(end),
            "Applied, with 1 warning: " + wins +
                "; applied: 40 changes on 2 nodes in 5.8 s, generation 1, verified 42/42. Undo: "
                "spark-reconcile rollback --to 0 cluster.yaml\n");
}

TEST(FormatApplyEnd, AnUninstallIsNamedSo) {
  EXPECT_EQ(FormatApplyEnd({.changes = 40, .nodes = 2, .seconds = 8, .uninstall = true}),
            "Uninstalled: 40 changes on 2 nodes in 8.0 s.\n");
}

}  // namespace
}  // namespace reconciler
