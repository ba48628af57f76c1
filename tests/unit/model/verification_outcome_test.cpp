#include "reconciler/model/verification_outcome.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(VerificationOutcome, HasOneTextForHistoryAndReports) {
  EXPECT_EQ(ToString(VerificationOutcome::kPassed), "passed");
  EXPECT_EQ(ToString(VerificationOutcome::kFailed), "failed");
  EXPECT_EQ(ToString(VerificationOutcome::kNotMeasured), "not measured");
}

}  // namespace
}  // namespace reconciler
