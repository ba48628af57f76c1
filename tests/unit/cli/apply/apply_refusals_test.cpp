#include "reconciler/cli/apply/apply_refusals.h"

#include <gtest/gtest.h>

namespace reconciler::cli {
namespace {

TEST(FindExitCode, ALockThatCannotBeTakenIsNoApplyThatWasReverted) {
  EXPECT_EQ(FindExitCode({.kind = RefusalKind::kNoSession}, true), kNodeUnreadable);
  EXPECT_EQ(FindExitCode({.kind = RefusalKind::kNodeLost}, true), kNodeUnreadable);
  EXPECT_EQ(FindExitCode({.kind = RefusalKind::kLocked}, true), kLocked);
}

TEST(FindExitCode, APlanThatNoLongerFitsSaysSoHoweverItWasFound) {
  EXPECT_EQ(FindExitCode({.kind = RefusalKind::kStale}, true), kStalePlan);
  EXPECT_EQ(FindExitCode({.kind = RefusalKind::kNewDrift}, true), kStalePlan);
}

}  // namespace
}  // namespace reconciler::cli
