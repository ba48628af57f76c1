#include "reconciler/discovery/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(DiscoverAdopt, FilesOfOneNameAreOneEntryBeforeTheGapsAndTheNotes) {
  Discovery discovery{.manifest = "fabric: {}\n", .gaps = {"a", "b"}, .notes = {"c"}};
  AddAdopt({{"", "file: /etc/netplan/40-cx7.yaml", "7ad321ebe07d55", "NVIDIA Sync", "spark-1"},
            {"", "file: /etc/netplan/50-x.yaml", "aaaaaaaaaaaa55", "", "spark-1"},
            {"", "nm_profile: cx7-a", "bbbbbbbbbbbb55", "", "spark-1"},
            {"", "file: /etc/netplan/40-cx7.yaml", "a73ce1605fa655", "NVIDIA Sync", "spark-2"}},
           discovery);
  EXPECT_EQ(FormatDiscovery(discovery),
            "fabric: {}\n"
            "adopt:                           # of others: apply takes them over, uninstall writes "
            "them back\n"
            "  - {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: 7ad321ebe07d, spark-2: "
            "a73ce1605fa6}}  # probably written by NVIDIA Sync\n"
            "  - {file: /etc/netplan/50-x.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"
            "  - {nm_profile: cx7-a, nodes: {spark-1: bbbbbbbbbbbb}}\n"
            "# Not as found: a\n# Not as found: b\n# Note: c\n");
}

Diagnostic Blocks(const std::string& message, const std::string& plugin, const NodeName& node) {
  return {.severity = Severity::kBlocks,
          .code = "netplan-foreign-file",
          .message = message,
          .plugin = plugin,
          .change = "file//etc/x",
          .nodes = {node}};
}

TEST(DiscoverObstacles, EachCauseIsOneGapWithTheNodesAndTheNextStep) {
  Discovery discovery{.manifest = "a: 1\n", .gaps = {"first"}, .notes = {"last"}};
  AddObstacles({Blocks("x configures p", "netplan", "spark-1"),
                Blocks("x configures p", "netplan", "spark-2"),
                {.severity = Severity::kWarns,
                 .message = "x configures p",
                 .next_step = "move it away",
                 .plugin = "netplan",
                 .nodes = {"spark-1", "spark-2"}},
                {.severity = Severity::kWarns, .message = "the switch is oversubscribed"},
                {.severity = Severity::kInforms, .message = "all is well", .plugin = "netplan"}},
               discovery);
  EXPECT_EQ(FormatDiscovery(discovery),
            "a: 1\n# Not as found: first\n"
            "# Not as found: spark-1, spark-2: x configures p; move it away\n# Note: last\n");
}

TEST(DiscoverObstacles, AChangeThatIsBlockedForNothingElseIsAGapOfItsOwn) {
  Discovery discovery;
  AddObstacles({Blocks("not read\nforged: 1", "netplan", "spark-1"),
                Blocks("y is not ours", "hosts", "spark-2"),
                Blocks("y is not ours", "hosts", "spark-3"),
                {.severity = Severity::kWarns,
                 .message = "y wins",
                 .plugin = "hosts",
                 .nodes = {"spark-1"}}},
               discovery);
  EXPECT_THAT(discovery.gaps,
              testing::ElementsAre("spark-1: /etc/x: not read\\x0aforged: 1",
                                   "spark-2, spark-3: /etc/x: y is not ours", "spark-1: y wins"));
}

TEST(DiscoverObstacles, WhatBlocksAllOfANodeIsOneGap) {
  Discovery discovery;
  const auto belongs = [](const NodeName& node) {
    return Diagnostic{.severity = Severity::kBlocks,
                      .message = "this node belongs to cluster 'lab', wanted 'homelab'",
                      .next_step = "uninstall it there first",
                      .nodes = {node}};
  };
  AddObstacles({belongs("spark-1"), belongs("spark-2"), Blocks("is not ours", "netplan", "spark-1"),
                Blocks("is not ours", "hosts", "spark-2")},
               discovery);
  EXPECT_THAT(discovery.gaps,
              testing::ElementsAre("spark-1, spark-2: this node belongs to cluster 'lab', wanted "
                                   "'homelab'; uninstall it there first"));
}

TEST(DiscoverNotes, EachSettingThatAdoptingDropsIsNamedButForTheUsualOnes) {
  const auto adopts = [](const NodeName& node, const std::string& path,
                         std::vector<std::string> lost) {
    return Change{.change = ChangeKind::kAdopt,
                  .kind = "file",
                  .name = path,
                  .node = node,
                  .owner = {.name = path, .settings_lost = std::move(lost)}};
  };
  const std::string guide = "/etc/netplan/40-cx7.yaml";
  Change blocked = adopts("spark-1", "/etc/netplan/50-x.yaml", {"routes"});
  blocked.change = ChangeKind::kBlocked;
  const std::vector<std::string> lost = {"IPv6 link-local", "routes", "nameservers"};
  const Plan plan{.stages = {{.changes = {adopts("spark-1", guide, lost),
                                          adopts("spark-2", guide, lost), blocked,
                                          adopts("spark-1", "/etc/netplan/60-y.yaml",
                                                 {"IPv6 link-local", "router advertisements"})}}}};
  Discovery discovery{.notes = {"first"}};
  AddLostSettings(plan, discovery);
  EXPECT_THAT(discovery.notes,
              testing::ElementsAre("first",
                                   "spark-1, spark-2: adopting /etc/netplan/40-cx7.yaml does not "
                                   "carry over: routes, nameservers"));
  EXPECT_THAT(discovery.gaps, testing::IsEmpty());
}

TEST(DiscoverNotes, WhatOthersSetInPlaceOfASectionIsNotedWithTheSection) {
  const std::vector<Plugin> plugins = {{.name = "nccl", .noted_with = "nccl: {}"},
                                       {.name = "memlock"}};
  Discovery discovery{.manifest = "a: 1\n", .notes = {"first"}};
  EXPECT_EQ(FormatWithSections(discovery, plugins), "a: 1\n# Note: first\nnccl: {}\n");
  const auto warns = [](const std::string& plugin, const NodeName& node) {
    return Diagnostic{.severity = Severity::kWarns,
                      .message = "x:1 A=1",
                      .next_step = "remove it there",
                      .plugin = plugin,
                      .nodes = {node}};
  };
  Diagnostic informs = warns("nccl", "spark-1");
  informs.severity = Severity::kInforms;
  AddNotes(
      {warns("nccl", "spark-1"), warns("memlock", "spark-1"), informs, warns("nccl", "spark-2")},
      plugins, discovery);
  EXPECT_THAT(
      discovery.notes,
      testing::ElementsAre("first", "spark-1, spark-2: with `nccl: {}` in the manifest: x:1 A=1"));
}

TEST(DiscoverAdopt, ADigestThatYamlReadsAsANumberIsQuoted) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({{"", "file: /etc/netplan/x.yaml", "1234567890123", "", "spark-1"},
            {"", "file: /etc/netplan/x.yaml", "12345678e0123", "", "spark-2"}},
           discovery);
  EXPECT_NE(discovery.manifest.find("{spark-1: \"123456789012\", spark-2: \"12345678e012\"}"),
            std::string::npos);
}

TEST(DiscoverAdopt, NamesThatYamlWouldReadAsSomethingElseAreQuoted) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({{"", "nm_profile: 10", "aaaaaaaaaaaa55", "", "null"},
            {"", "master: true", "", "", "12"},
            {"", "lines: /etc/sysctl.conf, match: [vm.x, vm.y]", "bbbbbbbbbbbb55", "", "spark-1"}},
           discovery);
  EXPECT_NE(
      discovery.manifest.find("\n  - {nm_profile: \"10\", nodes: {\"null\": aaaaaaaaaaaa}}\n"
                              "  - {master: \"true\", nodes: [\"12\"]}\n"
                              "  - {lines: /etc/sysctl.conf, match: [vm.x, vm.y], nodes: {spark-1: "
                              "bbbbbbbbbbbb}}\n"),
      std::string::npos);
}

TEST(DiscoverAdopt, WhatHasNoDigestIsListedByItsNodes) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({{"", "master: bond0", "", "", "spark-1"}, {"", "master: bond0", "", "", "spark-2"}},
           discovery);
  EXPECT_NE(discovery.manifest.find("\n  - {master: bond0, nodes: [spark-1, spark-2]}\n"),
            std::string::npos);
}

TEST(DiscoverAdopt, WithoutFilesTheManifestStaysAsItIs) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({}, discovery);
  EXPECT_EQ(discovery.manifest, "a: 1\n");
}

}  // namespace
}  // namespace reconciler
