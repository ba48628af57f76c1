#include "reconciler/catalogue/catalogue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/manifest/schema/value_json.h"
#include "reconciler/yaml/yaml_document.h"
#include "schema/embedded.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

const std::filesystem::path kMeanings = test::SourceDir() + "/tests/unit/catalogue/meanings.txt";

TEST(Catalogue, EveryEntryIsWhatItsSchemaSays) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("diagnosis"));
  for (const std::string& code : ListCodes()) {
    const auto entry = ParseYaml(FindEmbeddedDiagnosis(code), code + ".yaml");
    ASSERT_TRUE(entry) << FormatErrors({entry.error()});
    EXPECT_EQ(JudgeBySchema(ToJson(*entry), schema), std::nullopt) << code;
    EXPECT_EQ(GetCatalogueEntry(code).code, code);
  }
}

// The build finds it without a parser of YAML.
TEST(Catalogue, WhatOverridesIsTheSameInTheEntryAndForThePlan) {
  for (const std::string& code : ListCodes()) {
    EXPECT_EQ(FindEmbeddedOverride(code), GetCatalogueEntry(code).overrides) << code;
  }
  EXPECT_EQ(FindEmbeddedOverride("netplan-boot-service"), "later");
  EXPECT_EQ(FindEmbeddedOverride("etc_hosts-foreign-line"), "now");
  EXPECT_EQ(FindEmbeddedOverride("no-such-code"), "");
}

TEST(Catalogue, RelatedCodesAreCodesToo) {
  const std::vector<std::string> codes = ListCodes();
  for (const std::string& code : codes) {
    for (const std::string& related : GetCatalogueEntry(code).related) {
      EXPECT_THAT(codes, testing::Contains(related)) << code;
      EXPECT_NE(related, code);
    }
  }
}

TEST(Catalogue, EverySentenceEndsWithAFullStop) {
  for (const std::string& code : ListCodes()) {
    const CatalogueEntry entry = GetCatalogueEntry(code);
    for (const std::string& text :
         {entry.symptom, entry.detected, entry.cause, entry.next_step, entry.impact}) {
      EXPECT_TRUE(text.ends_with('.')) << code << ": " << text;
    }
  }
}

// What a code means is what it was when the code was new: another meaning needs another code.
TEST(Catalogue, NoCodeChangesItsMeaning) {
  std::string meanings;
  for (const std::string& code : ListCodes()) {
    meanings += fmt::format("{}: {}\n", code, GetCatalogueEntry(code).symptom);
  }
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(kMeanings, std::ios::binary) << meanings;
    GTEST_SKIP() << "meanings.txt written: review it";
  }
  std::ostringstream known;
  known << std::ifstream(kMeanings).rdbuf();
  EXPECT_EQ(meanings, known.str());
}

}  // namespace
}  // namespace reconciler
