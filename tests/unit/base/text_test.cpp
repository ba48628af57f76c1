#include "reconciler/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(SplitLines, AFinalNewlineAddsNoEmptyLine) {
  EXPECT_THAT(SplitLines("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(SplitLines("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(SplitLines(""), ElementsAre());
  EXPECT_THAT(SplitLines("\n"), ElementsAre(""));
}

TEST(Trim, TakesBlanksFromBothEndsOnly) {
  EXPECT_EQ(Trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(ComputeEditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(ComputeEditDistance("mtu", "mut"), 1u);
  EXPECT_EQ(ComputeEditDistance("", "abc"), 3u);
  EXPECT_EQ(ComputeEditDistance("kitten", "sitting"), 3u);
}

TEST(FindClosestMatch, NamesOnlyASlipOfTheKeyboard) {
  const std::vector<std::string> keys = {"mtu", "subnets", "topology"};
  EXPECT_THAT(FindClosestMatch("mut", keys), Optional(std::string("mtu")));
  EXPECT_THAT(FindClosestMatch("topolgy", keys), Optional(std::string("topology")));
  EXPECT_EQ(FindClosestMatch("gateway", keys), std::nullopt);
  EXPECT_EQ(FindClosestMatch("a", {"b"}), std::nullopt);
  EXPECT_EQ(FindClosestMatch("nfs", {"ext4", "xfs"}), std::nullopt);
  EXPECT_THAT(FindClosestMatch("xsf", {"ext4", "xfs"}), Optional(std::string("xfs")));
}

TEST(QuoteForShell, RefusesAByteThatAShellWouldDrop) {
  EXPECT_THROW(QuoteForShell(std::string_view("a\0b", 3)), std::logic_error);
}

TEST(QuoteForShell, KeepsEveryByteInsideOneWord) {
  EXPECT_EQ(QuoteForShell(""), "''");
  EXPECT_EQ(QuoteForShell("$(rm -rf /)\n"), "'$(rm -rf /)\n'");
  EXPECT_EQ(QuoteForShell("it's"), "'it'\\''s'");
  EXPECT_EQ(JoinForShell({"sysctl", "-w", "a=b c"}), "'sysctl' '-w' 'a=b c'");
}

TEST(MakePrintable, LetsNoControlCharacterReachATerminal) {
  EXPECT_EQ(MakePrintable("a\033[2Jb\nc"), "a\\x1b[2Jb\\x0ac");
  EXPECT_EQ(MakePrintable("\xc2\x9b"
                          "31m"),
            "\\xc2\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(MakePrintable("1500 → 9000"), "1500 → 9000");
  EXPECT_EQ(MakePrintable("\xff\xe2\x86"), "\\xff\\xe2\\x86");
}

// With them a line shows other text than it holds.
TEST(MakePrintable, LetsNoCharacterChangeTheDirectionOfText) {
  const std::string reversed = "\xe2\x80\xae";
  EXPECT_EQ(MakePrintable("a" + reversed + "b"), "a\\u202eb");
  EXPECT_EQ(MakePrintable("\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9"), "\\u202a\\u2066\\u2069");
  EXPECT_EQ(MakePrintable("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), "\\u200e\\u200f\\u061c");
  EXPECT_EQ(MakePrintable("\u200d\u2010\u2029\u202f\u2065\u206a"),
            "\u200d\u2010\u2029\u202f\u2065\u206a");
}

TEST(IsValidUtf8, RefusesOverlongFormsAndSurrogates) {
  EXPECT_TRUE(IsValidUtf8("→ \xf0\x9f\x90\x8c"));
  EXPECT_FALSE(IsValidUtf8("\xc0\xaf"));
  EXPECT_FALSE(IsValidUtf8("\xed\xa0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xf4\x90\x80\x80"));
}

TEST(FormatPlural, CountsOne) {
  EXPECT_EQ(FormatPlural(1, "node", "nodes"), "1 node");
  EXPECT_EQ(FormatPlural(0, "node", "nodes"), "0 nodes");
}

}  // namespace
}  // namespace reconciler
