#include "reconciler/spark_verify/protocol/counters.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

TEST(Growth, OnlyWhatGrewIsLeftAndAWrapAt32BitsCounts) {
  const Counters before = {
      {"mlx5_0", {{"out_of_sequence", 4294967290u}, {"same", 5}, {"gone", 1}}}};
  const Counters after = {{"mlx5_0", {{"out_of_sequence", 4}, {"same", 5}, {"new", 9}}},
                          {"mlx5_1", {{"out_of_sequence", 1}}}};
  EXPECT_EQ(ComputeGrowth(before, after), (Counters{{"mlx5_0", {{"out_of_sequence", 10}}}}));
}

TEST(Growth, APortThatCarriedNothingIsDistinguishedFromOneThatCannotBeRead) {
  const Counters same = {{"mlx5_0", {{"port_xmit_data", 7}, {"out_of_sequence", 7}}},
                         {"rxe0", {{"sent_pkts", 0}}}};
  EXPECT_EQ(ComputeGrowth(same, same),
            (Counters{{"mlx5_0", {{"port_xmit_data", 0}}}, {"rxe0", {{"sent_pkts", 0}}}}));
}

TEST(Growth, ACounterOf64BitsThatBeganAgainCountsFromNothing) {
  const Counters before = {{"mlx5_0", {{"port_xmit_data", 1'000'000'000'000u}}}};
  const Counters after = {{"mlx5_0", {{"port_xmit_data", 7}}}};
  EXPECT_EQ(ComputeGrowth(before, after), (Counters{{"mlx5_0", {{"port_xmit_data", 7}}}}));
}

}  // namespace
}  // namespace reconciler::spark_verify
