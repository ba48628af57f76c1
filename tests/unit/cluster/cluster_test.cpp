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

TEST(BuildCluster, PluginsCheckWhatIsNotRefused) {
  for (const char* refused : {"colour: red\n", "  mtu: 100\n", "moved: {nodes: {a: b}}\n",
                              "units: [{name: a.service, enabled: 3}]\n"}) {
    const std::string printed =
        PrintErrorsOf(AddToPair(refused), {{.name = "strict", .check = RefuseCluster}});
    EXPECT_THAT(printed, testing::HasSubstr("wanted another name")) << printed;
    EXPECT_NE(printed.find("cluster.yaml:9:"), std::string::npos) << printed;
  }
}

TEST(BuildCluster, ErrorsOfAllLayersAreInTheOrderOfTheirPlaces) {
  const std::string printed =
      PrintErrorsOf(AddToPair("colour: red\n"), {{.name = "strict", .check = RefuseCluster}});
  EXPECT_LT(printed.find("wanted another name"), printed.find("colour"));
}

TEST(BuildCluster, WhereNodesOrCablesAreNotKnownPluginsCheckNothing) {
  for (const char* cut : {"topology: direct", "name: spark-2, ", "subnets:"}) {
    std::string text(kPair);
    text.erase(text.find(cut), std::string_view(cut).size());
    const std::string printed = PrintErrorsOf(text, {{.name = "strict", .check = RefuseCluster}});
    EXPECT_NE(printed, "");
    EXPECT_THAT(printed, testing::Not(testing::HasSubstr("wanted another name"))) << cut;
  }
}

TEST(BuildCluster, SubnetsThatOthersMayHaveAreWarnings) {
  std::string text(kPair);
  const std::string_view subnets = "192.168.177.0/24, 192.168.178.0/24";
  text.replace(text.find(subnets), subnets.size(), "8.8.8.0/24, 172.17.5.0/24");
  const auto cluster = BuildCluster(text, "cluster.yaml", {});
  ASSERT_TRUE(cluster);
  std::string printed;
  for (const Diagnostic& one : cluster->fabric.diagnostics) {
    EXPECT_EQ(one.severity, Severity::kWarns);
    printed += one.code + ": " + one.message + "\n" + one.next_step + "\n";
  }
  EXPECT_EQ(
      printed,
      "fabric-public-subnet: subnet 8.8.8.0/24 is public address space: the nodes can no "
      "longer reach the machines of the internet that have it\n"
      "take private subnets, such as 192.168.177.0/24\n"
      "fabric-docker-subnet: subnet 172.17.5.0/24 overlaps 172.17.0.0/16, which Docker gives "
      "docker0 unless it is configured otherwise\n"
      "take another subnet, such as 192.168.177.0/24, or set `bip` in /etc/docker/daemon.json "
      "of the nodes\n");
}

TEST(BuildCluster, WhatIsSelectedMustExist) {
  EXPECT_EQ(PrintErrorsOf(std::string(kPair), {}, {.nodes = {"spark-1"}}), "");
  EXPECT_THAT(PrintErrorsOf(std::string(kPair), {}, {.nodes = {"spark-7"}}),
              testing::HasSubstr("spark-7"));
}

TEST(BuildCluster, PatternsMustMatchANodeAndLeaveOne) {
  const auto print = [](std::vector<std::string> nodes) {
    return PrintErrorsOf(std::string(kPair), {}, {.nodes = std::move(nodes)});
  };
  EXPECT_EQ(print({"spark-[12]", "!spark-2"}), "");
  EXPECT_EQ(print({"spark-[3-9]"}),
            "no node matches 'spark-[3-9]'\n  hint: known: spark-1, spark-2\n");
  EXPECT_EQ(print({"!spark-*"}),
            "--node and --exclude leave no node\n  hint: known: spark-1, spark-2\n");
}

}  // namespace
}  // namespace reconciler
