#include "tests/unit/verify/severities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/catalogue/catalogue.h"

namespace reconciler::test {
namespace {

std::string NameSeverity(Outcome outcome) {
  switch (outcome) {
    case Outcome::kWarn:
      return "warns";
    case Outcome::kFail:
      return "fails";
    case Outcome::kCouldNotMeasure:
      return "not-measured";
    case Outcome::kPass:
    case Outcome::kSkipped:
      break;
  }
  return "none";
}

}  // namespace

void CheckSeverity(const std::string& code, Outcome outcome) {
  const std::vector<std::string> codes = ListCodes();
  ASSERT_THAT(codes, testing::Contains(code));
  EXPECT_THAT(GetCatalogueEntry(code).severity, testing::Contains(NameSeverity(outcome))) << code;
}

void CheckSeverities(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) CheckSeverity(finding.code, finding.outcome);
}

}  // namespace reconciler::test
