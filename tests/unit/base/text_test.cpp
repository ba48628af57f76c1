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

TEST(EditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(EditDistance("mtu", "mut"), 1u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(ClosestMatch, NamesOnlyASlipOfTheKeyboard) {
  const std::vector<std::string> keys = {"mtu", "subnets", "topology"};
  EXPECT_THAT(ClosestMatch("mut", keys), Optional(std::string("mtu")));
  EXPECT_THAT(ClosestMatch("topolgy", keys), Optional(std::string("topology")));
  EXPECT_EQ(ClosestMatch("gateway", keys), std::nullopt);
  EXPECT_EQ(ClosestMatch("a", {"b"}), std::nullopt);
}

TEST(ShellQuote, KeepsEveryByteInsideOneWord) {
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("$(rm -rf /)\n"), "'$(rm -rf /)\n'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellJoin({"sysctl", "-w", "a=b c"}), "'sysctl' '-w' 'a=b c'");
}

TEST(Printable, LetsNoControlCharacterReachATerminal) {
  EXPECT_EQ(Printable("a\033[2Jb\nc"), "a\\x1b[2Jb\\x0ac");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(Printable("1500 → 9000"), "1500 → 9000");
  EXPECT_EQ(Printable("\xff\xe2\x86"), "\\xff\\xe2\\x86");
}

TEST(IsValidUtf8, RefusesOverlongFormsAndSurrogates) {
  EXPECT_TRUE(IsValidUtf8("→ \xf0\x9f\x90\x8c"));
  EXPECT_FALSE(IsValidUtf8("\xc0\xaf"));
  EXPECT_FALSE(IsValidUtf8("\xed\xa0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xf4\x90\x80\x80"));
}

TEST(Plural, CountsOne) {
  EXPECT_EQ(Plural(1, "node", "nodes"), "1 node");
  EXPECT_EQ(Plural(0, "node", "nodes"), "0 nodes");
}

}  // namespace
}  // namespace reconciler
