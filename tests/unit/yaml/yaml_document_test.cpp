#include "reconciler/yaml/yaml_document.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

std::string Refused(std::string_view text) {
  const auto value = ParseYaml(text, "f.yaml");
  return value ? "accepted" : FormatError(value.error());
}

Value Parsed(std::string_view text) {
  const auto value = ParseYaml(text, "f.yaml");
  if (!value) ADD_FAILURE() << FormatError(value.error());
  return value.value_or(Value{});
}

TEST(ParseYaml, EveryValueKnowsItsPlace) {
  const Value value = Parsed("a: 1\nb:\n  - x\n  - {c: y}\n");
  EXPECT_EQ(value.position, (Position{1, 1}));
  EXPECT_EQ(value.Find("a")->position, (Position{1, 4}));
  EXPECT_EQ(value.Members()[1].key_position, (Position{2, 1}));
  EXPECT_EQ(value.Find("b")->position, (Position{3, 3}));
  EXPECT_EQ(value.Find("b")->List()[0].position, (Position{3, 5}));
  EXPECT_EQ(value.Find("b")->List()[1].Find("c")->position, (Position{4, 9}));
}

// The schema's lengths would end at it.
TEST(ParseYaml, AnEscapedNulIsRefusedInValuesAndKeys) {
  for (const char* text : {"a: \"b\\0c\"\n", "\"b\\0c\": a\n"}) {
    const auto value = ParseYaml(text, "f.yaml");
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().message, "wanted text without NUL, found 'b\\x00c'");
  }
}

TEST(ParseYaml, ColumnsCountCharacters) {
  EXPECT_EQ(Parsed("é: ü\n").Find("é")->position, (Position{1, 4}));
}

TEST(ParseYaml, NothingStandsAtItsKeyAndAWrittenNullAtItself) {
  const Value value = Parsed("a:\n\nb: ~\nc: [null]\nd:\n-\n- x\n");
  EXPECT_TRUE(value.Find("a")->IsNull());
  EXPECT_EQ(value.Find("a")->position, (Position{1, 1}));
  EXPECT_EQ(value.Find("b")->position, (Position{3, 4}));
  EXPECT_EQ(value.Find("c")->List()[0].position, (Position{4, 5}));
  EXPECT_EQ(value.Find("d")->List()[0].position, (Position{6, 1}));
}

TEST(ParseYaml, QuotedBlockAndTaggedTextStaysText) {
  const Value value = Parsed("a: \"1\"\nb: 'true'\nc: |\n  12\nd: !!str 12\n\"5\": x\n");
  EXPECT_EQ(*value.Find("a")->AsString(), "1");
  EXPECT_EQ(*value.Find("b")->AsString(), "true");
  EXPECT_EQ(*value.Find("c")->AsString(), "12\n");
  EXPECT_EQ(*value.Find("d")->AsString(), "12");
  EXPECT_EQ(*value.Find("5")->AsString(), "x");
}

TEST(ParseYaml, ANumberKeepsHowItIsWrittenWhereThatIsAnotherText) {
  const Value value = Parsed("a: 9e3\nb: 9000\nc: \"9e3\"\nd: ~\ne: TRUE\n");
  EXPECT_EQ(value.Find("a")->ScalarText(), "9000");
  EXPECT_EQ(value.Find("a")->WrittenText(), "9e3");
  EXPECT_EQ(value.Find("b")->written, "");
  EXPECT_EQ(value.Find("b")->WrittenText(), "9000");
  EXPECT_EQ(value.Find("c")->WrittenText(), "9e3");
  EXPECT_EQ(value.Find("d")->WrittenText(), "");
  EXPECT_EQ(value.Find("e")->WrittenText(), "TRUE");
  EXPECT_EQ(Refused("0x1F: a\n"),
            "f.yaml:1:1: wanted text as a key, found the number 0x1F\n    0x1F: a\n    ^\n"
            "  hint: put the key in quotes\n");
}

TEST(ParseYaml, EmptyTextIsNull) {
  for (const auto* text : {"", "\n", "# nothing\n", "---\n"}) {
    EXPECT_TRUE(Parsed(text).IsNull()) << text;
  }
}

TEST(ParseYaml, AByteOrderMarkCarriageReturnsAndAMissingLastNewlineDoNotMatter) {
  const Value value = Parsed(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: [2,\r\n3]");
  EXPECT_EQ(value.Find("a")->position, (Position{1, 4}));
  EXPECT_EQ(value.Find("b")->List()[1].position, (Position{3, 1}));
  EXPECT_EQ(*value.Find("b")->List()[1].AsInteger(), 3);
}

TEST(ParseYaml, QuotesWithinQuotesAreNotTheEnd) {
  EXPECT_EQ(*Parsed("a: 'it''s'").Find("a")->AsString(), "it's");
  EXPECT_EQ(*Parsed("a: \"x\\\"y\"").Find("a")->AsString(), "x\"y");
  EXPECT_EQ(Refused("a: 'it''s"),
            "f.yaml:1:4: wanted a closing quote, found the end of the file\n"
            "    a: 'it''s\n"
            "       ^\n");
  EXPECT_EQ(Refused("a: &x !!str \"y\\\""),
            "f.yaml:1:4: wanted a closing quote, found the end of the file\n"
            "    a: &x !!str \"y\\\"\n"
            "       ^\n");
}

TEST(ParseYaml, AnAliasIsACopyThatStandsAtTheAlias) {
  const Value value = Parsed("a: &x {b: 1}\nc: *x\nd: *x\n");
  EXPECT_EQ(*value.At({"c", "b"})->AsInteger(), 1);
  EXPECT_EQ(value.Find("c")->position, (Position{2, 4}));
  EXPECT_EQ(value.At({"d", "b"})->position, (Position{1, 11}));
}

TEST(ParseYaml, AnAliasOfTextMayBeAKey) {
  EXPECT_EQ(*Parsed("a: &x b\n*x : 1\n").Find("b")->AsInteger(), 1);
}

TEST(ParseYaml, OneMebibyteIsTheLimit) {
  std::string text = "a: 1\n#";
  text.resize((1u << 20) - 1, 'x');
  EXPECT_EQ(Refused(text + "\n"), "accepted");
  EXPECT_EQ(Refused(text + "xx"), "f.yaml: wanted at most 1 MiB, found 1048577 bytes\n");
}

TEST(ParseYaml, SixtyFourLevelsAreTheLimit) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels - 1, '[') + "x" + std::string(levels - 1, ']');
  };
  EXPECT_EQ(Refused(nested(64)), "accepted");
  EXPECT_NE(Refused(nested(65)).find("wanted at most 64 levels of lists and maps, found more"),
            std::string::npos);
}

TEST(ParseYaml, AliasesCannotNestDeeperThanTheLimit) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i <= 70; ++i) {
    const std::string n = std::to_string(i);
    text += "a" + n + ": &a" + n + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_NE(Refused(text).find("wanted at most 64 levels"), std::string::npos);
}

TEST(ParseYaml, AHundredThousandValuesAreTheLimit) {
  const auto list = [](int entries) {
    std::string text;
    for (int i = 0; i < entries; ++i) text += "- x\n";
    return text;
  };
  EXPECT_EQ(Refused(list(99'999)), "accepted");  // and the list itself
  EXPECT_EQ(Refused(list(100'000)),
            "f.yaml:100000:3: wanted at most 100000 values with all aliases expanded, found more\n"
            "    - x\n"
            "      ^\n");
}

TEST(ParseYaml, AnchorsOfAnchorsCannotMultiplyCopies) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 5000; ++i) text += "x,";
  EXPECT_NE(Refused(text + std::string(60, ']')).find("wanted at most 100000 values"),
            std::string::npos);
}

TEST(ParseYaml, ParserMessagesWithoutOwnWordsComeThrough) {
  EXPECT_EQ(Refused("a: &x &y z\n"),
            "f.yaml:1:7: not YAML: cannot assign multiple anchors to the same node\n"
            "    a: &x &y z\n"
            "          ^\n");
}

}  // namespace
}  // namespace reconciler
