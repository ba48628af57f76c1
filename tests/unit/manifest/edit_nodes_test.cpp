#include "reconciler/manifest/edit_nodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/unified_diff.h"
#include "reconciler/manifest/load.h"
#include "reconciler/manifest/starter.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ClusterSpec Load(const std::string& text) {
  auto spec = LoadClusterSpec(text, "cluster.yaml");
  if (!spec) ADD_FAILURE() << FormatErrors(spec.error()) << text;
  return spec ? *spec : ClusterSpec{};
}

EditedManifest Add(const std::string& text, const NewNode& node) {
  auto edited = AddNode(text, Load(text), node);
  if (!edited) ADD_FAILURE() << FormatError(edited.error());
  return edited ? *edited : EditedManifest{};
}

std::string AddError(const std::string& text, const NewNode& node) {
  const auto edited = AddNode(text, Load(text), node);
  return edited ? "no error" : FormatError(edited.error());
}

std::string Switch(std::size_t nodes) {
  return FormatStarter({.topology = Topology::kSwitch, .nodes = nodes});
}

// "192.168.177.2" of spark-2 must stay what it is.
TEST(AddNode, IsOneLineMoreAndNoOther) {
  const std::string text = Switch(2);
  const EditedManifest edited = Add(text, {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -12,0 +13 @@\n+  - {name: spark-3, address: 192.168.1.23}\n");
  EXPECT_THAT(edited.remarks, IsEmpty());
}

TEST(AddNode, GrowsFromTwoToEightAsTheExamplesDo) {
  std::string text = Switch(2);
  for (int i = 3; i <= 8; ++i) {
    text = Add(text,
               {.name = fmt::format("spark-{}", i), .address = fmt::format("192.168.1.{}", 20 + i)})
               .text;
  }
  const std::string eight = Switch(8);
  EXPECT_EQ(text.substr(text.find('\n')), eight.substr(eight.find('\n')));
}

TEST(AddNode, ASwitchTakesThePlaceOfAPairsCableOnlyWhereThatWasSaid) {
  const std::string text = FormatStarter({});
  EXPECT_EQ(AddError(text, {.name = "spark-3", .address = "192.168.1.23"}),
            "cluster.yaml:15:13: a cable between two nodes has no place for one more node\n"
            "  hint: give --switch where a switch takes the place of the cable; for a ring of "
            "three write `fabric` as manifests/ring-3.yaml has it\n");
  const EditedManifest edited =
      Add(text, {.name = "spark-3", .address = "192.168.1.23", .to_switch = true});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -12,0 +13 @@\n+  - {name: spark-3, address: 192.168.1.23}\n"
            "@@ -15 +16 @@\n-  topology: direct        # two nodes, one cable\n"
            "+  topology: switch\n");
  EXPECT_THAT(edited.remarks,
              ElementsAre("the topology is `switch` now: one cable from every node to it"));
  EXPECT_EQ(Load(edited.text).nodes.size(), 3u);
}

TEST(AddNode, ARingIsEditedByHand) {
  EXPECT_EQ(
      AddError(FormatStarter({.topology = Topology::kRing, .nodes = 3}),
               {.name = "spark-4", .address = "192.168.1.24"}),
      "cluster.yaml:17:13: a ring has no place for one more node\n"
      "  hint: write `fabric` by hand: as manifests/switch-4.yaml has it, or with the subnets "
      "of the longer ring\n");
}

TEST(AddNode, GetsAFreeHostNumberWhereItsNameHasNone) {
  const EditedManifest edited = Add(Switch(2), {.name = "workstation", .address = "192.168.1.9"});
  EXPECT_THAT(edited.remarks, ElementsAre("workstation has host number 3 on the fabric"));
  EXPECT_EQ(Load(edited.text).nodes.back().id, 3);
  const EditedManifest taken = Add(Switch(2), {.name = "other-2", .address = "192.168.1.9"});
  EXPECT_EQ(Load(taken.text).nodes.back().id, 3);
}

TEST(AddNode, ANumberThatNoSubnetHasAPlaceForIsReplaced) {
  const EditedManifest edited = Add(Switch(2), {.name = "spark-2391", .address = "192.168.1.9"});
  EXPECT_EQ(Load(edited.text).nodes.back().id, 3);
}

TEST(AddNode, KeepsHowLinesEnd) {
  std::string windows;
  for (const char c : Switch(2)) windows += c == '\n' ? "\r\n" : std::string(1, c);
  const NewNode node{.name = "spark-3", .address = "192.168.1.23"};
  EXPECT_THAT(Add(windows, node).text, testing::HasSubstr("192.168.1.23}\r\n\r\nfabric:\r\n"));
  std::string cut = Switch(2);
  cut.pop_back();
  EXPECT_FALSE(Add(cut, node).text.ends_with('\n'));
}

TEST(AddNode, ANameThatIsTakenIsRefused) {
  EXPECT_EQ(AddError(Switch(2), {.name = "spark-2", .address = "192.168.1.9"}),
            "cluster.yaml:12:5: spark-2 is a node already\n"
            "  hint: give the new one a name of its own\n");
}

constexpr std::string_view kByHand = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
- name: spark-1            # the one in the study
  address: 192.168.1.21

- name: spark-2
  # it moves around
  address: 192.168.1.22
# What joins them.
fabric: {topology: switch, cage: p1, subnets: [192.168.177.0/24, 192.168.178.0/24]}
)";

TEST(AddNode, StandsBehindANodeOfSeveralLines) {
  const EditedManifest edited =
      Add(std::string(kByHand), {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_EQ(MakeUnifiedDiff(kByHand, edited.text, 0),
            "@@ -9,0 +10 @@\n+- {name: spark-3, address: 192.168.1.23}\n");
  EXPECT_EQ(Load(edited.text).nodes.size(), 3u);
}

TEST(AddNode, AListInBracketsIsLeftToAPerson) {
  EXPECT_EQ(AddError("api_version: spark-reconcile/v1\ncluster: lab\n"
                     "nodes: [{name: spark-1, address: a}, {name: spark-2, address: b}]\n"
                     "fabric: {topology: switch, subnets: [192.168.177.0/24, 192.168.178.0/24]}\n",
                     {.name = "spark-3", .address = "c"}),
            "cluster.yaml:3:38: wanted each node on lines of its own that begin with '- '\n"
            "  hint: add the node by hand\n");
}

TEST(RemoveNode, TakesItsOwnLinesAndNoComment) {
  std::string text(kByHand);
  text = Add(text, {.name = "spark-3", .address = "192.168.1.23"}).text;
  const auto edited = RemoveNode(text, Load(text), "spark-2");
  ASSERT_TRUE(edited) << FormatError(edited.error());
  EXPECT_EQ(MakeUnifiedDiff(text, edited->text, 0),
            "@@ -7,3 +6,0 @@\n-- name: spark-2\n-  # it moves around\n-  address: 192.168.1.22\n");
  EXPECT_EQ(Load(edited->text).nodes.size(), 2u);
}

TEST(RemoveNode, IsTheOppositeOfAddNode) {
  const std::string text = Switch(3);
  const EditedManifest more = Add(text, {.name = "spark-4", .address = "192.168.1.24"});
  const auto back = RemoveNode(more.text, Load(more.text), "spark-4");
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(back->text, text);
}

TEST(RemoveNode, ANameThatIsNoNodeIsRefused) {
  const std::string text = Switch(2);
  const auto edited = RemoveNode(text, Load(text), "spark-9");
  ASSERT_FALSE(edited);
  EXPECT_EQ(FormatError(edited.error()),
            "cluster.yaml:11:5: no node is named 'spark-9'\n  hint: known: spark-1, spark-2\n");
}

}  // namespace
}  // namespace reconciler
