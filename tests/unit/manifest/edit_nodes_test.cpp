#include "reconciler/manifest/edit_nodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Starter, ANodeWithAnotherUserHasItsOwnAccess) {
  const std::string text =
      FormatStarter({.topology = Topology::kSwitch, .nodes = 3, .users = {"", "ada"}});
  EXPECT_THAT(text, testing::HasSubstr("spark-2, address: 192.168.1.22, access: {user: ada}}\n"));
  EXPECT_EQ(Load(text).nodes[0].access.user, "nvidia");
  EXPECT_EQ(Load(text).nodes[1].access.user, "ada");
}

// "192.168.177.2" of spark-2 must stay what it is.
TEST(AddNode, IsOneLineMoreAndTheHeadOfTheStarter) {
  const std::string text = Switch(2);
  const EditedManifest edited = Add(text, {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -1 +1 @@\n-# 2 DGX Sparks on a switch.\n+# 3 DGX Sparks on a switch.\n"
            "@@ -12,0 +13 @@\n+  - {name: spark-3, address: 192.168.1.23}\n");
  EXPECT_THAT(edited.remarks, IsEmpty());
}

TEST(AddNode, AFirstCommentOfOnesOwnStays) {
  const std::string own = "# 2 DGX Sparks on a switch, in the study.\n";
  const std::string text = own + Switch(2).substr(Switch(2).find('\n') + 1);
  const EditedManifest edited = Add(text, {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_TRUE(edited.text.starts_with(own));
}

TEST(AddNode, TheFirstCommentOfAnExampleIsReplacedBelowThePathOfItsSchema) {
  const std::string schema = "# yaml-language-server: $schema=../schema/cluster.schema.json\n";
  const std::string text =
      schema +
      "# Four DGX Sparks on a switch. Same addresses as pair.yaml: growing renumbers nothing.\n" +
      Switch(4).substr(Switch(4).find('\n') + 1);
  const EditedManifest edited = Add(text, {.name = "spark-5", .address = "192.168.1.25"});
  EXPECT_TRUE(edited.text.starts_with(schema + "# 5 DGX Sparks on a switch.\n"));
}

TEST(AddNode, GrowsFromTwoToEightAsTheExamplesDo) {
  std::string text = Switch(2);
  for (int i = 3; i <= 8; ++i) {
    text = Add(text,
               {.name = fmt::format("spark-{}", i), .address = fmt::format("192.168.1.{}", 20 + i)})
               .text;
  }
  EXPECT_EQ(text, Switch(8));
}

TEST(AddNode, AThirdNodeMakesARingOfAPairAndTheFirstTwoKeepTheirAddresses) {
  const std::string text = FormatStarter({});
  const EditedManifest edited = Add(text, {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_EQ(
      MakeUnifiedDiff(text, edited.text, 0),
      "@@ -1 +1 @@\n-# Two DGX Sparks with one cable.\n"
      "+# Three DGX Sparks in a ring, without a switch.\n"
      "@@ -12,0 +13 @@\n+  - {name: spark-3, address: 192.168.1.23}\n"
      "@@ -15,2 +16 @@\n-  topology: direct        # two nodes, one cable\n"
      "-  cage: p1                # the QSFP cage with the cable, seen from the back: p0 left, "
      "p1 right\n+  topology: ring\n"
      "@@ -19 +19,7 @@\n-  subnets: [192.168.177.0/24, 192.168.178.0/24]\n"
      "+  subnets:\n"
      "+    - 192.168.177.0/24    # spark-1 to spark-2\n"
      "+    - 192.168.178.0/24\n"
      "+    - 192.168.179.0/24    # spark-2 to spark-3\n"
      "+    - 192.168.180.0/24\n"
      "+    - 192.168.181.0/24    # spark-3 to spark-1\n"
      "+    - 192.168.182.0/24\n");
  EXPECT_THAT(edited.remarks,
              ElementsAre("the topology is `ring` now, which needs no switch; with --switch it "
                          "would be `switch`",
                          "new subnets: 192.168.179.0/24, 192.168.180.0/24, 192.168.181.0/24, "
                          "192.168.182.0/24; nothing else may use them"));
  EXPECT_THAT(edited.cables,
              ElementsAre("spark-1 p0 to spark-2 p1: is there; spark-1's plug moves from p1 to p0 "
                          "with its addresses",
                          "spark-2 p0 to spark-3 p1: new", "spark-3 p0 to spark-1 p1: new"));
  EXPECT_EQ(Load(edited.text).fabric.subnets.size(), 6u);
}

// As `discover` writes it; the cable is in spark-2's left cage and in spark-1's right one, and both
// names have their cage on a line of its own or in braces.
constexpr std::string_view kFound = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {cage: p0, name: spark-2, address: 10.0.2.1}
  - name: spark-1
    cage: p1
    address: 10.0.0.21
fabric:
  topology: direct               # as found
  mtu: 9000
  subnets:
    - 10.0.1.0/24    # mine
    - 10.255.255.0/24
)";

TEST(AddNode, ANodeBetweenTheTwoGetsItsSubnetsAtItsPlaceAndNoneThatIsUsed) {
  const std::string text(kFound);
  const EditedManifest edited = Add(text, {.name = "spark-0", .address = "10.0.4.1"});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -4 +4 @@\n-  - {cage: p0, name: spark-2, address: 10.0.2.1}\n"
            "+  - {name: spark-2, address: 10.0.2.1}\n"
            "@@ -6 +5,0 @@\n-    cage: p1\n"
            "@@ -7,0 +7 @@\n+  - {name: spark-0, address: 10.0.4.1, id: 3}\n"
            "@@ -9 +9 @@\n-  topology: direct               # as found\n+  topology: ring\n"
            "@@ -13,0 +14,4 @@\n"
            "+    - 10.0.3.0/24         # spark-2 to spark-0\n+    - 10.0.5.0/24\n"
            "+    - 10.0.6.0/24         # spark-0 to spark-1\n+    - 10.0.7.0/24\n");
}

TEST(AddNode, TheSubnetsOfACableComeBeforeThoseOfThePairWhereTheNewNodeIsTheFirst) {
  std::string text(kFound);
  for (const auto& [old, now] :
       {std::pair("spark-2", "spark-9"), std::pair("spark-1", "spark-5")}) {
    text.replace(text.find(old), 7, now);
  }
  const EditedManifest edited = Add(text, {.name = "spark-2", .address = "10.0.4.1"});
  EXPECT_THAT(edited.cables,
              ElementsAre("spark-2 p0 to spark-5 p1: new",
                          "spark-5 p0 to spark-9 p1: is there; spark-5's plug moves from p1 to p0 "
                          "with its addresses; spark-9's plug moves from p0 to p1 with its "
                          "addresses",
                          "spark-9 p0 to spark-2 p1: new"));
  const ClusterSpec spec = Load(edited.text);
  EXPECT_EQ(ToString(spec.fabric.subnets.at(2)), "10.0.1.0/24");
  EXPECT_EQ(ToString(spec.fabric.subnets.at(3)), "10.255.255.0/24");
}

TEST(AddNode, ASwitchTakesThePlaceOfAPairsCableWhereThatWasSaid) {
  const std::string text = FormatStarter({});
  const EditedManifest edited =
      Add(text, {.name = "spark-3", .address = "192.168.1.23", .to_switch = true});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -1 +1 @@\n-# Two DGX Sparks with one cable.\n+# 3 DGX Sparks on a switch.\n"
            "@@ -12,0 +13 @@\n+  - {name: spark-3, address: 192.168.1.23}\n"
            "@@ -15 +16 @@\n-  topology: direct        # two nodes, one cable\n"
            "+  topology: switch\n");
  EXPECT_THAT(edited.remarks, ElementsAre("the topology is `switch` now: one cable from every node "
                                          "to it, in place of those between nodes"));
  EXPECT_THAT(edited.cables, ElementsAre("spark-1 p1 to the switch", "spark-2 p1 to the switch",
                                         "spark-3 p1 to the switch"));
  EXPECT_EQ(Load(edited.text).nodes.size(), 3u);
}

TEST(AddNode, ARingGivesWayToASwitchWithItsFirstTwoSubnetsWhereThatWasSaid) {
  const std::string text = FormatStarter({.topology = Topology::kRing, .nodes = 3});
  const NewNode node{.name = "spark-4", .address = "192.168.1.24"};
  EXPECT_EQ(AddError(text, node),
            "cluster.yaml:17:13: a ring has no place for one more node\n"
            "  hint: cable all nodes to a switch, and give --switch\n");
  const EditedManifest edited =
      Add(text, {.name = node.name, .address = node.address, .to_switch = true});
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -1 +1 @@\n-# Three DGX Sparks in a ring, without a switch.\n"
            "+# 4 DGX Sparks on a switch.\n"
            "@@ -13,0 +14 @@\n+  - {name: spark-4, address: 192.168.1.24}\n"
            "@@ -17 +18 @@\n-  topology: ring\n+  topology: switch\n"
            "@@ -21 +22 @@\n-    - 192.168.177.0/24    # spark-1 to spark-2\n"
            "+    - 192.168.177.0/24\n"
            "@@ -23,4 +23,0 @@\n-    - 192.168.179.0/24    # spark-2 to spark-3\n"
            "-    - 192.168.180.0/24\n-    - 192.168.181.0/24    # spark-3 to spark-1\n"
            "-    - 192.168.182.0/24\n");
  EXPECT_THAT(edited.remarks,
              ElementsAre("the topology is `switch` now: one cable from every node to it, in place "
                          "of those between nodes",
                          "all nodes are in 192.168.177.0/24, 192.168.178.0/24 now; the other "
                          "subnets are free, and the addresses in them go"));
  EXPECT_EQ(edited.cables.back(), "spark-4 p1 to the switch");
  EXPECT_EQ(edited.cables.size(), 4u);
}

TEST(AddNode, APairThatCannotBeARingOrHasNoLinesOfItsOwnIsLeftToAPerson) {
  std::string text = FormatStarter({});
  const NewNode node{.name = "spark-3", .address = "192.168.1.23"};
  std::string workstation = text;
  workstation.replace(workstation.find("192.168.1.22"), 12,
                      "192.168.1.22, hardware: connectx5-workstation");
  workstation.replace(workstation.find(", 192.168.178.0/24"), 18, "");
  EXPECT_EQ(AddError(workstation, node),
            "cluster.yaml:15:13: a ring of three needs both twins of two cages in every node\n"
            "  hint: give --switch where there is a switch, or edit `fabric` by hand\n");
  text.replace(text.find("[192.168.177.0/24,"), 18, "[192.168.177.0/24,\n   ");
  EXPECT_EQ(AddError(text, node),
            "cluster.yaml:15:13: `fabric` has a form in which a ring cannot be written\n"
            "  hint: wanted each key of it on a line of its own, and `subnets` on one line or one "
            "below the other; else edit it by hand\n");
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
  const std::string last =
      "api_version: spark-reconcile/v1\r\ncluster: lab\r\n"
      "fabric: {topology: switch, subnets: [192.168.177.0/24, 192.168.178.0/24]}\r\n"
      "nodes:\r\n  - {name: spark-1, address: a}\r\n  - {name: spark-2, address: b}";
  EXPECT_EQ(Add(last, node).text, last + "\r\n  - {name: spark-3, address: 192.168.1.23}");
}

TEST(AddNode, WhatTheSchemaRefusesIsNotWritten) {
  EXPECT_EQ(AddError(Switch(2), {.name = "spark-3, id: 77", .address = "192.168.1.23"}),
            "the new node's name: wanted a name of lower-case letters, digits and inner dashes, "
            "found 'spark-3, id: 77'\n");
  EXPECT_EQ(AddError(Switch(2), {.name = "Spark_3", .address = "192.168.1.23"}),
            "the new node's name: wanted a name of lower-case letters, digits and inner dashes, "
            "found 'Spark_3'\n  hint: write spark-3\n");
  EXPECT_EQ(AddError(Switch(2), {.name = "spark-3", .address = "a, id: 77"}),
            "the new node's address: wanted an address or an ssh host alias, without user or path, "
            "found 'a, id: 77'\n");
}

TEST(AddNode, TextThatYamlWouldReadAsSomethingElseIsInQuotes) {
  const auto write = [](const std::string& name, const std::string& address) {
    const std::string text = Switch(2);
    const EditedManifest edited = Add(text, {.name = name, .address = address});
    return MakeUnifiedDiff(text, edited.text, 0);
  };
  EXPECT_THAT(write("spark-3", "fd00::"),
              testing::HasSubstr("+  - {name: spark-3, address: \"fd00::\"}\n"));
  EXPECT_THAT(write("spark-3", "1234"),
              testing::HasSubstr("+  - {name: spark-3, address: \"1234\"}\n"));
  EXPECT_THAT(write("null", "true"),
              testing::HasSubstr("+  - {name: \"null\", address: \"true\", id: 3}\n"));
  EXPECT_THAT(write("spark-3", "spark-c.lan"),
              testing::HasSubstr("+  - {name: spark-3, address: spark-c.lan}\n"));
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

EditedManifest Remove(const std::string& text, const NodeName& name) {
  auto edited = RemoveNode(text, Load(text), name);
  if (!edited) ADD_FAILURE() << FormatError(edited.error());
  return edited ? *edited : EditedManifest{};
}

TEST(RemoveNode, ARingOfThreeIsAPairOnTheCableThatIsLeft) {
  const std::string text = FormatStarter({.topology = Topology::kRing, .nodes = 3});
  const EditedManifest edited = Remove(text, "spark-2");
  EXPECT_EQ(MakeUnifiedDiff(text, edited.text, 0),
            "@@ -1 +1 @@\n-# Three DGX Sparks in a ring, without a switch.\n"
            "+# Two DGX Sparks with one cable.\n"
            "@@ -12,2 +12 @@\n-  - {name: spark-2, address: 192.168.1.22}\n"
            "-  - {name: spark-3, address: 192.168.1.23}\n"
            "+  - {name: spark-3, address: 192.168.1.23, cage: p0}\n"
            "@@ -17 +16 @@\n-  topology: ring\n+  topology: direct\n"
            "@@ -21,4 +19,0 @@\n-    - 192.168.177.0/24    # spark-1 to spark-2\n"
            "-    - 192.168.178.0/24\n-    - 192.168.179.0/24    # spark-2 to spark-3\n"
            "-    - 192.168.180.0/24\n");
  EXPECT_THAT(edited.remarks,
              ElementsAre("the topology is `direct` now, on the cable that is left",
                          "free subnets: 192.168.177.0/24, 192.168.178.0/24, 192.168.179.0/24, "
                          "192.168.180.0/24"));
  EXPECT_THAT(edited.cables,
              ElementsAre("spark-1 p0 to spark-2 p1: unused", "spark-2 p0 to spark-3 p1: unused",
                          "spark-3 p0 to spark-1 p1: stays, with its addresses"));
  EXPECT_EQ(Load(edited.text).FindNode("spark-3")->cage, "p0");
}

TEST(RemoveNode, AThirdNodeThatCameAndLeftLeavesTheCableOfThePairWhereItMovedTo) {
  const std::string ring =
      Add(FormatStarter({}), {.name = "spark-3", .address = "192.168.1.23"}).text;
  const std::string pair = Remove(ring, "spark-3").text;
  EXPECT_THAT(pair, testing::HasSubstr("spark-1, address: 192.168.1.21, cage: p0}\n"));
  const EditedManifest again = Add(pair, {.name = "spark-3", .address = "192.168.1.23"});
  EXPECT_EQ(again.text, ring);
  EXPECT_EQ(again.cables.front(), "spark-1 p0 to spark-2 p1: is there");
}

TEST(RemoveNode, ANameThatIsNoNodeIsRefused) {
  const std::string text = Switch(2);
  const auto edited = RemoveNode(text, Load(text), "spark-9");
  ASSERT_FALSE(edited);
  EXPECT_EQ(FormatError(edited.error()),
            "cluster.yaml:11:5: no node is named 'spark-9'\n  hint: known: spark-1, spark-2\n");
}

// Three nodes, and sections that name them.
std::string WithSections(const std::string& sections) { return Switch(3) + sections; }

std::string RemoveThird(const std::string& sections) {
  const std::string text = WithSections(sections);
  const std::string edited = Remove(text, "spark-3").text;
  Load(edited);
  const std::string rest = Switch(2);
  EXPECT_TRUE(edited.starts_with(rest)) << edited;
  return edited.substr(std::min(rest.size(), edited.size()));
}

// As `discover` writes them.
TEST(RemoveNode, GoesFromEachEntryOfAdoptToo) {
  const std::string x = "file: /etc/netplan/40-cx7.yaml, nodes: ";
  EXPECT_EQ(
      RemoveThird("adopt:                           # of others\n"
                  "  - {" +
                  x +
                  "{spark-1: aaaaaaaaaaaa, spark-3: cccccccccccc}}  # by Sync\n"
                  "  - {nm_profile: cx7-a, nodes: {spark-3: \"123456789012\", spark-1: "
                  "aaaaaaaaaaaa}}\n"
                  "  # mine\n"
                  "  - {unit: fabric.service, nodes: {spark-3: cccccccccccc}}\n"
                  "  - {lines: /etc/sysctl.conf, match: [vm.x], nodes: {spark-2: bbbbbbbbbbbb}}\n"
                  "  - {master: bond0, nodes: [spark-1, spark-3]}\n"
                  "  - {master: bond1, nodes: [spark-3]}\n"),
      "adopt:                           # of others\n"
      "  - {" +
          x +
          "{spark-1: aaaaaaaaaaaa}}  # by Sync\n"
          "  - {nm_profile: cx7-a, nodes: {spark-1: aaaaaaaaaaaa}}\n"
          "  # mine\n"
          "  - {lines: /etc/sysctl.conf, match: [vm.x], nodes: {spark-2: bbbbbbbbbbbb}}\n"
          "  - {master: bond0, nodes: [spark-1]}\n");
}

TEST(RemoveNode, GoesFromEntriesOfSeveralLinesAndTheirCommentsStay) {
  EXPECT_EQ(RemoveThird("adopt:\n"
                        "- file: /etc/netplan/40-cx7.yaml\n"
                        "  nodes:\n"
                        "    # by hand\n"
                        "    spark-1: aaaaaaaaaaaa\n"
                        "    \"spark-3\": 'cccccccccccc'  # the new one\n"
                        "- networkd_unit: /etc/systemd/network/05-x.network\n"
                        "  nodes:\n"
                        "    spark-3: cccccccccccc\n"
                        "- {nm_profile: a,\n"
                        "   nodes: {spark-1: aaaaaaaaaaaa,  # first\n"
                        "           spark-3: cccccccccccc}}\n"
                        "- master: bond0\n"
                        "  nodes:\n"
                        "  - spark-3\n"
                        "  - spark-2\n"),
            "adopt:\n"
            "- file: /etc/netplan/40-cx7.yaml\n"
            "  nodes:\n"
            "    # by hand\n"
            "    spark-1: aaaaaaaaaaaa\n"
            "- {nm_profile: a,\n"
            "   nodes: {spark-1: aaaaaaaaaaaa,  # first\n"
            "           }}\n"
            "- master: bond0\n"
            "  nodes:\n"
            "  - spark-2\n");
}

TEST(RemoveNode, GoesFromAListInBrackets) {
  EXPECT_EQ(RemoveThird("packages: [nvme-cli, {name: jq, nodes: [spark-3]}, {name: htop, nodes: "
                        "[spark-3, spark-1, spark-2]}]\n"
                        "adopt: [\n"
                        "  {master: bond0, nodes: [spark-3]},  # gone\n"
                        "  {master: bond1, nodes: [spark-1]},\n"
                        "]\n"),
            "packages: [nvme-cli, {name: htop, nodes: [spark-1, spark-2]}]\n"
            "adopt: [\n"
            "  {master: bond1, nodes: [spark-1]},\n"
            "]\n");
}

TEST(RemoveNode, ASectionThatNamedNoOtherNodeGoesWithItsLastEntry) {
  EXPECT_EQ(RemoveThird("adopt:  # of others\n"
                        "  - {master: bond0, nodes: [spark-3]}\n"
                        "  - master: bond1\n"
                        "    nodes: [spark-3]\n"
                        "packages: [{name: jq,\n"
                        "            nodes: [spark-3]}]\n"
                        "max_prune: 3\n"),
            "max_prune: 3\n");
}

// Else the manifest would be refused: its new name is no node's.
TEST(RemoveNode, ItsOldNameGoesFromMovedAndThatIsSaid) {
  EXPECT_EQ(RemoveThird("moved: {nodes: {gx10: spark-3}}  # for one apply\nmax_prune: 3\n"),
            "max_prune: 3\n");
  EXPECT_EQ(RemoveThird("moved:\n  nodes:\n    # in spring\n    gx10: spark-3\nmax_prune: 3\n"),
            "    # in spring\nmax_prune: 3\n");
  EXPECT_EQ(RemoveThird("moved: {cluster: home, nodes: {gx10: spark-3}}\n"),
            "moved: {cluster: home}\n");
  EXPECT_EQ(RemoveThird("moved: {nodes: {gx10: spark-3}, cluster: home}\n"),
            "moved: {cluster: home}\n");
  EXPECT_EQ(RemoveThird("moved:\n  cluster: home\n  nodes:  # new\n    gx10: spark-3\n"),
            "moved:\n  cluster: home\n");
  EXPECT_EQ(RemoveThird("moved:\n  nodes: {gx10: spark-3}\n  cluster: home\n"),
            "moved:\n  cluster: home\n");
  EXPECT_EQ(RemoveThird("moved: {nodes: {a: spark-1, \"b\": 'spark-3', c: spark-2}}\n"),
            "moved: {nodes: {a: spark-1, c: spark-2}}\n");
  EXPECT_EQ(RemoveThird("moved:\n  nodes:\n    b: spark-3  # new\n    a: spark-1\n"),
            "moved:\n  nodes:\n    a: spark-1\n");
  const EditedManifest edited =
      Remove(WithSections("moved: {nodes: {gx10: spark-3}}\n"), "spark-3");
  EXPECT_THAT(edited.remarks,
              ElementsAre("`moved` no longer says that gx10 was renamed to spark-3"));
  const EditedManifest other = Remove(WithSections("moved: {nodes: {gx10: spark-1}}\n"), "spark-3");
  EXPECT_THAT(other.remarks, IsEmpty());
  EXPECT_THAT(other.text, testing::EndsWith("moved: {nodes: {gx10: spark-1}}\n"));
}

TEST(RemoveNode, AnOldNameInAFormThatCannotBeEditedIsLeftToAPerson) {
  const std::string text = WithSections("moved: {nodes: {\n  gx10: spark-3}}\n");
  const auto edited = RemoveNode(text, Load(text), "spark-3");
  ASSERT_FALSE(edited);
  const std::string before = Switch(3);
  EXPECT_EQ(FormatError(edited.error()),
            fmt::format("cluster.yaml:{}:9: `moved` names spark-3 in a form that cannot be edited\n"
                        "  hint: take it out there by hand, then remove the node\n",
                        std::count(before.begin(), before.end(), '\n') + 2));
}

TEST(RemoveNode, AnEntryInAFormThatCannotBeEditedIsLeftToAPerson) {
  const std::string text = WithSections(
      "adopt:\n  - file: /etc/netplan/x.yaml\n    nodes:\n"
      "      spark-1: aaaaaaaaaaaa\n"
      "      spark-3:\n        cccccccccccc\n");
  const auto edited = RemoveNode(text, Load(text), "spark-3");
  ASSERT_FALSE(edited);
  const std::string before = Switch(3);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  EXPECT_EQ(FormatError(edited.error()),
            fmt::format("cluster.yaml:{}:7: `adopt` names spark-3 in a form that cannot be edited\n"
                        "  hint: take it out there by hand, then remove the node\n",
                        lines + 5));
}

TEST(AddNode, APairWithLinkLocalAddressesGetsSubnetsFirst) {
  std::string text = FormatStarter({});
  const std::string subnets = "subnets: [192.168.177.0/24, 192.168.178.0/24]";
  const std::size_t at = text.find(subnets);
  ASSERT_NE(at, text.npos) << text;
  text.replace(at, subnets.size(), "link_local: true\n  subnets: [192.168.177.0/24]");
  for (const bool to_switch : {false, true}) {
    EXPECT_EQ(
        AddError(text, {.name = "spark-3", .address = "192.168.1.23", .to_switch = to_switch}),
        "cluster.yaml:19:15: link-local addresses are for two nodes on one cable\n"
        "  hint: give each rail a subnet, and leave link_local out\n");
  }
}

}  // namespace
}  // namespace reconciler
