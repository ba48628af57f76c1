#include "tests/unit/verify/severities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "reconciler/catalogue/catalogue.h"

namespace reconciler::test {
namespace {

std::map<std::string, std::set<std::string>>& Seen() {
  static std::map<std::string, std::set<std::string>> seen;
  return seen;
}

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

// A run of all tests of this program: not one of a few.
bool IsWholeRun() {
  const auto* unit = testing::UnitTest::GetInstance();
  return unit->test_to_run_count() + unit->disabled_test_count() == unit->total_test_count();
}

class AllSeverities : public testing::Environment {
 public:
  void TearDown() override {
    if (!IsWholeRun()) return;
    for (const std::string& code : ListCodes()) {
      const CatalogueEntry entry = GetCatalogueEntry(code);
      const auto& by = entry.reported_by;
      if (std::find(by.begin(), by.end(), "verify") == by.end()) continue;
      for (const std::string& severity : entry.severity) {
        EXPECT_TRUE(Seen()[code].contains(severity))
            << code << ": the catalogue has " << severity << ", which no test of verify has seen";
      }
    }
  }
};

const testing::Environment* const kAllSeverities =
    testing::AddGlobalTestEnvironment(new AllSeverities);

}  // namespace

void CheckSeverity(const std::string& code, Outcome outcome) {
  const std::vector<std::string> codes = ListCodes();
  ASSERT_THAT(codes, testing::Contains(code));
  EXPECT_THAT(GetCatalogueEntry(code).severity, testing::Contains(NameSeverity(outcome))) << code;
  Seen()[code].insert(NameSeverity(outcome));
}

void CheckSeverities(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) CheckSeverity(finding.code, finding.outcome);
}

}  // namespace reconciler::test
