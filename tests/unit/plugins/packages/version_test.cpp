#include "plugins/packages/version.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reconciler::plugins::packages {
namespace {

TEST(PackageVersion, VersionsAreOrderedAsDpkgOrdersThem) {
  // Each is older than the next.
  const std::vector<std::string> ascending = {"0.9~rc1",
                                              "0.9~rc1-1",
                                              "0.9",
                                              "0.9-0ubuntu1",
                                              "0.9-1~bpo12+1",
                                              "0.9-1",
                                              "0.9-1ubuntu0.1",
                                              "0.9-1ubuntu1",
                                              "0.9-10",
                                              "0.9a",
                                              "0.9+b1",
                                              "0.10",
                                              "2.28.3-1+cuda13.0",
                                              "2.28.9-1+cuda13.0",
                                              "2.30.7-1",
                                              "10",
                                              "580.95.05",
                                              "580.126.9",
                                              "1:0.1",
                                              "1:0.1-2",
                                              "2:0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t k = 0; k < ascending.size(); ++k) {
      const int difference = CompareVersions(ascending[i], ascending[k]);
      EXPECT_EQ(difference < 0, i < k) << ascending[i] << " and " << ascending[k];
      EXPECT_EQ(difference > 0, i > k) << ascending[i] << " and " << ascending[k];
    }
  }
}

TEST(PackageVersion, ZerosBeforeAndMissingPartsMakeNoDifference) {
  EXPECT_EQ(CompareVersions("1.0", "1.00"), 0);
  EXPECT_EQ(CompareVersions("580.95.05", "580.95.5"), 0);
  EXPECT_EQ(CompareVersions("0:1.0", "1.0"), 0);
  EXPECT_EQ(CompareVersions("1.0-0", "1.0"), 0);
  EXPECT_EQ(CompareVersions("99999999999999999999999", "099999999999999999999999"), 0);
  EXPECT_LT(CompareVersions("99999999999999999999998", "99999999999999999999999"), 0);
}

}  // namespace
}  // namespace reconciler::plugins::packages
