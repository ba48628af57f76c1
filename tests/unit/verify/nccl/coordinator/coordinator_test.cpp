#include "reconciler/verify/nccl/coordinator/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/nccl/judge/run_error.h"

namespace reconciler {
namespace {

using namespace spark_verify;
using std::chrono::milliseconds;
using testing::AnyOf;
using testing::ElementsAre;

constexpr std::string_view kId = "c0ffee";

// Ranks that are made of the lines they say; time stands still unless it is moved.
class Coordinator : public testing::Test {
 protected:
  static std::vector<NodeName> Names(int count) {
    std::vector<NodeName> names;
    for (int i = 1; i <= count; ++i) names.push_back("spark-" + std::to_string(i));
    return names;
  }

  void Start(int ranks) {
    coordinator_.emplace(
        Names(ranks), NcclLimits{},
        [](std::string_view id) -> Result<std::string> {
          if (id == kId) return "192.168.1.21:43321";
          return Fail(
              {.kind = ErrorKind::kVerify, .message = "wanted …, found 172.17.0.1", .hint = "h"});
        },
        now_);
  }

  void Say(std::size_t rank, const std::string& line) { coordinator_->Receive(rank, line, now_); }
  void Pass(int ms) {
    now_ += milliseconds(ms);
    coordinator_->Tick(now_);
  }
  void Hello(std::size_t ranks, std::string_view id = kId) {
    for (std::size_t i = 0; i < ranks; ++i) Say(i, FormatHello({.rank = static_cast<int>(i)}));
    Say(0, FormatUniqueId(id));
  }
  void UpToTests(std::size_t ranks) {
    Hello(ranks);
    for (std::size_t i = 0; i < ranks; ++i) Say(i, FormatInitDone(0.5));
    for (std::size_t i = 0; i < ranks; ++i) Say(i, FormatNcclConnected(0.2));
    for (std::size_t i = 0; i < ranks; ++i) std::ignore = coordinator_->PopMessage(i);
  }
  std::string Failed(const NcclFailure& failure) { return FormatFailed(failure); }

  // Who is blamed, how and why.
  std::string Blame() {
    const NcclRun run = coordinator_->TakeRun();
    const auto run_error = FindRunError(run);
    return run_error ? run_error->node + " " + run_error->code + " (" + run_error->phase +
                           "): " + run_error->text
                     : "nobody";
  }

  NcclCoordinator::Clock::time_point now_ = {};
  std::optional<NcclCoordinator> coordinator_;
};

TEST_F(Coordinator, EveryRankIsLedThroughItsPhases) {
  Start(2);
  EXPECT_EQ(coordinator_->PopMessage(0), "");
  Say(0, FormatHello({.rank = 0}));
  Say(1, FormatHello({.rank = 1}));
  EXPECT_EQ(coordinator_->PopMessage(1), "");  // no id yet
  Say(0, FormatUniqueId(kId));
  EXPECT_EQ(coordinator_->PopMessage(0), FormatIdOrder(kId));
  EXPECT_EQ(coordinator_->PopMessage(1), FormatIdOrder(kId));
  Say(1, FormatInitDone(0.5));
  EXPECT_EQ(coordinator_->PopMessage(1), "");  // rank 0 is not so far
  Say(0, FormatInitDone(0.6));
  EXPECT_EQ(coordinator_->PopMessage(0), FormatGoOrder());
  EXPECT_EQ(coordinator_->PopMessage(1), FormatGoOrder());
  for (const std::size_t rank : {0, 1}) {
    Say(rank, FormatNcclConnected(0.2));
    Say(rank, FormatLog("NCCL INFO x"));
    Say(rank, FormatResult({.bytes = 8, .busbw = 1}));
    EXPECT_FALSE(coordinator_->IsOver(rank));
    Say(rank, FormatNcclEnd({{"rocep1s0f1", {{"port_xmit_data", 9}}}}));
    EXPECT_TRUE(coordinator_->IsOver(rank));
  }
  EXPECT_TRUE(coordinator_->IsOver());
  const NcclRun run = coordinator_->TakeRun();
  EXPECT_TRUE(run.IsFinished());
  EXPECT_EQ(FindRunError(run), std::nullopt);
  EXPECT_EQ(run.root, "192.168.1.21:43321");
  EXPECT_DOUBLE_EQ(run.ranks[0].init_s, 0.6);
  EXPECT_EQ(run.ranks[1].results.size(), 1u);
  EXPECT_EQ(run.ranks[1].counters.at("rocep1s0f1").at("port_xmit_data"), 9u);
  EXPECT_EQ(run.ranks[1].log, "NCCL INFO x\n");
}

TEST_F(Coordinator, AnIdThatLeadsElsewhereReachesNoNode) {
  Start(3);
  Hello(3, "bad");
  for (const std::size_t rank : {0, 1, 2})
    EXPECT_EQ(coordinator_->PopMessage(rank), FormatAbortOrder());
  for (const std::size_t rank : {0, 1, 2}) Say(rank, FormatAborted(0));
  EXPECT_TRUE(coordinator_->IsOver());
  EXPECT_EQ(Blame(), "spark-1 root (start): wanted …, found 172.17.0.1");
}

TEST_F(Coordinator, TheFirstFailureAbortsAllAndItsRankIsBelieved) {
  Start(3);
  Hello(3);
  for (const std::size_t rank : {0, 1, 2}) std::ignore = coordinator_->PopMessage(rank);
  Say(1,
      Failed({.code = "nccl", .phase = "init", .result = 5, .text = "wanted a known algorithm"}));
  EXPECT_EQ(coordinator_->PopMessage(0), FormatAbortOrder());
  EXPECT_EQ(coordinator_->PopMessage(1), "");
  EXPECT_EQ(coordinator_->PopMessage(2), FormatAbortOrder());
  Say(0, FormatAborted(0.5));
  EXPECT_FALSE(coordinator_->IsOver());
  Say(2, FormatAborted(0.5));
  EXPECT_TRUE(coordinator_->IsOver());
  EXPECT_EQ(Blame(), "spark-2 nccl (init): wanted a known algorithm");
}

TEST_F(Coordinator, AKilledRankIsNamedAndNotTheOnesThatFeltIt) {
  Start(2);
  UpToTests(2);
  Say(0, Failed({.code = "async",
                 .phase = "all_reduce",
                 .async = 6,
                 .last_error = "Connection closed by remote peer",
                 .text = "wanted no error"}));
  coordinator_->RecordEnd(1, NcclFate::kGone, {.message = "spark-verify ended with status 137"},
                          now_);
  EXPECT_TRUE(coordinator_->IsOver());
  EXPECT_EQ(Blame(), "spark-2 gone (the first test): spark-verify ended with status 137");
}

TEST_F(Coordinator, AStoppedRankIsNamedWithinASecondOfTheOthersDeadline) {
  Start(3);
  UpToTests(3);
  Pass(5000);
  Say(0, Failed({.code = "deadline", .phase = "all_reduce 8 float", .text = "wanted it in 5 s"}));
  Pass(500);
  Say(1, FormatAborted(0.5));
  EXPECT_FALSE(coordinator_->IsOver());
  Pass(400);
  EXPECT_TRUE(coordinator_->IsOver());
  EXPECT_EQ(Blame(),
            "spark-3 silent (the first test): wanted an answer within the deadline, found none, "
            "not even to the order to abort");
}

TEST_F(Coordinator, RanksThatAllSayNothingAreNotWaitedForForEver) {
  Start(2);
  UpToTests(2);
  Pass(31'000);
  EXPECT_EQ(coordinator_->PopMessage(0), "");
  Pass(1'000);
  EXPECT_EQ(coordinator_->PopMessage(0), FormatAbortOrder());
  Pass(900);
  EXPECT_TRUE(coordinator_->IsOver());
  EXPECT_THAT(Blame(), testing::StartsWith("spark-1 silent"));
}

TEST_F(Coordinator, EveryPhaseHasItsPatience) {
  for (const auto& [phase, ms] :
       {std::pair("start", 20'000), {"id", 20'000}, {"init", 22'000}, {"connect", 17'000}}) {
    Start(2);
    const std::string name = phase;
    if (name == "id") Say(0, FormatHello({})), Say(1, FormatHello({}));
    if (name == "init" || name == "connect") Hello(2);
    if (name == "connect") Say(0, FormatInitDone(1)), Say(1, FormatInitDone(1));
    std::ignore = coordinator_->PopMessage(0);
    Pass(ms - 1);
    EXPECT_EQ(coordinator_->PopMessage(0), "") << name;
    Pass(1);
    EXPECT_EQ(coordinator_->PopMessage(0), FormatAbortOrder()) << name;
  }
}

TEST_F(Coordinator, AWordThatComesInTimeRenewsThePatience) {
  Start(2);
  UpToTests(2);
  for (int i = 0; i < 5; ++i) {
    Pass(30'000);
    for (const std::size_t rank : {0, 1}) Say(rank, FormatResult({.bytes = 8}));
  }
  EXPECT_EQ(coordinator_->PopMessage(0), "");
}

TEST_F(Coordinator, ARankThatGoesOnForEverEndsWithTheRunsTime) {
  Start(2);
  UpToTests(2);
  for (int i = 1; i < 20; ++i) {
    Pass(30'000);
    EXPECT_EQ(coordinator_->PopMessage(1), "");
    for (const std::size_t rank : {0, 1}) Say(rank, FormatResult({.bytes = 8}));
  }
  Pass(30'000);
  EXPECT_EQ(coordinator_->PopMessage(0), FormatAbortOrder());
  EXPECT_EQ(coordinator_->PopMessage(1), FormatAbortOrder());
}

TEST_F(Coordinator, ALogLineRenewsNothing) {
  Start(2);
  UpToTests(2);
  Pass(31'000);
  for (const std::size_t rank : {0, 1}) Say(rank, FormatLog("socketPollConnect … retrying"));
  Pass(1'000);
  EXPECT_EQ(coordinator_->PopMessage(0), FormatAbortOrder());
}

TEST_F(Coordinator, ARefusedRootIsReportedByWhatNcclRetried) {
  Start(2);
  Hello(2);
  const NcclFailure late = {.code = "deadline", .phase = "init", .text = "wanted it in 20 s"};
  Say(0, Failed(late));
  Say(1, FormatLog("n:1:1 [0] NCCL INFO socketPollConnect: connect to 192.168.1.21<4711> returned "
                   "Connection refused, retrying (9/10) after sleep for 900 msec"));
  Say(1, Failed(late));
  const NcclRun run = coordinator_->TakeRun();
  const auto run_error = FindRunError(run);
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->node, "spark-2");
  EXPECT_THAT(run_error->evidence,
              ElementsAre("n:1:1 [0] NCCL INFO socketPollConnect: connect to 192.168.1.21<4711> "
                          "returned Connection refused, retrying (9/10) after sleep for 900 msec"));
}

TEST_F(Coordinator, ARankAbortedWhileItCalledInVainExplainsTheDeadlineOfAnother) {
  Start(2);
  Hello(2);
  Say(0, Failed({.code = "deadline", .phase = "init", .text = "wanted it in 20 s"}));
  Say(1, FormatLog("socketPollConnect: connect to 192.168.1.21<4711> returned No route to host, "
                   "retrying (9/34) after sleep for 900 msec"));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "deadline");
  EXPECT_EQ(run_error->node, "spark-2");
  EXPECT_THAT(run_error->evidence,
              ElementsAre("socketPollConnect: connect to 192.168.1.21<4711> returned No route to "
                          "host, retrying (9/34) after sleep for 900 msec"));
}

TEST_F(Coordinator, ACallThatWasAnsweredInTheEndExplainsNoLaterDeadline) {
  Start(2);
  Hello(2);
  Say(1, FormatLog("socketPollConnect: connect to 192.168.1.21<4711> returned Connection refused, "
                   "retrying (1/34) after sleep for 100 msec"));
  for (const std::size_t rank : {0, 1}) Say(rank, FormatInitDone(0.2));
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->node, "spark-1");
  EXPECT_THAT(run_error->evidence, testing::IsEmpty());
}

TEST_F(Coordinator, ARankThatGaveUpCallingIsNoVictim) {
  Start(3);
  UpToTests(3);
  Say(0, Failed({.code = "async",
                 .phase = "init",
                 .async = 6,
                 .last_error = "Connection closed by remote peer",
                 .text = "wanted no error"}));
  Say(2,
      Failed({.code = "nccl",
              .phase = "init",
              .async = 6,
              .text = "socketPollConnect: connect to 192.168.1.21<1> returned Connection refused, "
                      "exceeded error retry count"}));
  Say(1, FormatAborted(0));
  EXPECT_THAT(Blame(), testing::StartsWith("spark-3 nccl"));
}

TEST_F(Coordinator, VariablesThatDifferExplainADeadline) {
  Start(2);
  Say(0,
      FormatHello({.env = {{"NCCL_PROTO", "LL"}, {"NCCL_IB_HCA", "=a"}, {"NCCL_DEBUG", "INFO"}}}));
  Say(1, FormatHello({.env = {{"NCCL_IB_HCA", "=b"}, {"NCCL_DEBUG", "INFO"}}}));
  Say(0, FormatUniqueId(kId));
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "env-differs");
  EXPECT_THAT(run_error->evidence, ElementsAre("NCCL_PROTO: LL on spark-1, not set on spark-2"));
}

TEST_F(Coordinator, ALostConnectionIsNamed) {
  Start(2);
  UpToTests(2);
  coordinator_->RecordEnd(1, NcclFate::kLost,
                          {.message = "spark-2: the connection broke", .hint = "h"}, now_);
  Say(0, FormatAborted(0.1));
  EXPECT_EQ(Blame(), "spark-2 lost (the first test): spark-2: the connection broke");
}

TEST_F(Coordinator, WhatARankSaysAfterItsEndChangesNothing) {
  Start(2);
  UpToTests(2);
  Say(1, Failed({.code = "cuda", .phase = "x", .text = "first"}));
  coordinator_->RecordEnd(1, NcclFate::kGone, {.message = "ended with status 1"}, now_);
  Say(1, Failed({.code = "nccl", .phase = "y", .text = "second"}));
  Say(0, FormatAborted(0));
  EXPECT_EQ(Blame(), "spark-2 cuda (x): first");
}

TEST_F(Coordinator, LinesOfLibrariesAndNonsenseAreKeptAsLog) {
  Start(2);
  for (const char* line :
       {"", "NCCL version 2.28.9+cuda13.0", "{}", "{\"event\":\"dance\"}", "\xff"}) {
    Say(0, line);
  }
  Say(1, FormatUniqueId(kId));  // not its to say
  Say(0, FormatInitDone(1));    // too early
  Hello(2);
  EXPECT_EQ(coordinator_->PopMessage(1), FormatIdOrder(kId));
  EXPECT_THAT(coordinator_->TakeRun().ranks[0].log, testing::HasSubstr("NCCL version 2.28.9"));
}

TEST_F(Coordinator, TextOfANodeIsMadePrintable) {
  Start(2);
  UpToTests(2);
  Say(0,
      Failed({.code = "nccl", .phase = "x\x1b[3m", .last_error = "\x1b[2J", .text = "a\x1b[1mb"}));
  Say(1, FormatAborted(0));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  EXPECT_EQ(run_error->phase, "x\\x1b[3m");
  EXPECT_EQ(run_error->text, "a\\x1b[1mb");
  EXPECT_THAT(run_error->evidence, ElementsAre("\\x1b[2J"));
}

constexpr std::string_view kInitComplete = "n:1:1 [0] NCCL INFO comm 0x1 rank 0 - Init COMPLETE";

TEST_F(Coordinator, AVariableOfAFileOfOneNodeExplainsADeadline) {
  Start(2);
  Hello(2);
  for (const std::size_t rank : {0, 1}) {
    if (rank == 0) Say(rank, FormatLog("n:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL"));
    Say(rank, FormatLog(std::string(kInitComplete)));
    Say(rank, FormatInitDone(0.2));
  }
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "env-differs");
  EXPECT_THAT(run_error->evidence,
              ElementsAre("NCCL_PROTO: LL on spark-1 (a file nccl.conf), not set on spark-2"));
}

TEST_F(Coordinator, TheSameValueOfAnEnvironmentAndOfAFileIsNoDifference) {
  Start(2);
  Say(0, FormatHello({.env = {{"NCCL_PROTO", "LL"}}}));
  Say(1, FormatHello({}));
  Say(0, FormatUniqueId(kId));
  Say(1, FormatLog("n:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL"));
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "deadline");
}

TEST_F(Coordinator, AVariableThatAnotherRankHadNoTimeToReadIsNoDifference) {
  Start(2);
  Hello(2);
  Say(0, FormatLog("n:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL"));
  Say(0, FormatLog(std::string(kInitComplete)));
  Say(0, FormatLog("n:1:1 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22."));
  Say(0, Failed({.code = "deadline", .phase = "init", .text = "wanted it in 20 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "deadline");
}

TEST_F(Coordinator, AnAttemptThatWasRepeatedBeforeTheTestsExplainsNoneOfThem) {
  Start(2);
  UpToTests(2);
  Say(0, FormatLog("ibv_modify_qp failed with 110 Connection timed out, retrying 1/4"));
  Say(0, FormatResult({.bytes = 8}));
  Say(0, Failed({.code = "deadline", .phase = "all_reduce", .text = "wanted it in 30 s"}));
  Say(1, FormatAborted(0.5));
  const auto run_error = FindRunError(coordinator_->TakeRun());
  ASSERT_TRUE(run_error);
  EXPECT_THAT(run_error->evidence, testing::IsEmpty());
}

}  // namespace
}  // namespace reconciler
