// How a controller that holds the node's lock ends what an earlier apply left: by that apply's own
// guard.
#include <gtest/gtest.h>

#include "reconciler/apply/guard/end_notes.h"
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
  ScriptReply Revert() {
    return Request(BuildRevertRequest("/var/lib/spark-reconcile/journal/0123456789abcdef"));
  }
  // The guard proper, of an apply that wrote one file by its first step.
  void SetRealGuard(const Change& change) {
    const auto put = [&](const std::string& name, const std::string& text) {
      Put("state/journal/0123456789abcdef/" + name, text);
    };
    put("0/path", Path("etc/hosts"));
    put("0/before", "old\n");
    put("0/new", "new\n");
    put("0/begun", "");
    put("order", "1\n");
    put("state", "armed\n");
    put("guard", Adapt(BuildGuardScript(Journal(), {{.changes = {change}}})));
  }
  static std::vector<std::string> ListNotes(const ScriptReply& reply) {
    EndNotes notes;
    notes.Read(reply.err);
    return notes.List();
  }
  ScriptReply End(UnfinishedEnd end) {
    return Request(BuildEndUnfinishedRequest("0123456789abcdef", end));
  }
  std::string ListCalls() const { return Get(Path("calls")); }
};

TEST_F(EndUnfinished, AnApplyThatWasNotArmedChangedNothing) {
  const ScriptReply reply = Revert();
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
}

TEST_F(EndUnfinished, AnArmedOneIsRevertedByItsGuardWhichSaysWhetherItSucceeded) {
  for (const int exit_code : {0, 1}) {
    SetGuard("exit " + std::to_string(exit_code));
    Put("calls", "");
    const ScriptReply reply = Revert();
    EXPECT_EQ(reply.exit_code, exit_code);
    EXPECT_EQ(ListCalls(), "revert\n");
  }
}

TEST_F(EndUnfinished, WhatARevertSaysIsOnStderrBehindTheLogOfOneThatSucceeded) {
  Put("state/journal/0123456789abcdef/revert.log", "a try before\nrevert-failed\n");
  for (const auto& [exit_code, log] : {std::pair(0, "a try before\nrevert-failed\n"), {1, ""}}) {
    SetGuard("echo its own words\nexit " + std::to_string(exit_code));
    const ScriptReply reply = Revert();
    EXPECT_EQ(reply.exit_code, exit_code);
    EXPECT_EQ(reply.out, "");
    EXPECT_EQ(reply.err, log + std::string("its own words\n"));
  }
}

TEST_F(EndUnfinished, WhatTheFirstOfManyTriesKeptIsSaidToo) {
  const std::string kept =
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign\n";
  std::string log = kept;
  for (int i = 0; i < 300; ++i) log += "cannot restore /etc/a\n";
  Put("state/journal/0123456789abcdef/revert.log", log);
  SetGuard("exit 0");
  EXPECT_TRUE(Revert().err.starts_with(kept + "cannot restore /etc/a\n"));
}

// At its deadline, before the controller's request came.
TEST_F(EndUnfinished, WhatTheNodesOwnRevertKeptIsSaidToTheControllerToo) {
  SetRealGuard({.actions = {RemoveFile{Path("etc/hosts")}}});
  Put("etc/hosts", "new\n10.1.2.3 nas\n");
  const std::vector<std::string> notes = {Path("etc/hosts") +
                                          " was changed by another program: its text is kept in " +
                                          Journal() + "/0/foreign"};
  for (const std::string how : {"the request's own", "the node's"}) {
    const ScriptReply reply = Revert();
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    EXPECT_EQ(reply.out, "");
    EXPECT_EQ(ListNotes(reply), notes) << how;
  }
  EXPECT_EQ(Get(Path("etc/hosts")), "old\n");
}

TEST_F(EndUnfinished, AValueThatCannotBeSetBackIsNamed) {
  SetRealGuard({.actions = {RemoveFile{Path("etc/hosts")}},
                .revert = {RunCommand{.argv = {"false", "mtu 1500"}, .must_succeed = true}}});
  Put("etc/hosts", "new\n");
  const ScriptReply reply = Revert();
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(ExplainFailedEnd(reply.err), "cannot set back: as  timeout -k 2 30 false mtu 1500");
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

// The node's own, before the controller's request came.
TEST_F(EndUnfinished, WhatAnEarlierTryOfACommitKeptIsSaidToo) {
  const std::string kept =
      "/etc/a was changed by another program: its text is kept in /j/0/foreign\n";
  Put("state/journal/0123456789abcdef/revert.log", kept + "other words\n");
  SetGuard("exit 0");
  const ScriptReply ended = End(UnfinishedEnd::kCommit);
  EXPECT_EQ(ended.out, "commit\n");
  EXPECT_EQ(ended.err, kept);
  const ScriptReply committed =
      Request(BuildCommitRequest("/var/lib/spark-reconcile/journal/0123456789abcdef"));
  EXPECT_EQ(committed.exit_code, 0);
  EXPECT_EQ(committed.err, kept);
  EXPECT_EQ(ListCalls(), "commit\ncommit\n");
}

TEST_F(EndUnfinished, ARevertIsNoCommitWhateverItSays) {
  SetGuard("echo commit");
  const ScriptReply reply = End(UnfinishedEnd::kRevert);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "");
  EXPECT_EQ(reply.err, "commit\n");
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
