#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "plugins/registry.h"
#include "reconciler/cluster/cluster.h"
#include "tests/cases/plan_case.h"

// manifests/guides: what docs/guides.md compares with guides for DGX Sparks.
namespace reconciler {
namespace {

const std::string kGuides = SPARK_SOURCE_DIR "/manifests/guides";

std::vector<std::string> ListGuides() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGuides)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Guides, EachManifestIsValidWithAllPlugins) {
  ASSERT_EQ(ListGuides().size(), 5U);
  for (const std::string& name : ListGuides()) {
    const std::string text = test::ReadAll(kGuides + "/" + name);
    EXPECT_TRUE(
        text.starts_with("# yaml-language-server: $schema=../../schema/cluster.schema.json\n"))
        << name;
    const auto cluster = BuildCluster(text, name, plugins::GetAll(), {});
    EXPECT_TRUE(cluster) << FormatErrors(cluster.error());
  }
}

TEST(Guides, ThePageComparesEachOfThem) {
  const std::string page = test::ReadAll(SPARK_SOURCE_DIR "/docs/guides.md");
  for (const std::string& name : ListGuides()) {
    EXPECT_NE(page.find("../manifests/guides/" + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace reconciler
