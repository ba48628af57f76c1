#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plugins/registry.h"
#include "reconciler/catalogue/catalogue.h"
#include "reconciler/cluster/cluster.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/manifest/schema/value_json.h"
#include "reconciler/yaml/manifest_errors.h"
#include "reconciler/yaml/yaml_document.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = test::SourceDir() + "/tests/cases/manifest";

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

tl::expected<Cluster, Errors> Build(const std::string& name) {
  return BuildCluster(ReadAll(kCases / name / "cluster.yaml"), "cluster.yaml", plugins::GetAll());
}

class ManifestCase : public testing::TestWithParam<std::string> {};

TEST_P(ManifestCase, IsRefusedInTheseWords) {
  const fs::path folder = kCases / GetParam();
  const auto cluster = Build(GetParam());
  ASSERT_FALSE(cluster);
  const std::string errors = FormatErrors(cluster.error());
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(folder / "errors.txt", std::ios::binary) << errors;
    GTEST_SKIP() << "errors.txt written: review it";
  }
  EXPECT_EQ(errors, ReadAll(folder / "errors.txt"));
}

TEST_P(ManifestCase, EveryErrorHasACodeOfTheCatalogue) {
  const auto cluster = Build(GetParam());
  ASSERT_FALSE(cluster);
  const std::vector<std::string> codes = ListCodes();
  for (const Error& error : cluster.error()) {
    ASSERT_NE(std::find(codes.begin(), codes.end(), error.code), codes.end())
        << error.code << ": " << FormatError(error);
    const std::vector<std::string> severity = GetCatalogueEntry(error.code).severity;
    EXPECT_NE(std::find(severity.begin(), severity.end(), "blocks"), severity.end()) << error.code;
  }
}

// valijson decides; the words for what it refuses are ours.
TEST_P(ManifestCase, WhatValijsonRefusesHasWordsOfOurs) {
  const auto document = ParseYaml(ReadAll(kCases / GetParam() / "cluster.yaml"), "cluster.yaml");
  if (!document) return;  // no schema is applied to what is not YAML
  ManifestErrors errors("cluster.yaml");
  CheckSchema(*document, GetClusterSchema(), errors);
  EXPECT_EQ(errors.Empty(), !JudgeBySchema(ToJson(*document), GetClusterSchema()).has_value());
  for (const Error& error : errors.TakeErrors()) {
    EXPECT_EQ(error.message.find("the schema refuses"), std::string::npos) << FormatError(error);
  }
}

INSTANTIATE_TEST_SUITE_P(Manifest, ManifestCase, testing::ValuesIn(Folders()), TestName);

}  // namespace
}  // namespace reconciler
