#include "reconciler/base/unified_diff.h"

#include <gtest/gtest.h>

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
