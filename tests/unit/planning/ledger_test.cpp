#include "reconciler/planning/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconciler/base/digest.h"
#include "reconciler/base/mark.h"
#include "reconciler/planning/prune.h"

namespace reconciler {
namespace {

const LedgerHead kHead = {.cluster = "lab", .generation = 2, .manifest_digest = "d"};

std::optional<FileState> FileOrNone(const std::string& content) {
  return content.empty() ? std::nullopt : std::optional(FileState{content});
}

// spark-1's /etc/a goes from one text to another; an empty one stands for no file.
Change Writing(const std::string& before, const std::string& after) {
  Change change{.kind = "file",
                .name = "/etc/a",
                .node = "spark-1",
                .plugin = "files",
                .before = FileOrNone(before)};
  change.actions.push_back(after.empty() ? Action(RemoveFile{"/etc/a"})
                                         : Action(WriteFile{"/etc/a", FileState{after}}));
  return change;
}

Plan MakePlanOfChanges(std::vector<Change> changes) {
  Plan plan{.nodes = {{.name = "spark-1"}}};
  plan.stages = {{.plugins = {"files"}, .changes = std::move(changes)}};
  return plan;
}

Ledger After(const Ledger& old, std::vector<Change> changes) {
  return UpdateLedger(old, {MakePlanOfChanges(std::move(changes))}, "spark-1", kHead);
}

TEST(UpdateLedger, TheHeadIsThatOfTheApply) {
  const Ledger old{.cluster = "attic", .generation = 1, .manifest_digest = "o"};
  const Ledger ledger = After(old, {});
  EXPECT_EQ(ledger.cluster, "lab");
  EXPECT_EQ(ledger.generation, 2);
  EXPECT_EQ(ledger.manifest_digest, "d");
}

Change Blocked(std::string name, CauseKind cause) {
  return {.change = ChangeKind::kBlocked,
          .kind = "file",
          .name = std::move(name),
          .node = "spark-1",
          .cause = {.kind = cause}};
}

TEST(UpdateLedger, TheDigestStaysTheOldOneWhereWhatTheManifestChangedIsLeftOut) {
  Ledger old{.cluster = "lab", .generation = 1, .manifest_digest = "o"};
  old.entries = {{.kind = "file", .name = "/etc/b"}};
  const auto digest_after = [&](const Change& change) {
    return After(old, {Writing("", "ours\n"), change}).manifest_digest;
  };
  EXPECT_EQ(digest_after(Blocked("/etc/b", CauseKind::kManifestChanged)), "o");
  EXPECT_EQ(digest_after(Blocked("/etc/b", CauseKind::kDriftedAndChanged)), "o");
  EXPECT_EQ(digest_after(Blocked("/etc/b", CauseKind::kUnknown)), "o");
  // The digest has no say in what becomes of these.
  EXPECT_EQ(digest_after(Blocked("/etc/c", CauseKind::kUnknown)), "d");
  EXPECT_EQ(digest_after(Blocked("/etc/c", CauseKind::kNew)), "d");
  EXPECT_EQ(digest_after(Blocked("/etc/b", CauseKind::kDrifted)), "d");
  Change elsewhere = Blocked("/etc/b", CauseKind::kManifestChanged);
  elsewhere.node = "spark-2";
  EXPECT_EQ(digest_after(elsewhere), "d");
  Plan selected = MakePlanOfChanges({Writing("", "ours\n")});
  selected.only = {"files"};
  EXPECT_EQ(UpdateLedger(old, {selected}, "spark-1", kHead).manifest_digest, "o");
}

TEST(UpdateLedger, AFileThatWasNotThereIsRemovedWhenItGoesBack) {
  const Ledger ledger = After({}, {Writing("", "ours\n")});
  ASSERT_EQ(ledger.entries.size(), 1u);
  const LedgerEntry& entry = ledger.entries[0];
  EXPECT_EQ(entry.Id(), "file//etc/a");
  EXPECT_EQ(entry.plugin, "files");
  EXPECT_EQ(entry.generation, 2);
  EXPECT_EQ(entry.original, std::vector<Action>{RemoveFile{"/etc/a"}});
  EXPECT_EQ(entry.digest, ComputeSha256Hex("ours\n"));
  EXPECT_FALSE(entry.shared);
}

TEST(UpdateLedger, TheTextThatWasAppliedLastIsKept) {
  Change change{.kind = "sysctl",
                .name = "a.b",
                .node = "spark-1",
                .actions = {RunCommand{{"sysctl", "-w", "a.b=2"}}},
                .desired = "2"};
  const Ledger first = After({}, {change});
  EXPECT_EQ(first.entries.at(0).applied, "2");
  change.desired = "3";
  const Ledger ledger = After(first, {change, Writing("", "ours\n")});
  EXPECT_EQ(ledger.entries.at(0).applied, "3");
  EXPECT_EQ(ledger.entries.at(1).applied, std::nullopt);
  const Result<Ledger> read = ParseLedger(FormatLedger(ledger));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, ledger);
}

// Of the file that the ledger's first entry brings back.
std::string FindMtime(const Ledger& ledger) {
  return std::get<WriteFile>(ledger.entries.at(0).original.at(0)).state.mtime;
}

TEST(UpdateLedger, AFileComesBackWithItsTime) {
  const std::string mtime = "2026-11-21 09:15:02.123456789 +0000";
  Change change = Writing("theirs\n", "");
  change.before->mtime = mtime;
  const Ledger ledger = After({}, {change});
  EXPECT_EQ(FindMtime(ledger), mtime);
  const Result<Ledger> read = ParseLedger(FormatLedger(ledger));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(FindMtime(*read), mtime);

  // Text that is not what was there at that time has none.
  change = Writing(SetBlock("theirs\n", "lab", "t", "old\n"), "");
  change.before->mtime = mtime;
  EXPECT_EQ(FindMtime(After({}, {change})), "");
}

TEST(ParseLedger, ALedgerWithoutTimesIsReadAndATimeThatIsNoneIsRefused) {
  Change change = Writing("theirs\n", "");
  const std::string without = FormatLedger(After({}, {change}));
  EXPECT_EQ(without.find("mtime"), std::string::npos);
  EXPECT_EQ(FindMtime(*ParseLedger(without)), "");
  change.before->mtime = "2026-11-21 09:15:02 +0000";
  std::string wrong = FormatLedger(After({}, {change}));
  wrong.replace(wrong.find("2026-11-21"), 10, "--reference");
  const Result<Ledger> read = ParseLedger(wrong);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message,
            "/entries/0/original/0/mtime: wanted a time such as \"2026-11-21 09:15:02.123456789 "
            "+0000\", found \"--reference 09:15:02 +0000\"");
}

TEST(UpdateLedger, AFileThatCarriesOurMarkWasOursBefore) {
  const std::string mine = FormatOwnedFile("lab", "old\n");
  const Ledger ledger = After({}, {Writing(mine, FormatOwnedFile("lab", "new\n"))});
  EXPECT_EQ(ledger.entries.at(0).original, std::vector<Action>{RemoveFile{"/etc/a"}});
  const std::string others = FormatOwnedFile("labx", "old\n");
  EXPECT_EQ(After({}, {Writing(others, "new\n")}).entries.at(0).original,
            (std::vector<Action>{WriteFile{"/etc/a", {others}}}));
}

TEST(UpdateLedger, AFileThatCarriesTheMarkOfTheFormerNameWasOursBefore) {
  LedgerHead head = kHead;
  head.former_cluster = "attic";
  const auto find_original = [&](const std::string& before) {
    const Plan plan = MakePlanOfChanges({Writing(before, FormatOwnedFile("lab", "new\n"))});
    return UpdateLedger({}, {plan}, "spark-1", head).entries.at(0).original;
  };
  EXPECT_EQ(find_original(FormatOwnedFile("attic", "old\n")),
            std::vector<Action>{RemoveFile{"/etc/a"}});
  EXPECT_EQ(find_original(SetBlock("theirs\n", "attic", "t", "old\n")),
            (std::vector<Action>{WriteFile{"/etc/a", {"theirs\n"}}}));
}

TEST(UpdateLedger, OurBlockIsNoPartOfWhatWasThereBefore) {
  const Ledger ledger = After({}, {Writing(SetBlock("theirs\n", "lab", "t", "old\n"),
                                           SetBlock("theirs\n", "lab", "t", "new\n"))});
  EXPECT_EQ(ledger.entries.at(0).original,
            (std::vector<Action>{WriteFile{"/etc/a", {"theirs\n"}}}));
  EXPECT_TRUE(ledger.entries.at(0).shared);
}

TEST(UpdateLedger, WhatOthersWroteIntoASharedFileStaysWhenWeGo) {
  const std::string written = SetBlock("theirs\n", "lab", "t", "old\n");
  const Ledger first = After({}, {Writing("theirs\n", written)});
  const Ledger second = After(
      first, {Writing(written + "more\n", SetBlock(written + "more\n", "lab", "t", "new\n"))});
  EXPECT_EQ(second.entries.at(0).original,
            (std::vector<Action>{WriteFile{"/etc/a", {"theirs\nmore\n"}}}));
}

TEST(UpdateLedger, AFileOfOthersThatWeRemovedIsRemembered) {
  const Ledger ledger = After({}, {Writing("theirs\n", "")});
  EXPECT_EQ(ledger.entries.at(0).original,
            (std::vector<Action>{WriteFile{"/etc/a", {"theirs\n"}}}));
  EXPECT_EQ(ledger.entries.at(0).digest, "");
}

TEST(UpdateLedger, AFileThatItsOwnerMadeAgainComesBackAsItWasLast) {
  const Ledger first = After({}, {Writing("theirs\n", "")});
  const Ledger second = After(first, {Writing("theirs, again\n", "")});
  ASSERT_EQ(second.entries.size(), 1u);
  EXPECT_EQ(second.entries[0].original,
            (std::vector<Action>{WriteFile{"/etc/a", {"theirs, again\n"}}}));
}

// The manifest names its new text: that is what comes back.
TEST(UpdateLedger, AFileThatItsOwnerEditedAndThatIsAdoptedAgainComesBackAsItWasLast) {
  const auto adopt = [](const std::string& before, const std::string& after) {
    Change change = Writing(before, after);
    change.change = ChangeKind::kAdopt;
    return change;
  };
  const Ledger first = After({}, {adopt("a\nb\n", "b\n")});
  const Ledger edited = After(first, {adopt("a = 2\nb\nc\n", "b\nc\n")});
  ASSERT_EQ(edited.entries.size(), 1u);
  EXPECT_EQ(edited.entries[0].original,
            (std::vector<Action>{WriteFile{"/etc/a", {"a = 2\nb\nc\n"}}}));
  // Of what stands as we left it the first text is the original.
  const Ledger again = After(first, {adopt("b\n", "")});
  EXPECT_EQ(again.entries[0].original, (std::vector<Action>{WriteFile{"/etc/a", {"a\nb\n"}}}));
}

TEST(UpdateLedger, AFileThatWeMadeAndRemovedIsDropped) {
  const Ledger made = After({}, {Writing("", "ours\n")});
  EXPECT_TRUE(After(made, {Writing("ours\n", "")}).entries.empty());
}

TEST(UpdateLedger, WhatWasNotCarriedOutHereLeavesNoEntry) {
  Change blocked = Writing("", "ours\n");
  Block(blocked, "plan-state-unknown", "unknown");
  Change deferred = Writing("", "ours\n");
  deferred.deferred = true;
  Change elsewhere = Writing("", "ours\n");
  elsewhere.node = "spark-2";
  Change nothing = Writing("", "ours\n");
  nothing.actions.clear();
  EXPECT_TRUE(After({}, {blocked, deferred, elsewhere, nothing}).entries.empty());
}

TEST(UpdateLedger, WhatWasPrunedOrDroppedIsDroppedOnThatNodeAlone) {
  const Ledger old = After({}, {Writing("", "ours\n")});
  Change prune = Writing("ours\n", "");
  prune.prune = true;
  EXPECT_TRUE(After(old, {prune}).entries.empty());
  Plan drops = MakePlanOfChanges({});
  drops.nodes[0].dropped = {"file//etc/a"};
  EXPECT_TRUE(UpdateLedger(old, {drops}, "spark-1", kHead).entries.empty());
  drops.nodes[0].name = "spark-2";
  EXPECT_EQ(UpdateLedger(old, {drops}, "spark-1", kHead).entries, old.entries);
}

TEST(UpdateLedger, CommandsThatMakeItOursAgainAreThoseThatRanLast) {
  Change change{.kind = "sysctl", .name = "a", .node = "spark-1", .plugin = "values"};
  change.actions = {RunCommand{{"set", "1"}}};
  change.triggers = {{{"reload"}}};
  change.prune_commands = {.before = {{{"set", "0"}}}, .after = {{{"reload"}}}};
  const Ledger first = After({}, {change});
  change.actions = {RunCommand{{"set", "2"}}};
  change.prune_commands = {.before = {{{"set", "1"}}}, .after = {}};
  const LedgerEntry entry = After(first, {change}).entries.at(0);
  EXPECT_EQ(entry.original, std::vector<Action>{(RunCommand{{"set", "0"}})});
  EXPECT_EQ(entry.triggers, std::vector<RunCommand>{(RunCommand{{"reload"}})});
  EXPECT_EQ(entry.again, (std::vector<RunCommand>{{{"set", "2"}}, {{"reload"}}}));
}

TEST(UpdateLedger, APartThatIsManagedSinceLaterReturnsToWhatItWasToo) {
  Change change{.kind = "unit", .name = "a", .node = "spark-1", .plugin = "units"};
  change.actions = {RunCommand{{"start"}}};
  change.prune_commands = {.before = {{{"stop"}}}};
  const Ledger first = After({}, {change});
  change.prune_commands = {.before = {{{"disable"}}}, .after = {{{"reload"}}}, .adds = true};
  const Ledger second = After(first, {change});
  const LedgerEntry entry = After(second, {change}).entries.at(0);
  EXPECT_EQ(entry.original, (std::vector<Action>{RunCommand{{"disable"}}, RunCommand{{"stop"}}}));
  EXPECT_EQ(entry.triggers, std::vector<RunCommand>{(RunCommand{{"reload"}})});
}

// Whole files, as some apply found or wrote them.
std::string AnyText() {
  return *rc::gen::element<std::string>("", "a\n", "b\n", "no newline", "c\r\n\r\n",
                                        std::string("\0\xff", 2));
}

RC_GTEST_PROP(UpdateLedger, HoweverOftenAFileIsWrittenWhatWasThereBeforeUsIsRemembered, ()) {
  const std::string before = AnyText();
  Ledger ledger;
  std::string now = before;
  const int applies = *rc::gen::inRange(1, 6);
  for (int i = 0; i < applies; ++i) {
    const std::string next = *rc::gen::suchThat(rc::gen::exec(AnyText), [](const std::string& one) {
      return !one.empty();  // a file that we made and removed is no longer ours
    });
    ledger = After(ledger, {Writing(now, next)});
    now = next;
  }
  RC_ASSERT(ledger.entries.size() == 1u);
  const std::vector<Action> wanted = {before.empty()
                                          ? Action(RemoveFile{"/etc/a"})
                                          : Action(WriteFile{"/etc/a", FileState{before}})};
  RC_ASSERT(ledger.entries[0].original == wanted);
  RC_ASSERT(ledger.entries[0].digest == ComputeSha256Hex(now));
}

RC_GTEST_PROP(UpdateLedger, WhatAnApplyWroteAPruneReturnsByteForByte, ()) {
  const std::string before = AnyText();
  const std::string after =
      *rc::gen::suchThat(rc::gen::exec(AnyText), [&](const auto& one) { return one != before; });
  NodeFacts facts{.node = "spark-1"};
  facts.ledger = After({}, {Writing(before, after)});
  if (after.empty()) {
    facts.files["/etc/a"] = Absent{};
  } else {
    facts.files["/etc/a"] = FileState{after};
  }
  const ClusterSpec cluster{.name = "lab"};
  const Prunes prunes = PruneNode(cluster, facts, {}, {});
  RC_ASSERT(prunes.changes.size() == 1u);
  const std::vector<Action> wanted = {before.empty()
                                          ? Action(RemoveFile{"/etc/a"})
                                          : Action(WriteFile{"/etc/a", FileState{before}})};
  RC_ASSERT(prunes.changes[0].actions == wanted);
}

RC_GTEST_PROP(UpdateLedger, NoTwoEntriesHaveTheSameId, ()) {
  Ledger ledger;
  std::vector<Plan> passes;
  const int count = *rc::gen::inRange(1, 5);
  for (int pass = 0; pass < count; ++pass) {
    std::vector<Change> changes;
    const int writes = *rc::gen::inRange(0, 5);
    for (int i = 0; i < writes; ++i) {
      Change change = Writing(AnyText(), AnyText());
      change.name = *rc::gen::element<std::string>("/etc/a", "/etc/b");
      change.kind = *rc::gen::element<std::string>("file", "unit");
      change.prune = *rc::gen::arbitrary<bool>();
      changes.push_back(change);
    }
    passes.push_back(MakePlanOfChanges(changes));
  }
  ledger = UpdateLedger(ledger, passes, "spark-1", kHead);
  std::set<std::string> ids;
  for (const LedgerEntry& entry : ledger.entries) RC_ASSERT(ids.insert(entry.Id()).second);
}

RC_GTEST_PROP(UpdateLedger, PassesOfOneApplyCountAsAppliesOneAfterAnother, ()) {
  std::vector<Plan> passes;
  Ledger one_by_one;
  const int count = *rc::gen::inRange(1, 5);
  for (int pass = 0; pass < count; ++pass) {
    passes.push_back(MakePlanOfChanges({Writing(AnyText(), AnyText())}));
    one_by_one = UpdateLedger(one_by_one, {passes.back()}, "spark-1", kHead);
  }
  RC_ASSERT(UpdateLedger({}, passes, "spark-1", kHead) == one_by_one);
}

ClusterFacts FactsOfLedgers(const std::vector<Ledger>& ledgers) {
  ClusterFacts facts;
  int number = 0;
  for (const Ledger& ledger : ledgers) {
    const std::string name = "spark-" + std::to_string(++number);
    facts.nodes[name] = {.node = name, .ledger = ledger};
  }
  return facts;
}

ClusterSpec LabOfTwo() {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "lab"};
  cluster.nodes = {{.name = "spark-1", .id = 1, .address = "10.0.0.1"},
                   {.name = "spark-2", .id = 2, .address = "10.0.0.2"}};
  return cluster;
}

TEST(NextGeneration, ItIsOneMoreThanAnyNodeRemembers) {
  EXPECT_EQ(ComputeNextGeneration({}), 1);
  EXPECT_EQ(ComputeNextGeneration(FactsOfLedgers({{.generation = 7}, {.generation = 3}})), 8);
}

// Also that of an apply which changed other nodes only: its number is in no ledger of these.
TEST(NextGeneration, NoNumberOfAFileThatANodeKeepsIsGivenAgain) {
  ClusterFacts facts = FactsOfLedgers({{.generation = 1}});
  facts.nodes["spark-1"].newest_generation = 9;
  EXPECT_EQ(ComputeNextGeneration(facts), 10);
  facts.nodes["spark-1"].newest_generation = kLargestGeneration;
  EXPECT_EQ(ComputeNextGeneration(facts), kLargestGeneration);
}

// Both nodes of the lab after generation 4.
class WayBackTest : public testing::Test {
 protected:
  WayBackTest() {
    const Ledger ledger{.cluster = "lab",
                        .generation = 4,
                        .manifest_digest = "four",
                        .nodes = {{"spark-1", 1, "10.0.0.1"}, {"spark-2", 2, "10.0.0.2"}}};
    facts_ = FactsOfLedgers({ledger, ledger});
    for (auto& [name, node] : facts_.nodes) {
      node.newest_generation = 4;
      node.newest_digest = "four";
    }
    cluster_.digest = "five";
  }

  WayBackKind Find() const { return FindWayBack(cluster_, facts_, all_plugins_).kind; }
  NodeFacts& Second() { return facts_.nodes.at("spark-2"); }
  Ledger& SecondLedger() { return std::get<Ledger>(Second().ledger); }

  ClusterSpec cluster_ = LabOfTwo();
  ClusterFacts facts_;
  bool all_plugins_ = true;
};

TEST_F(WayBackTest, ItIsARollbackWhereAllNodesHaveTheGenerationBefore) {
  EXPECT_EQ(Find(), WayBackKind::kRollback);
  SecondLedger().generation = 2;  // it had nothing to change since
  EXPECT_EQ(Find(), WayBackKind::kRollback);
}

TEST_F(WayBackTest, WhereARollbackWouldBeRefusedThereIsNone) {
  Second().newest_generation = 3;
  EXPECT_EQ(Find(), WayBackKind::kNone);
  Second().newest_generation = 4;
  SecondLedger().cluster = "attic";  // renamed by this apply
  EXPECT_EQ(Find(), WayBackKind::kNone);
  SecondLedger().cluster = "lab";
  SecondLedger().nodes[0].name = "gx10";  // renamed, or removed from the manifest
  EXPECT_EQ(Find(), WayBackKind::kNone);
  Second() = {.node = "spark-2"};  // it was added, or installed again
  EXPECT_EQ(Find(), WayBackKind::kNone);
}

// An apply that corrected drift, and one that followed an apply of a part of its manifest.
TEST_F(WayBackTest, WhereTheGenerationBeforeIsNotWhatWasThereItIsNoRollback) {
  cluster_.digest = "four";
  EXPECT_EQ(Find(), WayBackKind::kNone);
  cluster_.digest = "five";
  Second().newest_digest = "five";
  EXPECT_EQ(Find(), WayBackKind::kNone);
  Second().newest_digest = "";  // of a version that did not write it there
  EXPECT_EQ(Find(), WayBackKind::kRollback);
}

TEST_F(WayBackTest, ARollbackGoesBeyondAnApplyToSomeNodesOrPlugins) {
  all_plugins_ = false;
  EXPECT_EQ(Find(), WayBackKind::kNone);
  all_plugins_ = true;
  facts_.nodes.erase("spark-1");
  EXPECT_EQ(Find(), WayBackKind::kNone);
  facts_.nodes.clear();
  EXPECT_EQ(Find(), WayBackKind::kNone);
}

TEST_F(WayBackTest, WhereNothingWasAppliedItIsAnUninstallOfTheNodesThatWereRead) {
  for (auto& [name, node] : facts_.nodes) node = {.node = name};
  for (const bool all : {true, false}) {
    const WayBack way = FindWayBack(cluster_, facts_, all);
    EXPECT_EQ(way.kind, WayBackKind::kUninstall);
    EXPECT_TRUE(way.nodes.empty());
  }
  facts_.nodes.erase("spark-1");
  const WayBack way = FindWayBack(cluster_, facts_, true);
  EXPECT_EQ(way.kind, WayBackKind::kUninstall);
  EXPECT_EQ(way.nodes, std::vector<NodeName>{"spark-2"});
  Second().newest_generation = 1;  // its ledger was moved away
  EXPECT_EQ(Find(), WayBackKind::kNone);
}

TEST(RemovedNodes, ANodeThatALedgerNamesAndTheManifestDoesNotIsFoundOnce) {
  const Ledger ledger{.cluster = "lab",
                      .nodes = {{"spark-1", 1, "10.0.0.1"}, {"spark-3", 3, "10.0.0.3"}}};
  const std::vector<LedgerNode> removed =
      FindRemovedNodes(LabOfTwo(), FactsOfLedgers({ledger, ledger}));
  EXPECT_EQ(removed, (std::vector<LedgerNode>{{"spark-3", 3, "10.0.0.3"}}));
}

TEST(RemovedNodes, ANodeThatTheManifestSaysWasRenamedIsNotLost) {
  ClusterSpec cluster = LabOfTwo();
  const auto rename = [&](const std::string& to) {
    const Value nodes{.data = std::vector<Member>{{.key = "spark-3", .value = {.data = to}}}};
    const Value moved{.data = std::vector<Member>{{.key = "nodes", .value = nodes}}};
    cluster.settings.data = std::vector<Member>{{.key = "moved", .value = moved}};
  };
  const ClusterFacts facts =
      FactsOfLedgers({{.cluster = "lab", .nodes = {{"spark-3", 3, "10.0.0.3"}}}});
  rename("spark-2");
  EXPECT_TRUE(FindRemovedNodes(cluster, facts).empty());
  rename("spark-4");
  EXPECT_EQ(FindRemovedNodes(cluster, facts).size(), 1u);
}

TEST(RemovedNodes, TheLedgerOfAnotherClusterSaysNothing) {
  EXPECT_TRUE(FindRemovedNodes(LabOfTwo(), FactsOfLedgers({{.cluster = "other",
                                                            .nodes = {{"spark-3", 3, "x"}}}}))
                  .empty());
}

Change Holding(const std::string& restore) {
  return {.kind = "link",
          .name = "port",
          .is_link = true,
          .node = "spark-1",
          .plugin = "files",
          .triggers = {RunCommand{.argv = {"reload"}, .id = "reload"}},
          .prune_commands = {.after = {RunCommand{{restore}}}}};
}

Ledger AfterWith(const Ledger& old, const Change& change, const Change& held) {
  Plan plan = MakePlanOfChanges({change});
  plan.stages[0].held = {held};
  return UpdateLedger(old, {plan}, "spark-1", kHead);
}

TEST(UpdateLedger, WhatHeldAlreadyIsRememberedOnceATriggerSetsIt) {
  Change change = Writing("", "ours\n");
  EXPECT_EQ(AfterWith({}, change, Holding("restore")).entries.size(), 1u);
  change.triggers = Holding("").triggers;
  const Ledger first = AfterWith({}, change, Holding("restore"));
  ASSERT_EQ(first.entries.size(), 2u);
  EXPECT_EQ(first.entries[1].Id(), "link/port");
  EXPECT_TRUE(first.entries[1].is_link);
  EXPECT_EQ(first.entries[1].triggers, std::vector<RunCommand>{RunCommand{{"restore"}}});
  EXPECT_EQ(first.entries[1].again, change.triggers);
  // What it was before us is what it was the first time.
  EXPECT_EQ(AfterWith(first, change, Holding("later")).entries[1], first.entries[1]);
  Change elsewhere = Holding("restore");
  elsewhere.node = "spark-2";
  EXPECT_EQ(AfterWith({}, change, elsewhere).entries.size(), 1u);
}

}  // namespace
}  // namespace reconciler
