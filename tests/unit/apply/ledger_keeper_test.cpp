#include "reconciler/apply/ledger_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reconciler/base/mark.h"
#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

// The manifest "new" of a lab whose nodes were applied to by "old", in generation 3. The newest
// apply was generation 7.
class LedgerKeeperTest : public testing::Test {
 protected:
  LedgerKeeperTest()
      : network_({{"spark-1", SilentNode()}, {"spark-2", SilentNode()}}), pool_(network_.Dialer()) {
    cluster_.file = "cluster.yaml";
    cluster_.name = "lab";
    cluster_.digest = "new";
    cluster_.nodes = {{.name = "spark-1", .id = 1}, {.name = "spark-2", .id = 2}};
    ledger_ = {.cluster = "lab", .generation = 3, .manifest_digest = "old"};
    ledger_.nodes = {{.name = "spark-1", .id = 1}, {.name = "spark-2", .id = 2}};
    for (const char* name : {"spark-1", "spark-2"}) {
      facts_.nodes[name] = {.node = name, .ledger = ledger_, .newest_generation = 7};
    }
    plan_.nodes = {{.name = "spark-1"}, {.name = "spark-2"}};
    plan_.stages = {{.plugins = {"values"}, .changes = {MakeSetting("spark-1")}}};
  }

  static FakeNode SilentNode() {
    return {.shell = [](const std::string&) { return ScriptReply{}; }};
  }

  static Change MakeSetting(const NodeName& node) {
    return {.kind = "value",
            .name = "a",
            .node = node,
            .plugin = "values",
            .actions = {RunCommand{{"set", "2"}}}};
  }

  LedgerKeeper MakeKeeper(bool uninstall = false) {
    return {cluster_, GenerationInfo(), uninstall, pool_};
  }

  // What spark-2, which the plan does not change, gets as its ledger; "": it keeps the one it has.
  std::string RecordOnSecond(bool whole) {
    LedgerKeeper keeper = MakeKeeper();
    keeper.Begin(plan_, facts_);
    EXPECT_EQ(FormatErrors(keeper.RecordGeneration({plan_}, whole)), "");
    const std::string script = network_.ListScripts("spark-2").back();
    EXPECT_NE(script.find("N='8'\n"), std::string::npos) << script;
    return Find(script, "LEDGER='");
  }

  static std::string Find(const std::string& script, const std::string& assignment) {
    const std::size_t begin = script.find("\n" + assignment);
    if (begin == std::string::npos) return "no assignment";
    const std::size_t from = begin + 1 + assignment.size();
    return script.substr(from, script.find('\'', from) - from);
  }

  FakeNetwork network_;
  NodePool pool_;
  ClusterSpec cluster_;
  Ledger ledger_;
  ClusterFacts facts_;
  Plan plan_;
};

TEST_F(LedgerKeeperTest, ANodeThatHasAllOfTheManifestRemembersItThoughNothingWasChangedThere) {
  Ledger wanted = ledger_;
  wanted.manifest_digest = "new";
  EXPECT_EQ(RecordOnSecond(true), FormatLedger(wanted));
  // The node that was changed has its ledger from the commit.
  EXPECT_EQ(Find(network_.ListScripts("spark-1").back(), "LEDGER='"), "");
}

TEST_F(LedgerKeeperTest, ANodeKeepsItsLedgerWhereSomethingOfTheManifestIsLeftOut) {
  EXPECT_EQ(RecordOnSecond(false), "");
  plan_.only = {"values"};
  EXPECT_EQ(RecordOnSecond(true), "");
  plan_.only.clear();
  Change blocked = MakeSetting("spark-2");
  blocked.cause.kind = CauseKind::kManifestChanged;
  Block(blocked, "plan-state-unknown", "unknown");
  plan_.stages[0].changes.push_back(blocked);
  EXPECT_EQ(RecordOnSecond(true), "");
}

TEST_F(LedgerKeeperTest, ANodeThatRemembersTheManifestAlreadyKeepsItsLedger) {
  std::get<Ledger>(facts_.nodes.at("spark-2").ledger).manifest_digest = "new";
  EXPECT_EQ(RecordOnSecond(true), "");
}

TEST_F(LedgerKeeperTest, TheWayBackIsThatOfThePlan) {
  LedgerKeeper keeper = MakeKeeper();
  keeper.Begin(plan_, facts_);
  EXPECT_EQ(keeper.FindWayBack().kind, WayBackKind::kRollback);
  plan_.only = {"values"};
  keeper.Begin(plan_, facts_);
  EXPECT_EQ(keeper.FindWayBack().kind, WayBackKind::kNone);
}

TEST_F(LedgerKeeperTest, ALedgerThatCouldNotBeReadAgainIsNamedWithItsLongestText) {
  for (std::size_t i = 0; i < 9; ++i) {
    const std::string path = fmt::format("/etc/{}", i);
    plan_.stages[0].changes.push_back(
        {.kind = "file",
         .name = path,
         .node = "spark-1",
         .plugin = "files",
         .actions = {WriteFile{path, FileState{"ours\n"}}},
         .before = FileState{.content = std::string((1 << 20) - 9 + i, 'x')}});
  }
  LedgerKeeper keeper = MakeKeeper();
  keeper.Begin(plan_, facts_);
  const std::size_t size = keeper.MakeDocuments("spark-1", {plan_}).at("ledger.json").size();
  EXPECT_GT(size, kLargestLedger);
  EXPECT_EQ(FormatErrors(keeper.FindTooLarge(plan_, facts_)),
            fmt::format("spark-1: wanted a ledger of at most 8 MiB, found one of {} bytes; the "
                        "longest former text in it is that of /etc/8 (1048575 bytes)\n"
                        "  hint: leave that file out of the manifest, or make it smaller before "
                        "it is managed\n",
                        size));
  EXPECT_EQ(FormatErrors(MakeKeeper(/*uninstall=*/true).FindTooLarge(plan_, facts_)), "");
  plan_.stages[0].changes.resize(8);  // seven files
  EXPECT_EQ(FormatErrors(keeper.FindTooLarge(plan_, facts_)), "");
}

// Journals may hold the only originals of such files.
TEST_F(LedgerKeeperTest, FilesWithTheMarkOfTheFormerNameKeepTheJournalsOfANodeWithoutALedger) {
  cluster_.former_name = "attic";
  NodeFacts& node = facts_.nodes.at("spark-1");
  node.ledger = Absent{};
  node.files["/etc/a"] = FileState{.content = FormatOwnedFile("attic", "a line\n")};
  node.files["/etc/b"] = FileState{.content = SetBlock("theirs\n", "attic", "t", "ours\n")};
  node.files["/etc/c"] = FileState{.content = FormatOwnedFile("lab", "a line\n")};
  node.files["/etc/d"] = FileState{.content = FormatOwnedFile("others", "a line\n")};
  LedgerKeeper keeper = MakeKeeper(/*uninstall=*/true);
  keeper.Begin({}, facts_);
  std::vector<std::string> paths;
  for (const UnledgeredFile& file : keeper.FindUnledgered(facts_)) paths.push_back(file.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/etc/a", "/etc/b", "/etc/c"}));
  const UninstallResult result = keeper.FinishUninstall({});
  ASSERT_EQ(result.emptied.size(), 1u);
  EXPECT_EQ(result.emptied[0].node, "spark-2");
  EXPECT_TRUE(network_.ListScripts("spark-1").empty());
}

}  // namespace
}  // namespace reconciler
