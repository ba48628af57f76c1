#include "reconciler/apply/history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/planning/ledger.h"
#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

GenerationInfo ParseInfo(const std::string& text) {
  return {.plan = "p",
          .cluster = "lab",
          .manifest = "pair.yaml",
          .manifest_digest = "0123456789abcdef",
          .manifest_text = text,
          .time = "2026-01-31T12:00:00Z",
          .by = "ada"};
}

// Each node's generations: number and manifest.
Histories MakeHistories(const std::map<NodeName, std::map<int, std::string>>& nodes) {
  Histories histories;
  for (const auto& [node, generations] : nodes) {
    histories.nodes[node] = {};
    for (const auto& [number, text] : generations) {
      histories.nodes[node].push_back({number, FormatGeneration(ParseInfo(text))});
    }
  }
  return histories;
}

std::string WhyNot(const Histories& histories, int number) {
  const auto chosen = ChooseGeneration(histories, number);
  return chosen ? "" : FormatError(chosen.error());
}

TEST(ChooseGeneration, LeftOutItIsTheOneBeforeTheNewestOfAnyNode) {
  const auto chosen = ChooseGeneration(
      MakeHistories({{"spark-1", {{3, "c"}, {5, "e"}}}, {"spark-2", {{3, "c"}, {4, "d"}}}}), -1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->number, 4);
  EXPECT_EQ(chosen->info.manifest_text, "d");
}

TEST(ChooseGeneration, BeforeTheFirstThereIsNone) {
  EXPECT_EQ(WhyNot(MakeHistories({{"spark-1", {{3, "c"}}}}), -1),
            "no generation stands before the newest one\n"
            "  hint: known: 3; `rollback --to 0` prunes everything\n");
  EXPECT_EQ(
      WhyNot(MakeHistories({{"spark-1", {}}}), -1),
      "no generation stands before the newest one\n"
      "  hint: nothing was applied to these nodes yet; `rollback --to 0` prunes everything\n");
}

TEST(ChooseGeneration, NodesThatWereNotReadAreNotTakenForNew) {
  const Histories none{.errors = {{.message = "spark-1: connection refused"}}};
  EXPECT_EQ(WhyNot(none, -1), "no generation is known: no node could be read\n");
  EXPECT_EQ(ChooseForRollback(none, 1).error().kind, ErrorKind::kTransport);
  Histories one = MakeHistories({{"spark-1", {{1, "a"}}}});
  one.errors = none.errors;
  EXPECT_EQ(WhyNot(one, 7),
            "no node has generation 7\n  hint: known: 1, as far as nodes could be read\n");
}

TEST(ChooseGeneration, AnUnknownOneIsRefusedWithThoseThatAreKnown) {
  EXPECT_EQ(WhyNot(MakeHistories({{"spark-1", {{1, "a"}}}, {"spark-2", {{2, "b"}}}}), 7),
            "no node has generation 7\n  hint: known: 1, 2\n");
}

TEST(ChooseGeneration, NodesWithDifferentManifestsAreRefused) {
  EXPECT_EQ(WhyNot(MakeHistories({{"spark-1", {{1, "a"}}}, {"spark-2", {{1, "b"}}}}), 1),
            "the nodes' manifests of generation 1 are not the same: spark-1 has 0123456789ab, "
            "spark-2 has 0123456789ab\n"
            "  hint: choose another one, or apply the manifest that you want\n");
}

TEST(ChooseGeneration, ANodeWithoutItIsNoDisagreement) {
  EXPECT_TRUE(ChooseGeneration(MakeHistories({{"spark-1", {{1, "a"}}}, {"spark-2", {}}}), 1));
}

TEST(ChooseGeneration, OneWithoutAManifestCannotBeAppliedAgain) {
  EXPECT_EQ(WhyNot(MakeHistories({{"spark-1", {{1, ""}}}}), 1),
            "generation 1 holds no manifest\n  hint: known: 1\n");
}

TEST(ChooseGeneration, ADamagedDocumentNamesItsNode) {
  Histories histories;
  histories.nodes["spark-1"] = {{1, "{}"}};
  const auto chosen = ChooseGeneration(histories, 1);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().context.at(0), "spark-1");
}

RC_GTEST_PROP(ChooseGeneration, WhatIsChosenIsWhatEveryNodeThatHasItSays, ()) {
  std::map<NodeName, std::map<int, std::string>> nodes;
  for (const char* name : {"spark-1", "spark-2", "spark-3"}) {
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      nodes[name][*rc::gen::inRange(1, 4)] = *rc::gen::element<std::string>("a", "b");
    }
  }
  const int number = *rc::gen::inRange(1, 4);
  const auto chosen = ChooseGeneration(MakeHistories(nodes), number);
  std::set<std::string> texts;
  for (const auto& [name, generations] : nodes) {
    if (const auto found = generations.find(number); found != generations.end()) {
      texts.insert(found->second);
    }
  }
  RC_ASSERT(chosen.has_value() == (texts.size() == 1u));
  if (chosen) RC_ASSERT(texts.contains(chosen->info.manifest_text));
}

std::string WhyNoRollback(const Histories& histories, int number) {
  const auto chosen = ChooseForRollback(histories, number);
  return chosen ? "" : FormatError(chosen.error());
}

TEST(ChooseForRollback, LeftOutItIsTheOneBeforeTheNewestOfAllNodes) {
  const auto chosen = ChooseForRollback(MakeHistories({{"spark-1", {{3, "c"}, {4, "d"}, {5, "e"}}},
                                                       {"spark-2", {{3, "c"}, {5, "e"}}}}),
                                        -1);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->number, 3);
}

// One node cannot bring in a manifest that the others never had.
TEST(ChooseForRollback, AGenerationThatANodeLacksIsRefused) {
  const Histories histories = MakeHistories(
      {{"spark-1", {{1, "a"}, {2, "b"}}}, {"spark-2", {{1, "a"}, {2, "b"}, {98, "x"}, {99, "y"}}}});
  EXPECT_EQ(WhyNoRollback(histories, -1),
            "the nodes do not agree which generation is the newest: of generation 99, spark-2 has "
            "it, spark-1 does not\n"
            "  hint: name one that all have: --to 2\n");
  EXPECT_EQ(WhyNoRollback(histories, 98),
            "not every node has generation 98: spark-2 has it, spark-1 does not\n"
            "  hint: `history --show 98` prints its manifest: review it, and apply it as a file\n");
  EXPECT_EQ(WhyNoRollback(histories, 2), "");
  EXPECT_EQ(WhyNoRollback(histories, 7), "no node has generation 7\n  hint: known: 1, 2, 98, 99\n");
  EXPECT_EQ(WhyNoRollback(MakeHistories({{"spark-1", {}}, {"spark-2", {{1, "x"}}}}), -1),
            "the nodes do not agree which generation is the newest: of generation 1, spark-2 has "
            "it, spark-1 does not\n  hint: apply the manifest that you want\n");
  EXPECT_EQ(WhyNoRollback(
                MakeHistories({{"spark-1", {{1, "x"}, {2, "b"}}}, {"spark-2", {{2, "b"}}}}), -1),
            "not every node has generation 1: spark-1 has it, spark-2 does not\n"
            "  hint: `history --show 1` prints its manifest: review it, and apply it as a file\n");
}

RC_GTEST_PROP(ChooseForRollback, WhatIsChosenEveryNodeHasWithTheSameManifest, ()) {
  std::map<NodeName, std::map<int, std::string>> nodes;
  for (const char* name : {"spark-1", "spark-2", "spark-3"}) {
    nodes[name];
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      nodes[name][*rc::gen::inRange(1, 4)] = *rc::gen::element<std::string>("a", "b");
    }
  }
  const auto chosen = ChooseForRollback(MakeHistories(nodes), *rc::gen::inRange(-1, 4));
  if (!chosen) return;
  for (const auto& [name, generations] : nodes) {
    const auto found = generations.find(chosen->number);
    RC_ASSERT(found != generations.end());
    RC_ASSERT(found->second == chosen->info.manifest_text);
  }
}

TEST(DescribeRollback, ItSaysWhatItGoesToAndWhenThatLastDiffered) {
  const auto describe = [](const Histories& histories, int number) {
    return DescribeRollback(histories, *ChooseForRollback(histories, number));
  };
  const Histories histories =
      MakeHistories({{"spark-1", {{1, "a"}, {2, "b"}, {3, "c"}, {4, "c"}}}});
  const std::string rest = " of pair.yaml (0123456789ab), applied 2026-01-31T12:00:00Z by ada\n";
  EXPECT_EQ(describe(histories, 1), "generation 1" + rest);
  EXPECT_EQ(describe(histories, -1),
            "generation 3" + rest +
                "its manifest is that of generation 4 too; the last one with another is generation "
                "2, applied 2026-01-31T12:00:00Z\n");
  EXPECT_EQ(describe(MakeHistories({{"spark-1", {{1, "a"}, {2, "a"}}}}), -1),
            "generation 1" + rest +
                "its manifest is that of generation 2 too, and no generation has another\n");
}

// What nodes remember decides neither where the controller logs in nor as whom.
TEST(UseAccessOf, AddressesAndAccessComeFromThePresentManifest) {
  const ClusterSpec present{
      .file = "pair.yaml",
      .nodes = {{.name = "spark-1", .address = "192.168.1.21", .access = {.user = "ada"}}}};
  ClusterSpec earlier{.file = "generation 2 of pair.yaml",
                      .nodes = {{.name = "spark-1",
                                 .address = "localhost",
                                 .access = {.transport = TransportKind::kLocal}}}};
  ASSERT_TRUE(UseAccessOf(present, earlier));
  EXPECT_EQ(earlier.nodes[0].address, "192.168.1.21");
  EXPECT_EQ(earlier.nodes[0].access, present.nodes[0].access);
  earlier.nodes.push_back({.name = "spark-9", .access = {.transport = TransportKind::kLocal}});
  EXPECT_EQ(FormatError(UseAccessOf(present, earlier).error()),
            "generation 2 of pair.yaml has spark-9, which pair.yaml does not have\n"
            "  hint: addresses and access are taken from there: add what is missing, then roll "
            "back; after a rename, write `moved: {nodes: {OLD: NEW}}` instead\n");
}

// A manifest whose cluster was "attic" and whose spark-2 was "gx10".
ClusterSpec MakeRenamed() {
  ClusterSpec present{.file = "pair.yaml", .name = "lab", .former_name = "attic"};
  present.nodes = {{.name = "spark-1", .address = "192.168.1.21"},
                   {.name = "spark-2", .address = "192.168.1.22"}};
  const Value nodes{
      .data = std::vector<Member>{{.key = "gx10", .value = {.data = std::string("spark-2")}}}};
  const Value moved{.data = std::vector<Member>{{.key = "nodes", .value = nodes}}};
  present.settings.data = std::vector<Member>{{.key = "moved", .value = moved}};
  return present;
}

TEST(UseAccessOf, ANodeThatWasRenamedSinceIsReachedAsItIsNow) {
  ClusterSpec earlier{.name = "attic",
                      .nodes = {{.name = "spark-1"}, {.name = "gx10", .address = "localhost"}}};
  ASSERT_TRUE(UseAccessOf(MakeRenamed(), earlier));
  EXPECT_EQ(earlier.nodes[1].name, "gx10");
  EXPECT_EQ(earlier.nodes[1].address, "192.168.1.22");
}

// Else the hint of the refusal that follows would be about the earlier manifest, which is no file.
TEST(UseAccessOf, AManifestOfAnotherClusterNeedsItsRename) {
  ClusterSpec present{.file = "pair.yaml", .name = "lab"};
  ClusterSpec earlier{.file = "generation 2 of pair.yaml", .name = "attic"};
  const auto used = UseAccessOf(present, earlier);
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(FormatError(used.error()),
            "generation 2 of pair.yaml is of cluster 'attic', and pair.yaml of 'lab'\n"
            "  hint: after a rename, write `moved: {cluster: attic}` in pair.yaml\n");
  present.former_name = "attic";
  EXPECT_TRUE(UseAccessOf(present, earlier));
  present.former_name.clear();
  earlier.former_name = "lab";  // it owns what has the name of now already
  EXPECT_TRUE(UseAccessOf(present, earlier));
}

TEST(ReverseMoves, AnEarlierManifestOwnsWhatWasAppliedUnderTheNamesOfNow) {
  const ClusterSpec present = MakeRenamed();
  ClusterSpec earlier{.name = "attic", .nodes = {{.name = "spark-1"}, {.name = "gx10"}}};
  ReverseMoves(present, earlier);
  EXPECT_TRUE(earlier.Owns("lab"));
  ClusterFacts facts;
  facts.nodes["gx10"].ledger =
      Ledger{.cluster = "lab", .nodes = {{.name = "spark-1"}, {.name = "spark-2"}}};
  EXPECT_TRUE(FindRemovedNodes(earlier, facts).empty());
}

TEST(ReverseMoves, WhatHasTheNamesOfNowStaysAsItIs) {
  const ClusterSpec present = MakeRenamed();
  for (const char* name : {"lab", "other"}) {
    ClusterSpec earlier{.name = name, .nodes = {{.name = "spark-1"}, {.name = "spark-2"}}};
    ReverseMoves(present, earlier);
    EXPECT_EQ(earlier.former_name, "");
    EXPECT_TRUE(earlier.settings.IsNull());
  }
}

RC_GTEST_PROP(Generation, TheDocumentSaysWhatWasWritten, ()) {
  const GenerationInfo info{.plan = "p",
                            .cluster = *rc::gen::arbitrary<std::string>(),
                            .manifest = *rc::gen::arbitrary<std::string>(),
                            .manifest_digest = "d",
                            .manifest_text = *rc::gen::arbitrary<std::string>(),
                            .time = "2026-01-31T12:00:00Z",
                            .by = *rc::gen::arbitrary<std::string>(),
                            .commit = *rc::gen::element<std::string>("", "0a49"),
                            .verification = *rc::gen::element<std::string>("", "passed"),
                            .changes = *rc::gen::inRange<std::size_t>(0, 100),
                            .rolled_back_to = *rc::gen::inRange(-1, 9)};
  EXPECT_TRUE(FormatGeneration(info).starts_with("{\"manifest_digest\": \"d\",\n"));
  const auto read = ParseGeneration(FormatGeneration(info));
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->cluster == info.cluster);
  RC_ASSERT(read->manifest == info.manifest);
  RC_ASSERT(read->manifest_text == info.manifest_text);
  RC_ASSERT(read->by == info.by);
  RC_ASSERT(read->commit == info.commit);
  RC_ASSERT(read->verification == info.verification);
  RC_ASSERT(read->changes == info.changes);
  RC_ASSERT(read->rolled_back_to == info.rolled_back_to);
}

TEST(Generation, ADocumentOfAnotherFormatIsRefused) {
  EXPECT_EQ(ParseGeneration(R"({"format": "x"})").error().message,
            "/format: wanted \"spark-reconcile/generation/1\", found \"x\"");
}

TEST(Generation, ANumberThatIsNoCountIsRefused) {
  nlohmann::json document = nlohmann::json::parse(FormatGeneration({.rolled_back_to = 1}));
  document["changes"] = -1;
  EXPECT_EQ(ParseGeneration(document.dump()).error().message, "/changes: wanted a count, found -1");
  document["changes"] = 0;
  for (const std::int64_t number : {std::int64_t{-2}, std::int64_t{1} << 32}) {
    document["rolled_back_to"] = number;
    EXPECT_EQ(ParseGeneration(document.dump()).error().message,
              "/rolled_back_to: wanted a count, found " + std::to_string(number));
  }
}

TEST(ReadHistories, ANodeThatCannotBeReadHidesNoOneElse) {
  const std::vector<NodeSpec> nodes = {{.name = "spark-1"}, {.name = "spark-2"}};
  FakeNetwork network({{"spark-1", {.shell = [](const std::string&) { return ScriptReply{}; }}},
                       {"spark-2", {.refuse_dial = "connection refused"}}});
  NodePool pool(network.Dialer());
  const Histories histories = ReadHistories({&nodes[0], &nodes[1]}, pool);
  ASSERT_EQ(histories.nodes.size(), 1u);
  EXPECT_TRUE(histories.nodes.at("spark-1").empty());
  EXPECT_EQ(histories.errors.size(), 1u);
}

}  // namespace
}  // namespace reconciler
