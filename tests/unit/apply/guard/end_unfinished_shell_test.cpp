// How a controller that holds the node's lock ends what an earlier apply left: by that apply's own
// guard.
#include <gtest/gtest.h>

#include "tests/unit/apply/guard/guard_machine.h"

namespace reconciler {
namespace {

// A journal whose guard leaves a line in `calls` for each verb.
class EndUnfinished : public GuardMachine {
 protected:
  EndUnfinished() { Put("calls", ""); }

  // `body`: what the guard does with its verb in $1.
  void SetGuard(const std::string& body) {
    Put("state/journal/0123456789abcdef/guard",
        "echo \"$*\" >>" + QuoteForShell(Path("calls")) + "\n" + body + "\n");
  }
  ScriptReply Request(const std::string& request) {
    return RunRequest(Adapt(request), MakeNonce());
  }
  ScriptReply End(UnfinishedEnd end) {
    return Request(BuildEndUnfinishedRequest("0123456789abcdef", end));
  }
  std::string ListCalls() const { return Get(Path("calls")); }
};

TEST_F(EndUnfinished, AnApplyThatWasNotArmedChangedNothing) {
  const ScriptReply reply =
      Request(BuildRevertRequest("/var/lib/spark-reconcile/journal/0123456789abcdef"));
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
}

TEST_F(EndUnfinished, AnArmedOneIsRevertedByItsGuardWhichSaysWhetherItSucceeded) {
  for (const int exit_code : {0, 1}) {
    SetGuard("exit " + std::to_string(exit_code));
    Put("calls", "");
    const ScriptReply reply =
        Request(BuildRevertRequest("/var/lib/spark-reconcile/journal/0123456789abcdef"));
    EXPECT_EQ(reply.exit_code, exit_code);
    EXPECT_EQ(ListCalls(), "revert\n");
  }
}

TEST_F(EndUnfinished, CommitIsSaidWhereTheGuardHasCommitted) {
  SetGuard("echo its own words");
  ScriptReply reply = End(UnfinishedEnd::kCommit);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "commit\n");
  EXPECT_EQ(reply.err, "its own words\n");
  EXPECT_EQ(ListCalls(), "commit\n");

  SetGuard("exit 3");
  reply = End(UnfinishedEnd::kCommit);
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.out, "");
}

TEST_F(EndUnfinished, ARevertSaysNothing) {
  SetGuard("echo its own words");
  const ScriptReply reply = End(UnfinishedEnd::kRevert);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(ListCalls(), "revert\n");
}

TEST_F(EndUnfinished, ItsPeersDecideAndNothingButTheWordCommitCommits) {
  for (const std::string answer : {"commit", "revert", "", "commit it", "nothing"}) {
    SetGuard("[ \"$*\" != 'watch query' ] || echo '" + answer + "'");
    Put("calls", "");
    const ScriptReply reply = End(UnfinishedEnd::kCheckPeers);
    EXPECT_EQ(reply.exit_code, 0);
    EXPECT_EQ(reply.out, answer == "commit" ? "commit\n" : "") << answer;
    EXPECT_EQ(ListCalls(), answer == "commit" ? "watch query\ncommit\n" : "watch query\nrevert\n");
  }
}

}  // namespace
}  // namespace reconciler
