#include "reconciler/manifest/schema/schema_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(CheckSchema, NumbersAndFlagsAreShownAsTheFileHasThem) {
  const nlohmann::json integer = {{"type", "integer"}, {"minimum", 1500}, {"maximum", 9216}};
  const auto found = [&](const std::string& text, const nlohmann::json& schema) {
    const std::string printed = Checked(text, schema);
    return printed.substr(std::min(printed.find("found "), printed.size()));
  };
  EXPECT_EQ(Checked("9e3", integer),
            "f.yaml:1:1: wanted an integer from 1500 to 9216, found the number 9e3\n");
  EXPECT_EQ(found("0x10", integer), "found 0x10\n");
  EXPECT_EQ(found("True", integer), "found True\n");
  EXPECT_EQ(found("1.50", integer), "found the number 1.50\n");
  EXPECT_EQ(found("0010", integer), "found 0010\n");
  const std::string zeros(100, '0');
  EXPECT_EQ(found("1." + zeros, integer), "found the number 1\n");
  EXPECT_EQ(
      found("[0x1f]", {{"items", {{"type", "string"}, {"pattern", "^0x"}, {"maxLength", 9}}}}),
      "found the number 0x1f\n  hint: put it in quotes\n");
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

TEST(CheckSchema, TrueIsHintedByTheKeyWhereTheSchemaListsKeys) {
  nlohmann::json values = {{"type", {"number", "string"}},
                           {"pattern", "^[a-z]*$"},
                           {"patternErrorMessage", "small letters"}};
  const auto print = [&](const std::string& yaml) {
    return Checked(yaml, {{"additionalProperties", values}});
  };
  const std::string wanted = "f.yaml:1:10: 'A_DEBUG': wanted a number or text, found true\n";
  EXPECT_EQ(print("A_DEBUG: true"), wanted + "  hint: write 1 or 0\n");
  values["booleanHints"] = {{"write 1 or 0", nlohmann::json::array({"_ENABLE"})},
                            {"write WARN", nlohmann::json::array({"A_DEBUG"})}};
  EXPECT_EQ(print("A_DEBUG: true"), wanted + "  hint: write WARN\n");
  EXPECT_EQ(print("A_ENABLE: false"),
            "f.yaml:1:11: 'A_ENABLE': wanted a number or text, found false\n"
            "  hint: write 1 or 0\n");
  EXPECT_EQ(print("A_LEVEL: true"),
            "f.yaml:1:10: 'A_LEVEL': wanted a number or text, found true\n");
}

TEST(CheckSchema, TrueForNcclDebugIsHintedWithItsWords) {
  test::ManifestText manifest;
  manifest.rest = "nccl: {env: {NCCL_DEBUG: true}}\n";
  const auto spec = LoadClusterSpec(manifest.Yaml(), "cluster.yaml");
  ASSERT_FALSE(spec);
  EXPECT_EQ(FormatErrors(spec.error()),
            "cluster.yaml:9:26: 'NCCL_DEBUG' in env of nccl: wanted a number or text, found true\n"
            "    nccl: {env: {NCCL_DEBUG: true}}\n"
            "                             ^\n"
            "  hint: write VERSION, WARN, INFO, ABORT or TRACE\n");
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
