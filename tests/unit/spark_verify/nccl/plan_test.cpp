#include "reconciler/spark_verify/nccl/plan.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

TEST(NcclPlan, EveryCollectiveTypeSizeAndPlacementOnceInOrder) {
  const NcclOptions options{.ranks = 2,
                            .collectives = {Collective::kAllGather, Collective::kSendRecv},
                            .sizes = {{8}, {16}},
                            .types = {DataType::kBfloat16}};
  std::vector<std::string> words;
  for (const NcclTest& test : ListTests(options)) words.push_back(Describe(test));
  EXPECT_EQ(words, (std::vector<std::string>{
                       "all_gather 8 bfloat16 out of place", "all_gather 8 bfloat16 in place",
                       "all_gather 16 bfloat16 out of place", "all_gather 16 bfloat16 in place",
                       "sendrecv 8 bfloat16 out of place", "sendrecv 16 bfloat16 out of place"}));
}

TEST(NcclPlan, OnlyLongIterationsBeginWithTheClockRunning) {
  EXPECT_TRUE(PlanBatch(20, 30).lead);
  EXPECT_TRUE(PlanBatch(20, 99'999).lead);
  EXPECT_FALSE(PlanBatch(20, 100'000).lead);
  EXPECT_FALSE(PlanBatch(2, 130'000).lead);
  EXPECT_EQ(PlanBatch(2, 130'000).iterations, 2);
}

TEST(NcclPlan, EventsAreMillisecondsApartUnlessTheHostIsWhatIsWaitedFor) {
  EXPECT_EQ(PlanBatch(20, 30).apart, 1);
  EXPECT_EQ(PlanBatch(20, 250).apart, 8);
  EXPECT_EQ(PlanBatch(20, 910).apart, 3);
  EXPECT_EQ(PlanBatch(20, 2'000).apart, 1);
  EXPECT_EQ(PlanBatch(20, 3'300).apart, 1);
}

TEST(NcclPlan, AFlapShowsInThePercentilesAndNotOnlyInTheMean) {
  std::vector<double> times(19, 10);
  times.push_back(110);
  const Times summary = Summarize(times);
  EXPECT_DOUBLE_EQ(summary.mean, 15);
  EXPECT_DOUBLE_EQ(summary.p50, 10);
  EXPECT_DOUBLE_EQ(summary.p95, 110);
  EXPECT_DOUBLE_EQ(Summarize({7}).p95, 7);
  EXPECT_DOUBLE_EQ(Summarize({}).mean, 0);
}

}  // namespace
}  // namespace reconciler::spark_verify
