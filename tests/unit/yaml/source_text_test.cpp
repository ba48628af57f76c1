#include "reconciler/yaml/source_text.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace reconciler
