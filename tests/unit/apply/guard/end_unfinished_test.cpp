// What is said when an earlier apply is ended, or cannot be.
#include <gtest/gtest.h>

#include "reconciler/apply/guard/guard.h"
#include "reconciler/apply/guard/guard_script.h"
#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

constexpr const char* kApply = "0123456789abcdef";

class EndUnfinishedApplies : public testing::Test {
 protected:
  // `listing`: how spark-1 answers when its journals are listed; `end`: when one is ended.
  Result<std::vector<std::string>> End(const ScriptReply& listing, const ScriptReply& end = {}) {
    EndedApplies ended = EndAll(listing, end);
    if (ended.error) return Fail(std::move(*ended.error));
    return std::move(ended.lines);
  }
  EndedApplies EndAll(const ScriptReply& listing, const ScriptReply& end) {
    const auto answer = [listing, end, fails_of = fails_](const std::string& request,
                                                          const std::string&) {
      if (request.find(BuildUnfinishedRequest()) != std::string::npos) return listing;
      if (request.find("_unfinished") == std::string::npos) return ScriptReply();
      const bool fails = !fails_of.empty() && request.find(fails_of) != std::string::npos;
      return fails ? ScriptReply{.exit_code = 1, .err = "cannot restore /etc/a\n"} : end;
    };
    FakeNode behavior = SessionNode(answer);
    if (is_silent_) {
      behavior.shell = [shell = behavior.shell](const std::string& script) {
        const std::string request = BuildEndUnfinishedRequest(kApply, UnfinishedEnd::kCommit);
        return script.find(request) == std::string::npos ? shell(script) : ScriptReply();
      };
    }
    FakeNetwork network({{"spark-1", behavior}});
    NodePool pool(network.Dialer());
    const NodeSpec node{.name = "spark-1", .id = 1};
    auto sessions = Sessions::OpenAll({&node}, pool, "test");
    if (!sessions) return {.error = sessions.error()};
    return reconciler::EndUnfinishedApplies({&node}, /*whole=*/true, **sessions);
  }

  bool is_silent_ = false;  // when one is ended
  std::string fails_ = {};  // the apply that cannot be ended

  static ScriptReply List(const std::string& state) {
    return {.out = std::string(kApply) + " " + state + "\n"};
  }
};

TEST_F(EndUnfinishedApplies, WithoutOneThereIsNothingToSay) {
  EXPECT_EQ(End({}).value(), std::vector<std::string>());
  EXPECT_EQ(End(List("finished")).value(), std::vector<std::string>());
}

TEST_F(EndUnfinishedApplies, WhatBecameOfItIsSaid) {
  EXPECT_EQ(End(List("none")).value(),
            std::vector<std::string>{
                "spark-1: an earlier apply was cut off and is reverted now: 0123456789abcdef"});
  EXPECT_EQ(End(List("commit"), {.out = "commit\n"}).value(),
            std::vector<std::string>{
                "spark-1: an earlier apply was cut off and is completed now: 0123456789abcdef"});
}

TEST_F(EndUnfinishedApplies, WhatItsRevertKeptElsewhereIsNamedBehindIt) {
  const std::string kept =
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign";
  EXPECT_EQ(End(List("none"), {.err = kept + "\nreverted\n"}).value(),
            (std::vector<std::string>{
                "spark-1: an earlier apply was cut off and is reverted now: 0123456789abcdef",
                "note: spark-1: " + kept}));
}

TEST_F(EndUnfinishedApplies, WhatItsCommitKeptElsewhereIsNamedBehindIt) {
  const std::string kept =
      "/etc/sysctl.d/a.conf was changed by another program: its text is kept in /j/0/foreign";
  EXPECT_EQ(End(List("commit"), {.out = "commit\n", .err = kept + "\n"}).value(),
            (std::vector<std::string>{
                "spark-1: an earlier apply was cut off and is completed now: 0123456789abcdef",
                "note: spark-1: " + kept}));
}

TEST_F(EndUnfinishedApplies, JournalsThatCannotBeReadAreAnError) {
  const auto ended = End({.exit_code = 2, .err = "sh: I/O error\n"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(FormatErrors({ended.error()}),
            "spark-1: the journal could not be read: exit 2: sh: I/O error\n");
}

TEST_F(EndUnfinishedApplies, AJournalWhoseNameIsNoneOfOursIsAnError) {
  for (const auto& [name, shown] :
       {std::pair<std::string, std::string>(std::string("0123\0", 5), "0123\\x00"),
        {"../0123", "../0123"}}) {
    const auto ended = End({.out = name + " revert\n"});
    ASSERT_FALSE(ended) << name;
    EXPECT_EQ(FormatErrors({ended.error()}),
              "spark-1: the journal could not be read: '" + shown + "' is no name of an apply\n");
  }
}

TEST_F(EndUnfinishedApplies, OneThatCannotBeEndedNamesItsGuard) {
  const auto ended = End(List("revert"), {.exit_code = 1, .err = "cannot restore /etc/hosts\n"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(FormatErrors({ended.error()}),
            "spark-1: the apply 0123456789abcdef could not be ended: exit 1: cannot restore "
            "/etc/hosts\n"
            "  hint: run `sh guard revert` in /var/lib/spark-reconcile/journal/0123456789abcdef on "
            "the node and read what it says\n");
}

TEST_F(EndUnfinishedApplies, WhatCouldNotBeRevertedIsNamedAndNotTheStateBehindIt) {
  const auto ended = End(List("revert"), {.exit_code = 1,
                                          .err = "exit 1: as  timeout -k 2 30 ip link\n"
                                                 "cannot restore /etc/hosts\nrevert-failed\n"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message,
            "the apply 0123456789abcdef could not be ended: exit 1: cannot restore /etc/hosts");
}

// It is not listed again.
TEST_F(EndUnfinishedApplies, WhatWasEndedIsSaidAlsoWhereAnotherFails) {
  const std::string kept =
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign";
  fails_ = "fedcba9876543210";
  const EndedApplies ended =
      EndAll({.out = std::string(kApply) + " revert\n" + fails_ + " revert\n"},
             {.err = kept + "\nreverted\n"});
  EXPECT_EQ(ended.lines,
            (std::vector<std::string>{
                "spark-1: an earlier apply was cut off and is reverted now: 0123456789abcdef",
                "note: spark-1: " + kept}));
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->message,
            "the apply fedcba9876543210 could not be ended: exit 1: cannot restore /etc/a");
}

TEST_F(EndUnfinishedApplies, OneThatIsNotEndedInTimeIsNamed) {
  is_silent_ = true;
  const auto ended = End(List("commit"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(
      FormatErrors({ended.error()}),
      "spark-1: the apply 0123456789abcdef could not be ended: spark-1: the time limit passed\n"
      "  hint: `pgrep -af /var/lib/spark-reconcile/journal/0123456789abcdef` on the node lists "
      "what runs of it; apply tries again\n");
}

}  // namespace
}  // namespace reconciler
