#include "reconciler/manifest/schema/schema_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/manifest/load.h"
#include "reconciler/yaml/yaml_document.h"
#include "tests/support/manifest_text.h"

namespace reconciler {
namespace {

std::string Checked(std::string_view yaml, const nlohmann::json& schema) {
  ManifestErrors errors("f.yaml");
  CheckSchema(ParseYaml(yaml, "f.yaml").value(), schema, errors);
  return FormatErrors(errors.TakeErrors());
}

TEST(CheckSchema, WhatOnlyValijsonKnowsIsRefusedToo) {
  const nlohmann::json schema = {{"properties", {{"a", {{"multipleOf", 4}}}}}};
  EXPECT_EQ(Checked("a: 8", schema), "");
  EXPECT_EQ(Checked("a: 9", schema),
            "f.yaml:1:4: 'a': the schema refuses it: Value should be a multiple of 4\n");
}

TEST(CheckSchema, APatternWithoutWordsOfItsOwnIsShown) {
  const nlohmann::json schema = {{"pattern", "^a+$"}};
  EXPECT_EQ(Checked("aaa", schema), "");
  EXPECT_EQ(Checked("aab", schema), "f.yaml:1:1: wanted text that matches ^a+$, found 'aab'\n");
}

TEST(CheckSchema, NumbersOutOfRangeAreShownWithTheRange) {
  const nlohmann::json schema = {{"type", "number"}, {"minimum", 0.5}, {"maximum", 2}};
  EXPECT_EQ(Checked("1.5", schema), "");
  EXPECT_EQ(Checked("2.5", schema), "f.yaml:1:1: wanted a number from 0.5 to 2, found 2.5\n");
}

TEST(CheckSchema, TooManyEntriesAreRefused) {
  const nlohmann::json schema = {{"maxItems", 1}};
  EXPECT_EQ(Checked("[a]", schema), "");
  EXPECT_EQ(Checked("[a, b]", schema), "f.yaml:1:1: wanted at most 1 entry, found 2\n");
}

TEST(CheckSchema, AnEntryThatIsThereTwiceIsRefusedAtItsSecondPlace) {
  const nlohmann::json schema = {{"uniqueItems", true}};
  EXPECT_EQ(Checked("[a, b, 3]", schema), "");
  EXPECT_EQ(Checked("[a, b, a, 3, 3]", schema),
            "f.yaml:1:8: 'a' is listed twice\nf.yaml:1:14: '3' is listed twice\n");
}

TEST(CheckSchema, TextOfAnotherFormIsExplainedByTheBranchThatIsText) {
  const nlohmann::json schema = {
      {"anyOf",
       {{{"type", "string"}, {"pattern", "^a+$"}, {"patternErrorMessage", "several a"}},
        {{"type", "object"}}}}};
  EXPECT_EQ(Checked("aa", schema), "");
  EXPECT_EQ(Checked("b", schema), "f.yaml:1:1: wanted several a, found 'b'\n");
  EXPECT_EQ(Checked("5", schema), "f.yaml:1:1: wanted text or a map, found the number 5\n");
}

TEST(CheckSchema, AListThatNeedsMoreEntriesThanItsTextHasIsHintedWithAPlaceForThem) {
  const nlohmann::json schema = {{"type", "array"}, {"minItems", 2}};
  EXPECT_EQ(Checked("a", schema),
            "f.yaml:1:1: wanted a list, found the text 'a'\n  hint: write it as a list: [a, …]\n");
  EXPECT_EQ(Checked("'a, b'", schema),
            "f.yaml:1:1: wanted a list, found the text 'a, b'\n"
            "  hint: write it as a list: [a, b]\n");
}

TEST(CheckSchema, LengthsCountCharacters) {
  const nlohmann::json schema = {{"maxLength", 3}};
  EXPECT_EQ(Checked("äöü", schema), "");
  EXPECT_EQ(Checked("äöüx", schema), "f.yaml:1:1: wanted at most 3 characters, found 'äöüx'\n");
}

// std::regex recurses once per byte, so that such a name would overflow the stack.
TEST(CheckSchema, AnEnormousTextIsRefusedByItsLengthAndNotMatched) {
  test::ManifestText manifest;
  manifest.nodes = "  - {name: " + std::string(900'000, 'a') + ", address: x}\n" + manifest.nodes;
  const auto spec = LoadClusterSpec(manifest.Yaml(), "cluster.yaml");
  ASSERT_FALSE(spec);
  std::vector<std::string> messages;
  for (const Error& error : spec.error()) messages.push_back(error.message);
  EXPECT_THAT(messages, testing::Contains(testing::StartsWith("'name' in node 'aaa")));
  EXPECT_THAT(messages, testing::Contains(testing::HasSubstr("wanted at most 56 characters")));
}

TEST(FillDefaults, PutsDefaultsWhereTheDocumentSaysNothingAtTheirParent) {
  const nlohmann::json schema = {
      {"properties",
       {{"a", {{"default", nlohmann::json::object()}, {"properties", {{"b", {{"default", 5}}}}}}},
        {"c", {{"properties", {{"d", {{"default", "x"}}}, {"e", {{"default", true}}}}}}},
        {"f", {{"properties", {{"g", {{"default", 1}}}}}}}}}};
  Value value = ParseYaml("c:\n  d: y\n", "f.yaml").value();
  FillDefaults(value, schema);
  EXPECT_EQ(*value.At({"a", "b"})->AsInteger(), 5);
  EXPECT_EQ(value.At({"a", "b"})->position, (Position{1, 1}));
  EXPECT_EQ(*value.At({"c", "d"})->AsString(), "y");
  EXPECT_EQ(value.At({"c", "d"})->position, (Position{2, 6}));
  EXPECT_TRUE(*value.At({"c", "e"})->AsBool());
  EXPECT_EQ(value.At({"c", "e"})->position, (Position{2, 3}));
  EXPECT_EQ(value.Find("f"), nullptr);
}

TEST(FillDefaults, ReachesIntoLists) {
  const nlohmann::json schema = {{"items", {{"properties", {{"a", {{"default", 1.5}}}}}}}};
  Value value = ParseYaml("[{}, {a: 2}]", "f.yaml").value();
  FillDefaults(value, schema);
  EXPECT_EQ(value.List()[0].Find("a")->ScalarText(), "1.5");
  EXPECT_EQ(value.List()[1].Find("a")->ScalarText(), "2");
}

}  // namespace
}  // namespace reconciler
