#include "reconciler/verify/nccl/run/talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using namespace spark_verify;
using std::chrono::milliseconds;
using testing::AnyOf;
using testing::ElementsAre;

constexpr std::string_view kId = "c0ffee";

// Ranks that are made of the lines they say; time stands still unless it is moved.
class Talk : public testing::Test {
 protected:
  static std::vector<NodeName> Names(int count) {
    std::vector<NodeName> names;
    for (int i = 1; i <= count; ++i) names.push_back("spark-" + std::to_string(i));
    return names;
  }

  void Start(int ranks) {
    talk_.emplace(
        Names(ranks), NcclPatience{},
        [](std::string_view id) -> Result<std::string> {
          if (id == kId) return "192.168.1.21:43321";
          return Fail(
              {.kind = ErrorKind::kVerify, .message = "wanted …, found 172.17.0.1", .hint = "h"});
        },
        now_);
  }

  void Say(std::size_t rank, const std::string& line) { talk_->Hear(rank, line, now_); }
  void Pass(int ms) {
    now_ += milliseconds(ms);
    talk_->Tick(now_);
  }
  void Hello(std::size_t ranks, std::string_view id = kId) {
    for (std::size_t i = 0; i < ranks; ++i) Say(i, HelloLine({.rank = static_cast<int>(i)}));
    Say(0, UniqueIdLine(id));
  }
  void UpToTests(std::size_t ranks) {
    Hello(ranks);
    for (std::size_t i = 0; i < ranks; ++i) Say(i, InitDoneLine(0.5));
    for (std::size_t i = 0; i < ranks; ++i) Say(i, NcclConnectedLine(0.2));
    for (std::size_t i = 0; i < ranks; ++i) std::ignore = talk_->ToSay(i);
  }
  std::string Failed(const NcclFailure& failure) { return FailedLine(failure); }

  // Who is blamed, how and why.
  std::string Blame() {
    const NcclRun run = talk_->Take();
    const auto trouble = TroubleOf(run);
    return trouble
               ? trouble->node + " " + trouble->code + " (" + trouble->phase + "): " + trouble->text
               : "nobody";
  }

  NcclTalk::Clock::time_point now_ = {};
  std::optional<NcclTalk> talk_;
};

TEST_F(Talk, EveryRankIsLedThroughItsPhases) {
  Start(2);
  EXPECT_EQ(talk_->ToSay(0), "");
  Say(0, HelloLine({.rank = 0}));
  Say(1, HelloLine({.rank = 1}));
  EXPECT_EQ(talk_->ToSay(1), "");  // no id yet
  Say(0, UniqueIdLine(kId));
  EXPECT_EQ(talk_->ToSay(0), IdOrder(kId));
  EXPECT_EQ(talk_->ToSay(1), IdOrder(kId));
  Say(1, InitDoneLine(0.5));
  EXPECT_EQ(talk_->ToSay(1), "");  // rank 0 is not so far
  Say(0, InitDoneLine(0.6));
  EXPECT_EQ(talk_->ToSay(0), GoOrder());
  EXPECT_EQ(talk_->ToSay(1), GoOrder());
  for (const std::size_t rank : {0, 1}) {
    Say(rank, NcclConnectedLine(0.2));
    Say(rank, LogLine("NCCL INFO x"));
    Say(rank, ResultLine({.bytes = 8, .busbw = 1}));
    EXPECT_FALSE(talk_->Over(rank));
    Say(rank, NcclEndLine({{"rocep1s0f1", {{"port_xmit_data", 9}}}}));
    EXPECT_TRUE(talk_->Over(rank));
  }
  EXPECT_TRUE(talk_->Over());
  const NcclRun run = talk_->Take();
  EXPECT_TRUE(run.Finished());
  EXPECT_EQ(TroubleOf(run), std::nullopt);
  EXPECT_EQ(run.root, "192.168.1.21:43321");
  EXPECT_DOUBLE_EQ(run.ranks[0].init_s, 0.6);
  EXPECT_EQ(run.ranks[1].results.size(), 1u);
  EXPECT_EQ(run.ranks[1].counters.at("rocep1s0f1").at("port_xmit_data"), 9u);
  EXPECT_EQ(run.ranks[1].log, "NCCL INFO x\n");
}

TEST_F(Talk, AnIdThatLeadsElsewhereReachesNobody) {
  Start(3);
  Hello(3, "bad");
  for (const std::size_t rank : {0, 1, 2}) EXPECT_EQ(talk_->ToSay(rank), AbortOrder());
  for (const std::size_t rank : {0, 1, 2}) Say(rank, AbortedLine(0));
  EXPECT_TRUE(talk_->Over());
  EXPECT_EQ(Blame(), "spark-1 root (start): wanted …, found 172.17.0.1");
}

TEST_F(Talk, TheFirstFailureAbortsAllAndItsRankIsBelieved) {
  Start(3);
  Hello(3);
  for (const std::size_t rank : {0, 1, 2}) std::ignore = talk_->ToSay(rank);
  Say(1,
      Failed({.code = "nccl", .phase = "init", .result = 5, .text = "wanted a known algorithm"}));
  EXPECT_EQ(talk_->ToSay(0), AbortOrder());
  EXPECT_EQ(talk_->ToSay(1), "");
  EXPECT_EQ(talk_->ToSay(2), AbortOrder());
  Say(0, AbortedLine(0.5));
  EXPECT_FALSE(talk_->Over());
  Say(2, AbortedLine(0.5));
  EXPECT_TRUE(talk_->Over());
  EXPECT_EQ(Blame(), "spark-2 nccl (init): wanted a known algorithm");
}

TEST_F(Talk, AKilledRankIsNamedAndNotTheOnesThatFeltIt) {
  Start(2);
  UpToTests(2);
  Say(0, Failed({.code = "async",
                 .phase = "all_reduce",
                 .async = 6,
                 .last_error = "Connection closed by remote peer",
                 .text = "wanted no error"}));
  talk_->Ended(1, NcclFate::kGone, {.message = "spark-verify ended with status 137"}, now_);
  EXPECT_TRUE(talk_->Over());
  EXPECT_EQ(Blame(), "spark-2 gone (the first test): spark-verify ended with status 137");
}

TEST_F(Talk, AStoppedRankIsNamedWithinASecondOfTheOthersDeadline) {
  Start(3);
  UpToTests(3);
  Pass(5000);
  Say(0, Failed({.code = "deadline", .phase = "all_reduce 8 float", .text = "wanted it in 5 s"}));
  Pass(500);
  Say(1, AbortedLine(0.5));
  EXPECT_FALSE(talk_->Over());
  Pass(400);
  EXPECT_TRUE(talk_->Over());
  EXPECT_EQ(
      Blame(),
      "spark-3 silent (the first test): wanted an answer within the deadline, found none, not "
      "even to the word to abort");
}

TEST_F(Talk, RanksThatAllSayNothingAreNotWaitedForForEver) {
  Start(2);
  UpToTests(2);
  Pass(31'000);
  EXPECT_EQ(talk_->ToSay(0), "");
  Pass(1'000);
  EXPECT_EQ(talk_->ToSay(0), AbortOrder());
  Pass(900);
  EXPECT_TRUE(talk_->Over());
  EXPECT_THAT(Blame(), testing::StartsWith("spark-1 silent"));
}

TEST_F(Talk, EveryPhaseHasItsPatience) {
  for (const auto& [phase, ms] :
       {std::pair("start", 20'000), {"id", 20'000}, {"init", 22'000}, {"connect", 17'000}}) {
    Start(2);
    const std::string name = phase;
    if (name == "id") Say(0, HelloLine({})), Say(1, HelloLine({}));
    if (name == "init" || name == "connect") Hello(2);
    if (name == "connect") Say(0, InitDoneLine(1)), Say(1, InitDoneLine(1));
    std::ignore = talk_->ToSay(0);
    Pass(ms - 1);
    EXPECT_EQ(talk_->ToSay(0), "") << name;
    Pass(1);
    EXPECT_EQ(talk_->ToSay(0), AbortOrder()) << name;
  }
}

TEST_F(Talk, AWordThatComesInTimeRenewsThePatience) {
  Start(2);
  UpToTests(2);
  for (int i = 0; i < 5; ++i) {
    Pass(30'000);
    for (const std::size_t rank : {0, 1}) Say(rank, ResultLine({.bytes = 8}));
  }
  EXPECT_EQ(talk_->ToSay(0), "");
}

TEST_F(Talk, ARankThatGoesOnForEverEndsWithTheRunsTime) {
  Start(2);
  UpToTests(2);
  for (int i = 1; i < 20; ++i) {
    Pass(30'000);
    EXPECT_EQ(talk_->ToSay(1), "");
    for (const std::size_t rank : {0, 1}) Say(rank, ResultLine({.bytes = 8}));
  }
  Pass(30'000);
  EXPECT_EQ(talk_->ToSay(0), AbortOrder());
  EXPECT_EQ(talk_->ToSay(1), AbortOrder());
}

TEST_F(Talk, ALogLineRenewsNothing) {
  Start(2);
  UpToTests(2);
  Pass(31'000);
  for (const std::size_t rank : {0, 1}) Say(rank, LogLine("socketPollConnect … retrying"));
  Pass(1'000);
  EXPECT_EQ(talk_->ToSay(0), AbortOrder());
}

TEST_F(Talk, ARefusedRootIsToldByWhatNcclRetried) {
  Start(2);
  Hello(2);
  const NcclFailure late = {.code = "deadline", .phase = "init", .text = "wanted it in 20 s"};
  Say(0, Failed(late));
  Say(1, LogLine("n:1:1 [0] NCCL INFO socketPollConnect: connect to 192.168.1.21<4711> returned "
                 "Connection refused, retrying (9/10) after sleep for 900 msec"));
  Say(1, Failed(late));
  const NcclRun run = talk_->Take();
  const auto trouble = TroubleOf(run);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->node, "spark-2");
  EXPECT_THAT(trouble->evidence,
              ElementsAre("n:1:1 [0] NCCL INFO socketPollConnect: connect to 192.168.1.21<4711> "
                          "returned Connection refused, retrying (9/10) after sleep for 900 msec"));
}

TEST_F(Talk, ARankAbortedWhileItCalledInVainExplainsTheDeadlineOfAnother) {
  Start(2);
  Hello(2);
  Say(0, Failed({.code = "deadline", .phase = "init", .text = "wanted it in 20 s"}));
  Say(1, LogLine("socketPollConnect: connect to 192.168.1.21<4711> returned No route to host, "
                 "retrying (9/34) after sleep for 900 msec"));
  Say(1, AbortedLine(0.5));
  const auto trouble = TroubleOf(talk_->Take());
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, "deadline");
  EXPECT_EQ(trouble->node, "spark-2");
  EXPECT_THAT(trouble->evidence,
              ElementsAre("socketPollConnect: connect to 192.168.1.21<4711> returned No route to "
                          "host, retrying (9/34) after sleep for 900 msec"));
}

TEST_F(Talk, ACallThatWasAnsweredInTheEndExplainsNoLaterDeadline) {
  Start(2);
  Hello(2);
  Say(1, LogLine("socketPollConnect: connect to 192.168.1.21<4711> returned Connection refused, "
                 "retrying (1/34) after sleep for 100 msec"));
  for (const std::size_t rank : {0, 1}) Say(rank, InitDoneLine(0.2));
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, AbortedLine(0.5));
  const auto trouble = TroubleOf(talk_->Take());
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->node, "spark-1");
  EXPECT_THAT(trouble->evidence, testing::IsEmpty());
}

TEST_F(Talk, ARankThatGaveUpCallingIsNoVictim) {
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
  Say(1, AbortedLine(0));
  EXPECT_THAT(Blame(), testing::StartsWith("spark-3 nccl"));
}

TEST_F(Talk, VariablesThatDifferExplainADeadline) {
  Start(2);
  Say(0, HelloLine({.env = {{"NCCL_PROTO", "LL"}, {"NCCL_IB_HCA", "=a"}, {"NCCL_DEBUG", "INFO"}}}));
  Say(1, HelloLine({.env = {{"NCCL_IB_HCA", "=b"}, {"NCCL_DEBUG", "INFO"}}}));
  Say(0, UniqueIdLine(kId));
  Say(0, Failed({.code = "deadline", .phase = "connect", .text = "wanted it in 15 s"}));
  Say(1, AbortedLine(0.5));
  const auto trouble = TroubleOf(talk_->Take());
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, "env-differs");
  EXPECT_THAT(trouble->evidence, ElementsAre("NCCL_PROTO: LL on spark-1, not set on spark-2"));
}

TEST_F(Talk, ALostConnectionIsNamed) {
  Start(2);
  UpToTests(2);
  talk_->Ended(1, NcclFate::kLost, {.message = "spark-2: the connection broke", .hint = "h"}, now_);
  Say(0, AbortedLine(0.1));
  EXPECT_EQ(Blame(), "spark-2 lost (the first test): spark-2: the connection broke");
}

TEST_F(Talk, WhatARankSaysAfterItsEndChangesNothing) {
  Start(2);
  UpToTests(2);
  Say(1, Failed({.code = "cuda", .phase = "x", .text = "first"}));
  talk_->Ended(1, NcclFate::kGone, {.message = "ended with status 1"}, now_);
  Say(1, Failed({.code = "nccl", .phase = "y", .text = "second"}));
  Say(0, AbortedLine(0));
  EXPECT_EQ(Blame(), "spark-2 cuda (x): first");
}

TEST_F(Talk, LinesOfLibrariesAndNonsenseAreKeptAsLog) {
  Start(2);
  for (const char* line :
       {"", "NCCL version 2.28.9+cuda13.0", "{}", "{\"event\":\"dance\"}", "\xff"}) {
    Say(0, line);
  }
  Say(1, UniqueIdLine(kId));  // not its to say
  Say(0, InitDoneLine(1));    // too early
  Hello(2);
  EXPECT_EQ(talk_->ToSay(1), IdOrder(kId));
  EXPECT_THAT(talk_->Take().ranks[0].log, testing::HasSubstr("NCCL version 2.28.9"));
}

TEST_F(Talk, TextOfANodeIsMadePrintable) {
  Start(2);
  UpToTests(2);
  Say(0, Failed({.code = "nccl", .phase = "x", .last_error = "\x1b[2J", .text = "a\x1b[1mb"}));
  Say(1, AbortedLine(0));
  const auto trouble = TroubleOf(talk_->Take());
  EXPECT_EQ(trouble->text, "a\\x1b[1mb");
  EXPECT_THAT(trouble->evidence, ElementsAre("\\x1b[2J"));
}

}  // namespace
}  // namespace reconciler
