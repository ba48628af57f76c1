#include "plugins/nccl/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

NcclScenario With(const std::string& name, const std::string& value) {
  NcclScenario scenario({{"env", Env({{name, test::Text(value)}})}});
  scenario.facts.nccl.hcas = {{"enp1s0f1np1", "mlx5_1"}, {"enP2p1s0f1np1", "mlx5_10"}};
  return scenario;
}

std::vector<std::string> Notes(const std::string& name, const std::string& value) {
  return With(name, value).Notes();
}

std::vector<std::string> Blocks(const std::string& name, const std::string& value) {
  NcclScenario scenario = With(name, value);
  scenario.all.nodes[scenario.facts.node] = scenario.facts;
  EXPECT_THAT(scenario.DiagnosticCodes(Severity::kBlocks), testing::Each("nccl-list-by-prefix"));
  return scenario.ListDiagnostics(Severity::kBlocks);
}

std::vector<std::string> Refusals(const std::string& name, const std::string& value) {
  NcclScenario scenario = With(name, value);
  std::vector<std::string> texts;
  for (const Error& error : Get().check(scenario.cluster, scenario.fabric)) {
    texts.push_back(error.message + " | " + error.hint);
  }
  return texts;
}

TEST(NcclPrefixes, AListThatIsClearOnTheNodeIsANote) {
  EXPECT_THAT(Notes("NCCL_IB_HCA", "mlx5_10"),
              Contains("NCCL_IB_HCA: matches by prefix, which is clear among the names of this "
                       "node: write '=mlx5_10'"));
  EXPECT_THAT(Notes("NCCL_SOCKET_IFNAME", "enp1s0f1np1"),
              Contains("NCCL_SOCKET_IFNAME: matches by prefix, which is clear among the names of "
                       "this node: write '=enp1s0f1np1'"));
  EXPECT_THAT(Blocks("NCCL_IB_HCA", "mlx5_10"), IsEmpty());
}

TEST(NcclPrefixes, AListOfWhichNothingIsThereIsAWarningAndNotCalledClear) {
  for (const char* list : {"rocep1s0f1", "=rocep1s0f1"}) {
    EXPECT_THAT(Notes("NCCL_IB_HCA", list), IsEmpty()) << list;
    EXPECT_THAT(
        With("NCCL_IB_HCA", list).Warnings(),
        Contains(testing::HasSubstr("names no HCA that the node has: it has mlx5_10, mlx5_1")))
        << list;
  }
  EXPECT_THAT(Notes("NCCL_SOCKET_IFNAME", "lo"), IsEmpty());
}

TEST(NcclPrefixes, AnEntryThatNamesNothingBesideOthersIsANote) {
  for (const char* list : {"mlx5_10,rocep1s0f1:1", "=mlx5_10,rocep1s0f1"}) {
    EXPECT_THAT(Notes("NCCL_IB_HCA", list),
                ElementsAre("NCCL_IB_HCA: no name of this node is, or begins with, rocep1s0f1: it "
                            "has mlx5_10, mlx5_1: correct it, or remove it"))
        << list;
  }
  EXPECT_THAT(Notes("NCCL_IB_HCA", "^mlx5_10,rocep1s0f1"),
              testing::Not(Contains(testing::HasSubstr("no name of this node"))));
}

TEST(NcclPrefixes, TheHintHasWholeNames) {
  EXPECT_THAT(Notes("NCCL_SOCKET_IFNAME", "enp1s0f1"),
              Contains(testing::HasSubstr("write '=enp1s0f1np1'")));
  EXPECT_THAT(Blocks("NCCL_IB_HCA", "mlx5:1"),
              ElementsAre("NCCL_IB_HCA: 'mlx5' matches by prefix: it takes mlx5_10, mlx5_1: write "
                          "'=mlx5_10:1,mlx5_1:1'"));
}

TEST(NcclPrefixes, AnEntryThatBeginsSeveralNamesOfTheNodeBlocks) {
  EXPECT_THAT(Blocks("NCCL_IB_HCA", "mlx5_1"),
              ElementsAre("NCCL_IB_HCA: 'mlx5_1' matches by prefix: it takes mlx5_10, mlx5_1: "
                          "write '=mlx5_1'"));
  EXPECT_THAT(Blocks("NCCL_IB_HCA", "=mlx5_1"), IsEmpty());
  EXPECT_THAT(Notes("NCCL_IB_HCA", "=mlx5_1"), IsEmpty());
}

TEST(NcclPrefixes, InterfacesThatAreLeftOutMayBeSeveral) {
  EXPECT_THAT(Blocks("NCCL_SOCKET_IFNAME", "^en"), IsEmpty());
  EXPECT_THAT(Notes("NCCL_SOCKET_IFNAME", "^docker"), IsEmpty());
  EXPECT_THAT(Blocks("NCCL_IB_HCA", "^mlx5_1"),
              ElementsAre("NCCL_IB_HCA: 'mlx5_1' matches by prefix: it takes mlx5_10, mlx5_1: "
                          "write '^=mlx5_1'"));
}

TEST(NcclPrefixes, AnEntryThatBeginsSeveralNamesOfTheProfileIsRefusedWithoutNodes) {
  EXPECT_THAT(Refusals("NCCL_IB_HCA", "rocep1s0f"),
              ElementsAre("nccl.env: NCCL_IB_HCA: 'rocep1s0f' matches by prefix: it takes "
                          "rocep1s0f0, rocep1s0f1 | write '=rocep1s0f0,rocep1s0f1'"));
  EXPECT_THAT(Refusals("NCCL_SOCKET_IFNAME", "enp1s0"),
              ElementsAre("nccl.env: NCCL_SOCKET_IFNAME: 'enp1s0' matches by prefix: it takes "
                          "enp1s0f0np0, enp1s0f1np1 | write '=enp1s0f0np0,enp1s0f1np1'"));
  EXPECT_THAT(Refusals("NCCL_IB_HCA", "rocep1s0f1,mlx5_0"), IsEmpty());
  EXPECT_THAT(With("NCCL_IB_HCA", "rocep1s0f").RefusalCodes(), ElementsAre("nccl-env-misread"));
}

TEST(NcclLaunchers, WhatTheNodeDoesNotHaveIsAWarning) {
  EXPECT_THAT(With("OMPI_MCA_btl_tcp_if_include", "eth7,enP7s7,10.0.0.0/8").Warnings(),
              ElementsAre("OMPI_MCA_btl_tcp_if_include: the node has no interface or HCA called "
                          "eth7: remove it: the fabric defines it for each node"));
  EXPECT_THAT(With("UCX_NET_DEVICES", "rocep1s0f1:1,enP7s7").Warnings(), IsEmpty());
}

TEST(NcclLaunchers, ATreeAloneIsRefusedWhereAllGatherIsMeasured) {
  EXPECT_THAT(Refusals("NCCL_ALGO", "Tree"),
              ElementsAre("nccl.env: NCCL_ALGO: only all_reduce can use a tree: all_gather ends "
                          "with an error, or ignores this | write 'allreduce:tree'"));
  EXPECT_THAT(Refusals("NCCL_ALGO", "allreduce:tree"), IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins::nccl
