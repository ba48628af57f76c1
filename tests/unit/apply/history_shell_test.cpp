#include <gtest/gtest.h>

#include "reconciler/apply/history.h"
#include "reconciler/apply/list_generations.sh.h"
#include "reconciler/model/ledger.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

// The scripts as nodes run them, on a folder of the test's own.
class HistoryScripts : public ShellTest {
 protected:
  ScriptReply Reply(std::string script) {
    const std::string place(kStateFolder);
    for (std::size_t at = script.find(place); at != std::string::npos; at = script.find(place)) {
      script.replace(at, place.size(), Path("kept"));
    }
    return Run(script);
  }
  int RunHere(const std::string& script) { return Reply(script).exit_code; }

  // The labels of the frames and what is in them.
  std::vector<std::pair<std::string, std::string>> ListGenerations() {
    const ScriptReply reply = Reply(BuildScriptPreamble("n0") + std::string(kListGenerationsSh));
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    std::vector<std::pair<std::string, std::string>> frames;
    for (const Frame& frame : ParseFrames(reply, "n0")) frames.emplace_back(frame.label, frame.out);
    return frames;
  }
};

TEST_F(HistoryScripts, AVerificationIsRecordedOnlyWhereTheGenerationIs) {
  EXPECT_EQ(RunHere(BuildRecordVerificationScript(4, "new")), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));
  Put("kept/generations/4.json", "old");
  Put("kept/generations/5.json", "other");
  EXPECT_EQ(RunHere(BuildRecordVerificationScript(4, "it's $new\\n")), 0);
  EXPECT_EQ(Get(Path("kept/generations/4.json")), "it's $new\\n");
  EXPECT_EQ(Get(Path("kept/generations/5.json")), "other");
}

TEST_F(HistoryScripts, GenerationsAreListedByTheirNumbers) {
  using Frames = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(ListGenerations(), Frames());  // nothing was ever applied there
  for (const char* name : {"10.json", "9.json", "2.json"}) {
    Put(std::string("kept/generations/") + name, std::string(name) + "\n$(no) \\n");
  }
  for (const char* name : {"3.json.new", "x.json", "4.txt", "5json", "a6.json"}) {
    Put(std::string("kept/generations/") + name, "other");
  }
  EXPECT_EQ(ListGenerations(), (Frames{{"2", "2.json\n$(no) \\n"},
                                       {"9", "9.json\n$(no) \\n"},
                                       {"10", "10.json\n$(no) \\n"},
                                       {"end", ""}}));
}

TEST_F(HistoryScripts, TheLedgerAndItsListAreWrittenTogether) {
  Put("kept/ledger.json", "old");
  EXPECT_EQ(RunHere(BuildWriteLedgerScript("it's $new\n", "/etc/a b\n")), 0);
  EXPECT_EQ(Get(Path("kept/ledger.json")), "it's $new\n");
  EXPECT_EQ(Get(Path("kept/owned")), "/etc/a b\n");
  EXPECT_FALSE(std::filesystem::exists(Path("kept/ledger.json.new")));
}

std::string MakeDocument(const std::string& digest) {
  return FormatGeneration({.plan = "p",
                           .cluster = "lab",
                           .manifest_digest = digest,
                           .manifest_text = "\n  \"manifest_digest\": \"trap\","});
}

TEST_F(HistoryScripts, ANodeThatHadNothingToChangeRemembersTheGenerationToo) {
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "new")), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));  // nothing was ever applied there
  Put("kept/ledger.json", "x");
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "it's $new\\n")), 0);
  EXPECT_EQ(Get(Path("kept/generations/4.json")), "it's $new\\n");
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "other")), 0);
  EXPECT_EQ(Get(Path("kept/generations/4.json")), "it's $new\\n");
}

TEST_F(HistoryScripts, TheLedgerIsReplacedWithTheGenerationAndNotWithoutIt) {
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "new", "a ledger")), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));  // nothing was ever applied there
  Put("kept/ledger.json", "old");
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "new", "it's $new\\n")), 0);
  EXPECT_EQ(Get(Path("kept/ledger.json")), "it's $new\\n");
  EXPECT_EQ(Get(Path("kept/generations/4.json")), "new");
  EXPECT_FALSE(std::filesystem::exists(Path("kept/ledger.json.new")));
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(4, "new", "other")), 0);
  EXPECT_EQ(Get(Path("kept/ledger.json")), "it's $new\\n");
}

TEST_F(HistoryScripts, GenerationsDoNotGrowWithoutBound) {
  Put("kept/ledger.json", "x");
  const auto has = [&](int number) {
    return std::filesystem::exists(Path("kept/generations/" + std::to_string(number) + ".json"));
  };
  const auto put = [&](int number, const std::string& digest) {
    Put("kept/generations/" + std::to_string(number) + ".json", MakeDocument(digest));
  };
  for (int number = 1; number <= kMostGenerations + 9; ++number) {
    put(number, number <= 4 ? "old" : "new");
  }
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(60, MakeDocument("new"))), 0);
  for (int number = 1; number <= 60; ++number) {
    // The last one that differs stays, though older than the newest 50.
    EXPECT_EQ(has(number), number == 4 || number > 10) << number;
  }
  put(61, "other");
  EXPECT_EQ(RunHere(BuildKeepGenerationsScript(61, MakeDocument("other"))), 0);
  EXPECT_FALSE(has(4));
  EXPECT_FALSE(has(11));
  EXPECT_TRUE(has(12));
}

TEST_F(HistoryScripts, NothingIsLeftOfOurStateAndNothingElseIsTaken) {
  Put("kept/journal/a", "x");
  Put("beside", "x");
  EXPECT_EQ(RunHere(BuildRemoveStateScript()), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));
  EXPECT_TRUE(std::filesystem::exists(Path("beside")));
}

TEST_F(HistoryScripts, AHeartbeatDuringTheRemovalOfOurStateDoesNotKeepIt) {
  Put("kept/journal/a", "x");
  const std::string met = Path("met");
  const std::string rm = "rm() { command rm \"$@\"; [ -e " + met + " ] || { : >" + met +
                         "; mkdir -p \"$D\"; : >\"$D/lease.until\"; return 1; }; }\n";
  EXPECT_EQ(RunHere(rm + BuildRemoveStateScript()), 0);
  EXPECT_TRUE(std::filesystem::exists(met));
  EXPECT_FALSE(std::filesystem::exists(Path("kept")));
}

}  // namespace
}  // namespace reconciler
