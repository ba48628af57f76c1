#include "reconciler/spark_verify/protocol/nccl_options.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

const std::vector<std::string> kLeast = {"--run", "r", "--ranks", "2", "--sizes", "8"};

std::string Refusal(std::vector<std::string> more) {
  std::vector<std::string> words = kLeast;
  words.insert(words.end(), more.begin(), more.end());
  const auto options = ParseNcclOptions(words);
  return options ? "" : options.error().message;
}

TEST(NcclOptions, EveryFieldSurvivesTheCommandLine) {
  const NcclOptions options{.run = "a b",
                            .rank = 3,
                            .ranks = 4,
                            .gpu = 1,
                            .library = "/opt/nccl/libnccl.so.2",
                            .collectives = {Collective::kSendRecv, Collective::kAllToAll},
                            .sizes = {{8, 0}, {1u << 20, 5000}},
                            .types = {DataType::kBfloat16, DataType::kFloat},
                            .out_of_place = false,
                            .in_place = true,
                            .warm_up = 1,
                            .iterations = 7,
                            .budget_ms = 900,
                            .memory_limit = 1u << 21,
                            .reserve = 5,
                            .allow_busy = true,
                            .init_ms = 1,
                            .connect_ms = 2,
                            .size_ms = 3,
                            .deadline_ms = 4,
                            .env = {{"NCCL_ALGO", "allreduce:tree;x"}, {"NCCL_HOSTID", "="}}};
  const auto words = FormatNcclArguments(options);
  const auto back = ParseNcclOptions(words);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(FormatNcclArguments(*back), words);
  EXPECT_EQ(back->sizes, options.sizes);
  EXPECT_EQ(back->collectives, options.collectives);
  EXPECT_EQ(back->env, options.env);
  EXPECT_TRUE(back->allow_busy);
  EXPECT_FALSE(back->out_of_place);
}

TEST(NcclOptions, WhatIsWrongIsSaid) {
  EXPECT_EQ(Refusal({}), "");
  EXPECT_EQ(Refusal({"--rank", "2"}), "wanted --rank below --ranks 2, found 2");
  EXPECT_EQ(Refusal({"--ranks", "1"}), "wanted --ranks from 2 to 64, found '1'");
  EXPECT_EQ(Refusal({"--sizes", "1MiB"}),
            "wanted --sizes BYTES or BYTES:MS with commas, found '1MiB'");
  EXPECT_EQ(Refusal({"--sizes", "8:9:10"}),
            "wanted --sizes BYTES or BYTES:MS with commas, found '8:9:10'");
  EXPECT_EQ(Refusal({"--sizes", "2147483648"}),
            "wanted --sizes at most --memory-limit 1073741824, found 2147483648");
  EXPECT_EQ(Refusal({"--collectives", "all_reduce,broadcast"}),
            "wanted --collectives of all_reduce, all_gather, reduce_scatter, alltoall and "
            "sendrecv, found 'broadcast'");
  EXPECT_EQ(Refusal({"--types", "half"}), "wanted --types of float and bfloat16, found 'half'");
  EXPECT_EQ(Refusal({"--placement", "no"}), "wanted --placement in, out or both, found 'no'");
  EXPECT_EQ(Refusal({"--env", "=1"}), "wanted --env NAME=VALUE, found '=1'");
  EXPECT_EQ(Refusal({"--iterations"}), "wanted a value after --iterations");
  EXPECT_EQ(Refusal({"--itertions", "4"}), "wanted a flag, found '--itertions'");
  EXPECT_EQ(ParseNcclOptions({}).error().message, "wanted --run TEXT, found none");
}

// The table of nccl-tests' PERFORMANCE.md.
TEST(NcclOptions, BusFactorsAreNccls) {
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kAllReduce, 2), 1);
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kAllGather, 2), 0.5);
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kAllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(ComputeBusFactor(Collective::kSendRecv, 4), 1);
}

}  // namespace
}  // namespace reconciler::spark_verify
