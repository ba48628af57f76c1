#include "reconciler/verify/nccl/run/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

using spark_verify::NcclOptions;
using testing::ElementsAre;
using testing::IsEmpty;

// Runs that are made of what the test says of each.
class Attempts : public testing::Test {
 protected:
  // Bus bandwidth of the run over those nodes, or of the Nth run of all.
  using Speed = std::function<double(const std::vector<NodeName>&, int number)>;

  explicit Attempts(int nodes = 3) : scenario_(test::HealthyNccl(nodes)) {}

  NcclJudgement Go(const Speed& speed) {
    return Attempt(
        {.cluster = scenario_.cluster,
         .fabric = scenario_.fabric,
         .facts = scenario_.facts,
         .section = section_,
         .options = [](std::uint64_t size) { return NcclOptions{.sizes = {{.bytes = size}}}; },
         .run =
             [&](const std::vector<NodeName>& nodes, const NcclOptions& options) {
               const std::lock_guard lock(mutex_);
               ran_.push_back(nodes.size());
               return MakeRun(nodes, options, speed);
             }});
  }

  NcclRun MakeRun(const std::vector<NodeName>& nodes, const NcclOptions& options,
                  const Speed& speed) {
    if (memory_ > 0 && options.sizes.back().bytes > memory_) return Refused(nodes);
    const double busbw = speed(nodes, static_cast<int>(ran_.size()));
    NcclRun run = scenario_.run;
    std::erase_if(run.ranks, [&](const NcclRank& rank) {
      return std::find(nodes.begin(), nodes.end(), rank.node) == nodes.end();
    });
    for (NcclRank& rank : run.ranks) {
      rank.results = {test::MakeResult(busbw, options.sizes.back().bytes,
                                       static_cast<int>(nodes.size()),
                                       scenario_.fabric.ports.at(rank.node))};
      if (busy_ && rank.node == run.ranks.front().node) {
        rank.fate = NcclFate::kFailed;
        rank.failure = {.code = "busy", .text = "wanted the GPU to itself"};
      }
      if (busbw > 0) continue;
      rank.fate = rank.node == "spark-2" ? NcclFate::kFailed : NcclFate::kAborted;
      rank.failure = {.code = "deadline", .phase = "init", .text = "wanted it in 20 s"};
    }
    return run;
  }

  NcclRun Refused(const std::vector<NodeName>& nodes) const {
    NcclRun run = scenario_.run;
    for (NcclRank& rank : run.ranks) {
      rank.fate = NcclFate::kFailed;
      rank.failure = {.code = "memory", .text = "wanted more"};
      rank.hello->max_bytes = memory_ + 5;
    }
    if (late_) {
      run.ranks.back().fate = NcclFate::kSilent;
      run.ranks.back().hello.reset();
    }
    EXPECT_EQ(nodes.size(), run.ranks.size());
    return run;
  }

  static std::vector<std::string> Codes(const NcclJudgement& judged) {
    std::vector<std::string> codes;
    for (const Finding& finding : judged.findings) codes.push_back(finding.code);
    return codes;
  }

  test::NcclScenario scenario_;
  VerifySection section_ = {};
  std::uint64_t memory_ = 0;
  bool late_ = false;  // the last rank has not spoken yet when the others refuse
  bool busy_ = false;  // the run that is made now is refused
  std::mutex mutex_ = {};
  std::vector<std::size_t> ran_ = {};  // number of ranks of each run
};

TEST_F(Attempts, AGoodRunIsTheOnlyOne) {
  EXPECT_THAT(Codes(Go([](const auto&, int) { return 21.5; })), IsEmpty());
  EXPECT_THAT(ran_, ElementsAre(3));
}

TEST_F(Attempts, AWarningIsNoReasonForAnotherRun) {
  EXPECT_THAT(Codes(Go([](const auto&, int) { return 16.0; })), ElementsAre("nccl-slow"));
  EXPECT_THAT(ran_, ElementsAre(3));
}

TEST_F(Attempts, ASecondRunThatIsGoodIsReportedAsFlaky) {
  const NcclJudgement judged = Go([](const auto&, int number) { return number == 1 ? 0 : 21.5; });
  EXPECT_THAT(Codes(judged), ElementsAre("flaky"));
  EXPECT_EQ(judged.findings[0].outcome, Outcome::kWarn);
  EXPECT_EQ(judged.findings[0].measured, "the first of two runs: spark-2: wanted it in 20 s");
  EXPECT_THAT(ran_, ElementsAre(3, 3));
}

TEST_F(Attempts, ASecondRunThatIsRefusedDoesNotHideWhatTheFirstSaw) {
  const NcclJudgement judged = Go([this](const auto&, int number) {
    busy_ = number == 2;
    return 9.0;
  });
  EXPECT_THAT(Codes(judged), ElementsAre("nccl-slow"));
  EXPECT_TRUE(judged.Failed());
  EXPECT_THAT(ran_, ElementsAre(3, 3));
}

TEST_F(Attempts, APairThatIsRefusedIsNotCalledGood) {
  const NcclJudgement judged = Go([this](const std::vector<NodeName>& nodes, int) {
    busy_ = nodes.size() == 2;
    return 9.0;
  });
  ASSERT_EQ(judged.summary.pairs.size(), 3u);
  for (const PairVerdict& pair : judged.summary.pairs) {
    EXPECT_FALSE(pair.good);
    EXPECT_FALSE(pair.measured);
    EXPECT_EQ(pair.seen, "could not be measured");
  }
}

TEST_F(Attempts, APairWhoseFigureCannotBeTrueIsNotCalledGood) {
  const NcclJudgement judged =
      Go([](const std::vector<NodeName>& nodes, int) { return nodes.size() == 2 ? 52.0 : 9.0; });
  ASSERT_EQ(judged.summary.pairs.size(), 3u);
  for (const PairVerdict& pair : judged.summary.pairs) {
    EXPECT_FALSE(pair.good);
    EXPECT_FALSE(pair.measured);
    EXPECT_EQ(pair.seen, "could not be measured");
  }
}

TEST_F(Attempts, WhatIsBadTwiceRunsInPairsThatNameTheNode) {
  const NcclJudgement judged = Go([](const std::vector<NodeName>& nodes, int) {
    return std::find(nodes.begin(), nodes.end(), "spark-3") != nodes.end() ? 9.0 : 21.5;
  });
  EXPECT_THAT(Codes(judged), ElementsAre("slow-node"));
  EXPECT_THAT(judged.findings[0].nodes, ElementsAre("spark-3"));
  EXPECT_THAT(ran_, ElementsAre(3, 3, 2, 2, 2));
  EXPECT_EQ(judged.summary.pairs.size(), 3u);
}

class MakeTwoAttempts : public Attempts {
 protected:
  MakeTwoAttempts() : Attempts(2) {}
};

TEST_F(MakeTwoAttempts, HaveNoPairsToCompare) {
  EXPECT_THAT(Codes(Go([](const auto&, int) { return 9.0; })), ElementsAre("nccl-slow"));
  EXPECT_THAT(ran_, ElementsAre(2, 2));
}

TEST_F(Attempts, WhatIsCertainIsNotRunAgain) {
  scenario_.Rail(1, "rocep1s0f1").limits.pcie_width = 2;
  EXPECT_THAT(Codes(Go([](const auto&, int) { return 9.0; })), ElementsAre("pcie-width"));
  EXPECT_THAT(ran_, ElementsAre(3));
}

TEST_F(Attempts, WhatDoesNotFitIntoMemoryIsRunSmaller) {
  memory_ = 300u << 20;
  const NcclJudgement judged = Go([](const auto&, int) { return 21.5; });
  EXPECT_THAT(Codes(judged), IsEmpty());
  EXPECT_EQ(judged.summary.figures.at(0).bytes, 256u << 20);
  EXPECT_EQ(judged.checks.at(0).measured,
            "1 test in 0.0 s; 256 MiB instead of 1 GiB, for that is what memory allows");
}

TEST_F(Attempts, ARankThatHadNotSpokenYetDoesNotKeepTheOthersFromASmallerSize) {
  memory_ = 300u << 20;
  late_ = true;
  const NcclJudgement judged = Go([](const auto&, int) { return 21.5; });
  EXPECT_THAT(Codes(judged), IsEmpty());
  EXPECT_EQ(judged.summary.figures.at(0).bytes, 256u << 20);
}

TEST_F(Attempts, ASizeTooSmallToJudgeLinksIsNoPass) {
  memory_ = 20u << 20;
  const NcclJudgement judged = Go([](const auto&, int) { return 21.5; });
  ASSERT_THAT(Codes(judged), ElementsAre("size-too-small"));
  EXPECT_EQ(judged.findings[0].outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(judged.findings[0].cause,
            "the memory of spark-1, spark-2, spark-3 allows 16 MiB only, at which no link can be "
            "judged");
  EXPECT_EQ(judged.findings[0].next_step,
            "end programs on spark-1, spark-2, spark-3, and run verify again");
}

TEST_F(Attempts, TheMinimumOfAnotherSizeDoesNotJudgeASmallerOne) {
  memory_ = 300u << 20;
  section_.minimum = {.busbw = 21.8};
  const NcclJudgement judged = Go([](const auto&, int) { return 20.5; });
  EXPECT_THAT(Codes(judged), IsEmpty());
}

TEST_F(Attempts, WithoutMemoryForAnythingNothingIsMeasured) {
  memory_ = 1000;
  const NcclJudgement judged = Go([](const auto&, int) { return 21.5; });
  EXPECT_THAT(Codes(judged), ElementsAre("memory-short"));
  EXPECT_EQ(judged.findings[0].outcome, Outcome::kCouldNotMeasure);
  EXPECT_THAT(ran_, ElementsAre(3));
}

}  // namespace
}  // namespace reconciler
