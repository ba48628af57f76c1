#include "reconciler/spark_verify/protocol/lines.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

TEST(CutLine, TheFirstWholeLineLeavesTheBuffer) {
  std::string buffer = "one\n\ntw";
  EXPECT_EQ(CutLine(buffer), "one");
  EXPECT_EQ(CutLine(buffer), "");
  EXPECT_EQ(CutLine(buffer), std::nullopt);
  EXPECT_EQ(buffer, "tw");
}

}  // namespace
}  // namespace reconciler::spark_verify
