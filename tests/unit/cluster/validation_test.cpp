#include "reconciler/cluster/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

constexpr std::string_view kManifest = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
fabric:
  topology: switch
  subnets: [192.168.177.0/24, 192.168.178.0/24]
)";

nlohmann::ordered_json Validate(const std::string& text) {
  const auto json = ToJson("cluster.yaml", BuildCluster(text, "cluster.yaml", {}));
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("validation"));
  EXPECT_EQ(JudgeBySchema(AddHead(json, {"0.1.0", "2026-11-25T00:00:00Z"}), schema), std::nullopt);
  return json;
}

TEST(Validation, AnErrorHasItsCodeItsPlaceAndItsText) {
  const auto json = Validate(std::string(kManifest) + "colour: red\n");
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["cluster"], "");
  ASSERT_EQ(json["findings"].size(), 1u);
  const auto& found = json["findings"][0];
  EXPECT_EQ(found["severity"], "blocks");
  EXPECT_EQ(found["code"], "manifest-unknown-key");
  EXPECT_EQ(found["message"], "unknown key 'colour'");
  EXPECT_THAT(found["next_step"].get<std::string>(), testing::StartsWith("known keys: "));
  EXPECT_EQ(found["where"],
            (nlohmann::ordered_json{{"file", "cluster.yaml"}, {"line", 9}, {"column", 1}}));
}

TEST(Validation, WhatIsNotYamlHasACodeToo) {
  EXPECT_EQ(Validate("nodes: [")["findings"][0]["code"], "manifest-not-yaml");
}

TEST(Validation, AValidManifestHasNotesOnly) {
  const auto json = Validate(std::string(kManifest));
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["cluster"], "lab");
  EXPECT_EQ(json["summary"], "2 nodes on a switch");
  std::vector<std::string> codes;
  for (const auto& found : json["findings"]) {
    EXPECT_EQ(found["severity"], "informs");
    codes.push_back(found["code"]);
  }
  EXPECT_THAT(codes, testing::Contains("fabric-switch-advice"));
}

}  // namespace
}  // namespace reconciler
