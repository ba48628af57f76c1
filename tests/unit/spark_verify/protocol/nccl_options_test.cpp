#include "reconciler/spark_verify/protocol/nccl_options.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

// `more` are members after the least that a rank must get.
std::string Refusal(const std::string& more) {
  const auto options = ParseNcclOptions(R"({"run": "r", "ranks": 2, "sizes": [8])" + more + "}");
  return options ? "" : options.error().message;
}

TEST(NcclOptions, EveryFieldSurvivesTheJsonLine) {
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
                            .limit_ms = 4,
                            .env = {{"NCCL_ALGO", "allreduce:tree;x"}, {"NCCL_HOSTID", "="}}};
  const std::string text = FormatNcclOptions(options);
  const auto back = ParseNcclOptions(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(FormatNcclOptions(*back), text);
  EXPECT_EQ(back->sizes, options.sizes);
  EXPECT_EQ(back->collectives, options.collectives);
  EXPECT_EQ(back->env, options.env);
  EXPECT_TRUE(back->allow_busy);
  EXPECT_FALSE(back->out_of_place);
}

TEST(NcclOptions, WhatIsWrongIsSaid) {
  EXPECT_EQ(Refusal(""), "");
  EXPECT_EQ(Refusal(R"(, "rank": 2)"), "wanted rank below ranks 2, found 2");
  EXPECT_EQ(Refusal(R"(, "ranks": 1)"), "wanted ranks from 2 to 64, found 1");
  EXPECT_EQ(Refusal(R"(, "sizes": [2147483648])"),
            "wanted sizes at most memory_limit 1073741824, found 2147483648");
  EXPECT_EQ(Refusal(R"(, "collectives": ["all_reduce", "broadcast"])"),
            "wanted collectives as a list of all_reduce, all_gather, reduce_scatter, alltoall, "
            R"(sendrecv, found ["all_reduce","broadcast"])");
  EXPECT_EQ(Refusal(R"(, "types": "float")"),
            R"(wanted types as a list of float, bfloat16, found "float")");
  EXPECT_EQ(Refusal(R"(, "out_of_place": false, "in_place": false)"),
            "wanted out_of_place or in_place, found neither");
  EXPECT_EQ(Refusal(R"(, "library": 2)"), "wanted library as text, found 2");
  EXPECT_EQ(Refusal(R"(, "itertions": 4)"), "unknown option 'itertions'");
  EXPECT_EQ(ParseNcclOptions("{}").error().message, "wanted run, found none");
}

TEST(NcclOptions, SizesAreBytesOrHaveADeadline) {
  const std::string wanted =
      R"(wanted sizes as [BYTES, {"bytes": BYTES, "limit_ms": MS}, ...], found )";
  for (const std::string found : {R"(["1MiB"])", R"([0])", R"([])", R"([{"limit_ms":9}])"}) {
    EXPECT_EQ(Refusal(R"(, "sizes": )" + found), wanted + found);
  }
}

TEST(NcclOptions, VariablesAreNamesAndTexts) {
  const std::string wanted = R"(wanted env as {"NAME": "VALUE", ...}, found )";
  for (const std::string found : {R"({"":"1"})", R"({"A=":"1"})", R"({"A":1})", R"(["A=1"])"}) {
    EXPECT_EQ(Refusal(R"(, "env": )" + found), wanted + found);
  }
}

TEST(NcclOptions, TheWordsOfARunAreKnownByItsName) {
  EXPECT_TRUE(IsOfRun(FormatNcclOptions({.run = "r1"}), "r1"));
  EXPECT_FALSE(IsOfRun(FormatNcclOptions({.run = "r10"}), "r1"));
  EXPECT_FALSE(IsOfRun(R"({"run": ["r1"]})", "r1"));
  EXPECT_FALSE(IsOfRun("r1", "r1"));
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
