#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/registry.h"
#include "reconciler/cluster/cluster.h"
#include "tests/support/manifest_text.h"

// Sections that stand under a node: the plugins that have them take the node's for that node.
namespace reconciler::plugins {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

tl::expected<Cluster, Errors> Load(const std::string& second_node, const std::string& rest) {
  reconciler::test::ManifestText text;
  text.nodes =
      "  - {name: spark-1, address: 192.168.1.21}\n"
      "  - name: spark-2\n"
      "    address: 192.168.1.22\n" +
      second_node;
  text.rest = rest;
  return BuildCluster(text.Yaml(), "cluster.yaml", GetAll(), {});
}

std::string ListErrors(const std::string& second_node, const std::string& rest) {
  const auto cluster = Load(second_node, rest);
  return cluster ? "none" : FormatErrors(cluster.error());
}

const Plugin& FindPlugin(std::string_view name) {
  for (const Plugin& plugin : GetAll()) {
    if (plugin.name == name) return plugin;
  }
  throw std::out_of_range(std::string(name));
}

// "KIND NAME: what is wanted" of each resource of that plugin but files.
std::vector<std::string> ListWanted(const Cluster& cluster, std::string_view plugin,
                                    std::string_view node) {
  const NodeFacts facts{.node = std::string(node)};
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  std::vector<std::string> wanted;
  for (const Resource& resource : FindPlugin(plugin).resources(
           {cluster.spec, cluster.fabric, *cluster.spec.FindNode(node), facts, all})) {
    const auto* state = std::get_if<ResourceState>(&resource.desired);
    const auto* text = state != nullptr ? std::get_if<std::string>(state) : nullptr;
    if (text == nullptr || resource.name.find("arp_") != std::string::npos) continue;
    wanted.push_back(fmt::format("{} {}: {} (line {})", resource.kind, resource.name, *text,
                                 resource.where.position.line));
  }
  return wanted;
}

TEST(NodeSections, AKernelSettingThatExcludesTheClustersIsRefusedWithAWayOut) {
  const std::string refused =
      ListErrors("    sysctl: {vm.dirty_bytes: 67108864}\n", "sysctl: {vm.dirty_ratio: 20}\n");
  EXPECT_THAT(refused, testing::HasSubstr(
                           "sysctl: wanted one of 'vm.dirty_ratio' and 'vm.dirty_bytes', found "
                           "both: the kernel sets one of them to 0 when the other is written\n"));
  EXPECT_THAT(refused, testing::EndsWith(
                           "\n  hint: keep one of them; where the cluster's sysctl has the other "
                           "one, write that one for each of the other nodes instead\n"));
}

TEST(NodeSections, AKernelSettingOfANodeIsLaidOverTheClusters) {
  const auto cluster = Load("    sysctl: {net.core.rmem_max: 1048576}\n",
                            "sysctl: {net.core.rmem_max: 2097152, net.core.wmem_max: 2097152}\n");
  ASSERT_TRUE(cluster);
  EXPECT_THAT(ListWanted(*cluster, "sysctl", "spark-1"),
              ElementsAre("sysctl net.core.rmem_max: 2097152 (line 11)",
                          "sysctl net.core.wmem_max: 2097152 (line 11)"));
  EXPECT_THAT(ListWanted(*cluster, "sysctl", "spark-2"),
              ElementsAre("sysctl net.core.rmem_max: 1048576 (line 7)",
                          "sysctl net.core.wmem_max: 2097152 (line 11)"));
}

TEST(NodeSections, ALimitOfANodeReplacesTheClusters) {
  const auto cluster = Load("    memlock: 65536\n", "memlock: unlimited\n");
  ASSERT_TRUE(cluster);
  EXPECT_THAT(ListWanted(*cluster, "memlock", "spark-1"),
              ElementsAre("memlock service limit: unlimited (line 11)"));
  EXPECT_THAT(ListWanted(*cluster, "memlock", "spark-2"),
              ElementsAre("memlock service limit: 67108864 (line 7)"));
}

TEST(NodeSections, AnotherNodeThanTheOneThatHasItIsNotManaged) {
  const auto cluster = Load("    memlock: unlimited\n    gpudirect: peermem\n", "");
  ASSERT_TRUE(cluster);
  EXPECT_THAT(ListWanted(*cluster, "memlock", "spark-1"), IsEmpty());
  EXPECT_THAT(ListWanted(*cluster, "gpudirect", "spark-1"), IsEmpty());
  EXPECT_THAT(ListWanted(*cluster, "gpudirect", "spark-2"),
              ElementsAre("module nvidia_peermem: loaded (line 8)"));
}

TEST(NodeSections, AMistakeInTheClustersSectionIsReportedOnce) {
  EXPECT_EQ(ListErrors("    sysctl: {net.core.wmem_max: 2097152}\n",
                       "sysctl: {net.core.rmem_max: 256M}\n"),
            "cluster.yaml:11:29: sysctl: wanted a whole number from 2048 to 2147483647 for "
            "'net.core.rmem_max', found '256M'\n"
            "    sysctl: {net.core.rmem_max: 256M}\n"
            "                                ^\n"
            "  hint: the kernel knows no units: write 268435456\n");
}

TEST(NodeSections, AVariableThatAllRanksShareIsRefusedUnderANode) {
  EXPECT_EQ(
      ListErrors("    nccl: {env: {NCCL_PROTO: Simple, NCCL_DEBUG: INFO}}\n",
                 "nccl: {env: {NCCL_DEBUG: WARN}}\n"),
      "cluster.yaml:7:18: nccl.env: NCCL_PROTO: wanted the same value on all nodes, found one "
      "for spark-2 alone\n"
      "        nccl: {env: {NCCL_PROTO: Simple, NCCL_DEBUG: INFO}}\n"
      "                     ^\n"
      "  hint: ranks with different values can hang: write it in the cluster's nccl.env\n");
}

TEST(NodeSections, WhereRanksMeetIsRefusedUnderANode) {
  EXPECT_EQ(ListErrors("    nccl: {bootstrap: fabric}\n", ""),
            "cluster.yaml:7:23: nccl.bootstrap: wanted one network for all nodes, found one for "
            "spark-2 alone\n"
            "        nccl: {bootstrap: fabric}\n"
            "                          ^\n"
            "  hint: write it in the cluster's nccl\n");
}

TEST(NodeSections, ANodesOwnInterfacesForOtherLibrariesMayDiffer) {
  EXPECT_EQ(ListErrors("    nccl: {env: {UCX_NET_DEVICES: rocep1s0f1}}\n", ""), "none");
}

TEST(NodeSections, ModesThatDifferAreRefusedWhereOneIsDmabuf) {
  EXPECT_EQ(
      ListErrors("    nccl: {mode: safe}\n", "nccl: {mode: dmabuf}\n"),
      "cluster.yaml:7:5: nccl: wanted one mode on all nodes where one is dmabuf, found safe for "
      "spark-2 and dmabuf for the cluster\n"
      "        nccl: {mode: safe}\n"
      "        ^\n"
      "  hint: write `mode: auto` in the cluster's nccl, which takes dmabuf where every node "
      "can\n");
  EXPECT_EQ(ListErrors("    nccl: {mode: safe}\n", "nccl: {mode: auto}\n"), "none");
}

}  // namespace
}  // namespace reconciler::plugins
