#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>

#include "reconciler/base/unified_diff.h"
#include "tests/support/run_here.h"

namespace reconciler {
namespace {

std::string Patched(const std::string& before, const std::string& diff) {
  char directory[] = "/tmp/unified-diff-XXXXXX";
  EXPECT_NE(mkdtemp(directory), nullptr);
  const std::string base = directory;
  std::ofstream(base + "/file") << before;
  std::ofstream(base + "/patch") << "--- file\n+++ file\n" << diff;
  const std::string script =
      "cd " + base + " && patch -s file patch >/dev/null 2>&1 && cat file; rm -rf " + base;
  return test::RunHere({"sh", "-c", script}).out;
}

TEST(MakeUnifiedDiff, IsAPatchThatPatchUnderstands) {
  if (test::RunHere({"sh", "-c", "command -v patch"}).exit_code != 0) {
    GTEST_SKIP() << "patch is not installed";
  }
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::string before;
    std::string after;
    for (int line = 0; line < 40; ++line) {
      const std::string text = std::to_string(random() % 6) + "\n";
      const unsigned what = random() % 8;
      if (what != 0) before += text;
      if (what != 1) after += text;
      if (what == 2) after += "new\n";
    }
    if (before == after || before.empty() || after.empty()) continue;
    EXPECT_EQ(Patched(before, MakeUnifiedDiff(before, after)), after);
  }
}

}  // namespace
}  // namespace reconciler
