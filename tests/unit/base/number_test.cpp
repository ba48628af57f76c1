#include "reconciler/base/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace reconciler {
namespace {

TEST(ParseNumber, ReadsTheWholeText) {
  EXPECT_EQ(ParseNumber<int>("0"), 0);
  EXPECT_EQ(ParseNumber<int>("-17"), -17);
  EXPECT_EQ(ParseNumber<int>("007"), 7);
  EXPECT_EQ(ParseNumber<unsigned>("0644", 8), 0644u);
  EXPECT_EQ(ParseNumber<unsigned>("fFff", 16), 0xFFFFu);
}

TEST(ParseNumber, RefusesWhateverStandsBesideTheNumber) {
  for (const char* text : {"", " ", " 1", "1 ", "1\n", "+1", "1x", "0x1", "--1", "-", "1.5", "1,5"})
    EXPECT_FALSE(ParseNumber<int>(text)) << '\'' << text << '\'';
  EXPECT_FALSE(ParseNumber<unsigned>("8", 8));
}

TEST(ParseNumber, RefusesWhatDoesNotFitTheType) {
  EXPECT_EQ(ParseNumber<int>("2147483647"), std::numeric_limits<int>::max());
  EXPECT_FALSE(ParseNumber<int>("2147483648"));
  EXPECT_FALSE(ParseNumber<unsigned>("-1"));
  EXPECT_EQ(ParseNumber<std::uint64_t>("18446744073709551615"),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(ParseNumber<std::uint64_t>("18446744073709551616"));
}

TEST(ParseNumber, ReadsFractionsWithAPointWhateverTheLocale) {
  EXPECT_EQ(ParseNumber<double>("2.5"), 2.5);
  EXPECT_EQ(ParseNumber<double>("1."), 1.0);
  EXPECT_EQ(ParseNumber<double>("-.5e1"), -5.0);
  EXPECT_FALSE(ParseNumber<double>("1e999"));
  EXPECT_FALSE(ParseNumber<double>("2,5"));
}

TEST(ConsumeNumber, TakesTheNumberOffTheFront) {
  std::string_view text = "200 Gb/sec";
  EXPECT_EQ(ConsumeNumber<int>(text), 200);
  EXPECT_EQ(text, " Gb/sec");
}

TEST(ConsumeNumber, TakesNothingWhenTheTextBeginsWithNoNumberThatFits) {
  for (const std::string_view whole : {"", "x1", " 1", "+1", "99999999999 bytes"}) {
    std::string_view text = whole;
    EXPECT_FALSE(ConsumeNumber<int>(text)) << '\'' << whole << '\'';
    EXPECT_EQ(text, whole);
  }
}

}  // namespace
}  // namespace reconciler
