#include "reconciler/yaml/source_text.h"

#include <gtest/gtest.h>

#include "reconciler/yaml/lookalike.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

std::string LineShown(std::string_view text) {
  Error error{ErrorKind::kManifest, "x", SourceMark{"f", {1, 1}}};
  SourceText(text).Attach(error);
  return error.source_line;
}

TEST(SourceText, ShowsTheLineWithoutItsLineBreak) {
  EXPECT_EQ(LineShown("a: 1\nb: 2\n"), "a: 1");
  EXPECT_EQ(LineShown("a: 1\r\nb: 2\r\n"), "a: 1");
  EXPECT_EQ(LineShown("\ta: 1"), "\ta: 1");
}

TEST(SourceText, HidesLinesThatHoldASecret) {
  for (const auto* line : {"password: x", "{a: b, sudo_password : x}", "\"api_token\": x",
                           "access: {passphrase: x", "  Client-Secret: x", "pass: x"}) {
    EXPECT_EQ(LineShown(line), "") << line;
  }
  for (const auto* line : {"bypass: x", "# no password in here", "name: token-refresh.service"}) {
    EXPECT_EQ(LineShown(line), line) << line;
  }
}

TEST(SourceText, HidesLinesThatATerminalWouldActOnOrThatAreTooLong) {
  EXPECT_EQ(LineShown("a: \x1b[2J"), "");
  EXPECT_EQ(LineShown("a: \xff"), "");
  EXPECT_EQ(LineShown(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(LineShown(std::string(201, 'x')), "");
}

TEST(SourceText, APlaceBeyondTheTextShowsNothing) {
  Error error{ErrorKind::kManifest, "x", SourceMark{"f", {9, 1}}};
  SourceText("a: 1\n").Attach(error);
  EXPECT_EQ(error.source_line, "");
  EXPECT_EQ(SourceText("a: 1\n").From(9, 0), "");
}

TEST(Quoted, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(Quoted("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(Quoted(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(Quoted(std::string(59, 'x') + "éé"), "'" + std::string(59, 'x') + "…'");
}

TEST(FormatGuess, NamesANearCandidateAndGivesUpOnLongWords) {
  EXPECT_EQ(FormatGuess("mut", {"cage", "mtu"}), ", did you mean 'mtu'?");
  EXPECT_EQ(FormatGuess("colour", {"cage", "mtu"}), "");
  const std::string word(65, 'x');
  EXPECT_EQ(FormatGuess(word, {word}), "");
  EXPECT_EQ(FormatGuess("x", {word}), "");
}

TEST(Lookalike, IsNamedByItsCodePoint) {
  const auto space = FindLookalike("mtu:\u00a09000");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->name, "U+00A0, a no-break space");
  EXPECT_EQ(space->offset, 4u);
  EXPECT_TRUE(space->is_space);
  const auto letter = FindLookalike("\u00e9mt\u0435");
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->name, "U+0435 is Cyrillic");
  EXPECT_EQ(letter->offset, 4u);
  EXPECT_EQ(letter->column, 3);
  EXPECT_FALSE(letter->is_space);
  EXPECT_FALSE(FindLookalike("mtu: 9000"));
}

TEST(Lookalike, TextForPeopleMayHaveNoBreakSpaces) {
  EXPECT_FALSE(FindFalseBlank("model: \"CRS\u00a0812\"  # 2\u00a0cages"));
  EXPECT_FALSE(FindFalseBlank("{model: 'CRS\u00a0812'}"));
  const auto blank = FindFalseBlank("name: 'a', mtu:\u00a09000");
  ASSERT_TRUE(blank);
  EXPECT_EQ(blank->column, 15);
}

TEST(Lookalike, TheHintSaysHowToTypeIt) {
  EXPECT_EQ(FormatLookalikeHint("spark\u20131"), "U+2013, an en dash: type the plain character");
  EXPECT_EQ(FormatLookalikeHint("sp\u0430rk"), "U+0430 is Cyrillic: type it with Latin letters");
  EXPECT_EQ(FormatLookalikeHint("a\u00a0b"),
            "U+00A0, a no-break space: type an ordinary blank, or none");
  EXPECT_EQ(FormatLookalikeHint("spark"), "");
}

}  // namespace
}  // namespace reconciler
