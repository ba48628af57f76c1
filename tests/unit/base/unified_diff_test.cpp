#include "reconciler/base/unified_diff.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>

namespace reconciler {
namespace {

TEST(MakeUnifiedDiff, IsEmptyForEqualTexts) { EXPECT_EQ(MakeUnifiedDiff("a\n", "a\n"), ""); }

TEST(MakeUnifiedDiff, ShowsANewFileAsAddedLines) {
  EXPECT_EQ(MakeUnifiedDiff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
}

TEST(MakeUnifiedDiff, KeepsThreeLinesOfContext) {
  EXPECT_EQ(MakeUnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

TEST(MakeUnifiedDiff, ReportsAMissingFinalNewline) {
  EXPECT_EQ(MakeUnifiedDiff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

std::string Patched(const std::string& before, const std::string& diff) {
  char directory[] = "/tmp/unified-diff-XXXXXX";
  EXPECT_NE(mkdtemp(directory), nullptr);
  const std::string base = directory;
  std::ofstream(base + "/file") << before;
  std::ofstream(base + "/patch") << "--- file\n+++ file\n" << diff;
  const std::string command = "cd " + base + " && patch -s file patch >/dev/null 2>&1 && cat file";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string after;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) after.push_back(static_cast<char>(c));
  pclose(pipe);
  const std::string remove = "rm -rf " + base;
  EXPECT_EQ(std::system(remove.c_str()), 0);
  return after;
}

TEST(MakeUnifiedDiff, IsAPatchThatPatchUnderstands) {
  if (std::system("command -v patch >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "patch is not installed";
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

TEST(MakeUnifiedDiff, StaysSmallForLargeTexts) {
  std::string before;
  std::string after;
  for (int line = 0; line < 20000; ++line) {
    before += "a" + std::to_string(line) + "\n";
    after += "b" + std::to_string(line) + "\n";
  }
  EXPECT_GT(MakeUnifiedDiff(before, after).size(),
            before.size());  // and it ends, in bounded memory
}

}  // namespace
}  // namespace reconciler
