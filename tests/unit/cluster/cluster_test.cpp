#include "reconciler/cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/manifest_error.h"

namespace reconciler {
namespace {

constexpr std::string_view kPair = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
fabric:
  topology: direct
  subnets: [192.168.177.0/24, 192.168.178.0/24]
)";

Errors RefuseCluster(const ClusterSpec& cluster, const Fabric&) {
  return {MakeManifestError("manifest-x", cluster.Mark({2, 1}),
                            "cluster: wanted another name, found lab")};
}

// What is printed of the errors; empty: there are none.
std::string PrintErrorsOf(const std::string& text, const std::vector<Plugin>& plugins = {},
                          const PlanScope& scope = {}) {
  const auto cluster = BuildCluster(text, "cluster.yaml", plugins, scope);
  return cluster ? "" : FormatErrors(cluster.error());
}

std::string AddToPair(std::string_view text) { return std::string(kPair) + std::string(text); }

TEST(BuildCluster, HasTheFabricAndTheBytesOfItsManifest) {
  const auto cluster = BuildCluster(std::string(kPair), "cluster.yaml", {});
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->spec.name, "lab");
  EXPECT_EQ(cluster->fabric.ports.size(), 2u);
  EXPECT_EQ(cluster->text, kPair);
}

TEST(BuildCluster, APluginsErrorShowsItsLine) {
  EXPECT_EQ(PrintErrorsOf(std::string(kPair), {{.name = "strict", .check = RefuseCluster}}),
            "cluster.yaml:2:1: cluster: wanted another name, found lab\n"
            "    cluster: lab\n"
            "    ^\n");
}

TEST(BuildCluster, PluginsAndVerifyAreCheckedTogether) {
  const std::string printed = PrintErrorsOf(AddToPair("verify: {level: nccl, min_busbw: 900}\n"),
                                            {{.name = "strict", .check = RefuseCluster}});
  EXPECT_THAT(printed, testing::HasSubstr("cluster: wanted another name"));
  EXPECT_THAT(printed, testing::HasSubstr("verify.min_busbw: wanted at most"));
}

TEST(BuildCluster, AManifestWithErrorsIsNotCheckedFurther) {
  const std::string printed =
      PrintErrorsOf(AddToPair("colour: red\n"), {{.name = "strict", .check = RefuseCluster}});
  EXPECT_THAT(printed, testing::HasSubstr("colour"));
  EXPECT_THAT(printed, testing::Not(testing::HasSubstr("wanted another name")));
}

TEST(BuildCluster, WhatIsSelectedMustExist) {
  EXPECT_EQ(PrintErrorsOf(std::string(kPair), {}, {.nodes = {"spark-1"}}), "");
  EXPECT_THAT(PrintErrorsOf(std::string(kPair), {}, {.nodes = {"spark-7"}}),
              testing::HasSubstr("spark-7"));
}

}  // namespace
}  // namespace reconciler
