#include <gtest/gtest.h>

#include "reconciler/apply/history.h"
#include "reconciler/model/ledger.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

// The scripts as nodes run them, on a folder of the test's own.
class HistoryScripts : public ShellTest {
 protected:
  int RunHere(std::string script) {
    const std::string place(kStateFolder);
    for (std::size_t at = script.find(place); at != std::string::npos; at = script.find(place)) {
      script.replace(at, place.size(), Path("kept"));
    }
    return Run(script).exit_code;
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

}  // namespace
}  // namespace reconciler
