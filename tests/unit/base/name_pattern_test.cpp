#include "reconciler/base/name_pattern.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(NamePattern, AnEmptyListSelectsAllAndANameItself) {
  EXPECT_TRUE(IsNameSelected({}, "spark-1"));
  EXPECT_TRUE(IsNameSelected({"spark-1"}, "spark-1"));
  EXPECT_FALSE(IsNameSelected({"spark-1"}, "spark-10"));
}

TEST(NamePattern, PatternsAreThoseOfAShell) {
  EXPECT_TRUE(IsNameSelected({"spark-[1-4]"}, "spark-3"));
  EXPECT_FALSE(IsNameSelected({"spark-[1-4]"}, "spark-5"));
  EXPECT_TRUE(IsNameSelected({"spark-?", "ws-*"}, "ws-left"));
  EXPECT_FALSE(IsNameSelected({"spark-?"}, "spark-12"));
  EXPECT_FALSE(IsNameSelected({"spark-["}, "spark-1"));
}

TEST(NamePattern, WhatIsExcludedIsNotSelectedWhateverElseMatches) {
  EXPECT_FALSE(IsNameSelected({"spark-1", "!spark-1"}, "spark-1"));
  EXPECT_FALSE(IsNameSelected({"!spark-[12]", "spark-*"}, "spark-2"));
  EXPECT_TRUE(IsNameSelected({"!spark-[12]"}, "spark-3"));
}

}  // namespace
}  // namespace reconciler
