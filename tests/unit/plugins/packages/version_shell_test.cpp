#include "plugins/packages/version.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

bool DpkgSays(const std::string& a, const std::string& relation, const std::string& b) {
  return std::system(("dpkg --compare-versions " +
                      JoinForShell(std::vector<std::string>{a, relation, b}) + " 2>/dev/null")
                         .c_str()) == 0;
}

TEST(PackageVersionOnThisMachine, DpkgAgrees) {
  if (std::system("command -v dpkg >/dev/null") != 0) GTEST_SKIP() << "no dpkg here";
  const std::vector<std::string> versions = {"1.0",
                                             "1.0~",
                                             "1.0~~a",
                                             "1.0a",
                                             "1.0+b",
                                             "1.0-1",
                                             "1.0-0",
                                             "1:0.9",
                                             "1.00",
                                             "1.10",
                                             "1.9",
                                             "0",
                                             "2.28.3-1+cuda13.0",
                                             "580.95.05"};
  for (const std::string& a : versions) {
    for (const std::string& b : versions) {
      EXPECT_EQ(CompareVersions(a, b) < 0, DpkgSays(a, "lt", b)) << a << " lt " << b;
      EXPECT_EQ(CompareVersions(a, b) == 0, DpkgSays(a, "eq", b)) << a << " eq " << b;
    }
  }
}

}  // namespace
}  // namespace reconciler::plugins::packages
