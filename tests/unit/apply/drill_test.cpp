// A node whose answers make no sense ends a drill and nothing else. What is said of one that was
// not seen to revert.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>

#include "reconciler/apply/drill.h"
#include "reconciler/base/text.h"
#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

// `state`: what the node answers when the drill reads what it is about to change.
DrillReport RunDrill(const std::string& state) {
  FakeNode node = SessionNode();
  node.shell = [session = node.shell, state](const std::string& script) {
    const bool reads = script.find("\nprint_value net.") != std::string::npos;
    return reads ? ScriptReply{.out = state} : session(script);
  };
  FakeNetwork network({{"spark-1", node}});
  NodePool pool(network.Dialer());
  return Drill({.name = "spark-1", .id = 1}, pool, {}, "test");
}

// What a node does last before it answers no more.
enum class LastAnswer { kNone, kStep, kReadingOfTheTrial, kState };

// A node that carries out all that a drill requests of it, and shows `state` as its apply's when
// the controller has vanished. `note`: called at each answer.
FakeNode TrialNode(const std::string& state, const std::function<void(LastAnswer)>& note) {
  FakeNode node = SessionNode([note](const std::string& request, const std::string& nonce) {
    ScriptReply reply;
    for (const std::string& line : SplitLines(request)) {
      if (!line.starts_with("run_step ") && !line.starts_with("try_step ")) continue;
      note(LastAnswer::kStep);
      const std::string step = fmt::format("\n{0} step\n\n{0} exit 0\n", nonce);
      reply.out += step;
      reply.err += step;
    }
    return reply;
  });
  auto readings = std::make_shared<int>(0);
  node.shell = [session = node.shell, state, note, readings](const std::string& script) {
    if (script.starts_with("cat ")) {
      note(LastAnswer::kState);
      return ScriptReply{.out = state + "\n"};
    }
    if (script.find("\nprint_value net.") == std::string::npos) return session(script);
    if (++*readings == 2) note(LastAnswer::kReadingOfTheTrial);
    return ScriptReply{.out = fmt::format("net.ipv4.conf.lo.tag {}\n", *readings)};
  };
  return node;
}

// Of a node that is watched once.
DrillReport WatchOnce(const std::string& state, LastAnswer last) {
  FakeNetwork network({});
  network.SetNode("spark-1", TrialNode(state, [&network, last](LastAnswer now) {
                    if (now != last) return;
                    FakeNode gone{.refuse_dial = "no answer within 10 s"};
                    gone.drop_after = 0;
                    network.SetNode("spark-1", gone);
                  }));
  NodePool pool(network.Dialer());
  const GuardTimes times;
  return Drill({.name = "spark-1", .id = 1}, pool, times, "test",
               -std::chrono::seconds(times.revert_after));
}

void ExpectNotReached(const DrillReport& report, const std::string& why) {
  EXPECT_TRUE(report.began);
  EXPECT_FALSE(report.reverted);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors.front().kind, ErrorKind::kTransport);
  EXPECT_THAT(
      FormatErrors(report.errors),
      testing::MatchesRegex(
          "spark-1: " + why +
          "; not reached [0-9]+ s after the last sign of life, so "
          "whether it reverted the trial is not known\n"
          "  hint: `cat /var/lib/spark-reconcile/journal/[^ ]+/state` there prints 'reverted' "
          "where "
          "it did. Where it prints anything else 0 s after the last sign of life, run `sh "
          "/var/lib/spark-reconcile/journal/[^ ]+/guard revert` there, and do not trust applies to "
          "this node\n"));
}

TEST(Drill, ANodeThatIsNotReachedAtTheEndIsNotSaidToKeepTheTrial) {
  ExpectNotReached(WatchOnce("armed", LastAnswer::kReadingOfTheTrial), "the connection was lost");
}

TEST(Drill, ANodeThatIsLostRightBehindTheTrialIsNotSaidToKeepItEither) {
  ExpectNotReached(WatchOnce("armed", LastAnswer::kStep), "no answer within 10 s");
}

TEST(Drill, ANodeThatIsLostAfterItsRevertIsSaidToHaveReverted) {
  const DrillReport report = WatchOnce("reverted", LastAnswer::kState);
  EXPECT_TRUE(report.reverted);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors.front().kind, ErrorKind::kTransport);
  EXPECT_THAT(FormatErrors(report.errors),
              testing::MatchesRegex(
                  "spark-1: the connection was lost; it reverted the trial [0-9]+ s after the last "
                  "sign of life, but whether all is as before is not known\n"
                  "  hint: run the drill again once the node is reached\n"));
}

TEST(Drill, ANodeThatAnswersAndDidNotRevertIsNotTrusted) {
  const DrillReport report = WatchOnce("armed", LastAnswer::kNone);
  EXPECT_FALSE(report.reverted);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors.front().kind, ErrorKind::kApply);
  EXPECT_THAT(FormatErrors(report.errors),
              testing::MatchesRegex(
                  "spark-1: did not revert the trial within [0-9]+ s: run `sh "
                  "/var/lib/spark-reconcile/journal/[^ ]+/guard revert` there, and do not trust "
                  "applies to this node\n"));
}

TEST(Drill, ANodeThatShowsNoStateIsNamed) {
  for (const std::string& state : {std::string(), std::string("net.ipv4.conf.lo.tag 0\0\n", 24)}) {
    EXPECT_EQ(FormatErrors(RunDrill(state).errors), "spark-1: its state could not be read\n");
  }
}

}  // namespace
}  // namespace reconciler
