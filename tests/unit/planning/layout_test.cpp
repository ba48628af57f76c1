#include "reconciler/planning/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;

TEST(ShortenTo, WhatFitsStays) {
  EXPECT_EQ(ShortenTo("0 → 1", 5), "0 → 1");
  EXPECT_EQ(ShortenTo("0 → 12", 5), "0 → …");
}

TEST(WrapTo, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_THAT(WrapTo("one two three", 0, "  "), ElementsAre("one two three"));
  EXPECT_THAT(WrapTo("one two three", 9, "  "), ElementsAre("one two", "  three"));
  EXPECT_THAT(WrapTo("one  two", 5, "  "), ElementsAre("one", "  two"));
}

TEST(WrapTo, AWordThatIsTooLongIsBrokenAnywhere) {
  EXPECT_THAT(WrapTo("→→→→→→", 4, " "), ElementsAre("→→→→", " →→"));
}

TEST(WrapTo, TheIndentOfTheTextItselfIsNoPlaceToBreak) {
  EXPECT_THAT(WrapTo("    abcdef", 6, "  "), ElementsAre("    ab", "  cdef"));
}

TEST(WrapColumns, TheSecondColumnGoesOnBelowItself) {
  const std::string text =
      "A heading of one column alone\n"
      "  --node TEXT   Only this node, or those that match\n"
      "                more that goes on below it\n"
      "  --a-long-name-that-leaves-no-room  Words after it\n"
      "\n";
  EXPECT_EQ(WrapColumns(text, 0), text);
  EXPECT_EQ(WrapColumns(text, 80), text);
  EXPECT_EQ(WrapColumns(text, 36),
            "A heading of one column alone\n"
            "  --node TEXT   Only this node, or\n"
            "                those that match\n"
            "                more that goes on\n"
            "                below it\n"
            "  --a-long-name-that-leaves-no-room\n"
            "    Words after it\n"
            "\n");
}

TEST(WrapLines, EachLineGoesOnDeeperThanItBegins) {
  EXPECT_EQ(WrapLines("one two\n  three four\n", 0), "one two\n  three four\n");
  EXPECT_EQ(WrapLines("one two\n  three four\n", 8), "one two\n  three\n    four\n");
}

}  // namespace
}  // namespace reconciler
