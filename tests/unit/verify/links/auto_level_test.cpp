#include "reconciler/verify/links/auto_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AutoLevelTest : public testing::Test {
 protected:
  AutoLevelTest() {
    for (auto& [name, facts] : sample_.facts.nodes) {
      facts.rdma.hcas = 1;
      facts.hcas["rocep1s0f1"] = {.netdev = "enp1s0f1np1"};
    }
  }
  NodeFacts& Node(const NodeName& name) { return sample_.facts.nodes.at(name); }
  AutoLevel Find() const { return FindAutoLevel(sample_.cluster, sample_.fabric, sample_.facts); }

  Sample sample_ = OnSwitch(3);
};

TEST_F(AutoLevelTest, WithADeviceOnEveryNodeItGoesUpToNccl) {
  EXPECT_EQ(Find().level, VerifyLevel::kNccl);
  EXPECT_EQ(Find().why, "");
}

TEST_F(AutoLevelTest, ANodeWithoutADeviceLeavesTheLinksAndIsNamed) {
  Node("spark-2").hcas.clear();
  EXPECT_EQ(Find().level, VerifyLevel::kSsh);
  EXPECT_EQ(Find().why, "no RDMA device on spark-2");
  Node("spark-3").hcas.clear();
  EXPECT_EQ(Find().why, "no RDMA device on spark-2, spark-3");
}

TEST_F(AutoLevelTest, ANodeWhoseDevicesAreUnknownIsTried) {
  Node("spark-2").rdma.hcas = Unknown{"Permission denied"};
  EXPECT_EQ(Find().level, VerifyLevel::kNccl);
  EXPECT_EQ(Find().why, "");
}

TEST_F(AutoLevelTest, ANodeThatWasNotReadDecidesNothing) {
  sample_.Lose(2);
  EXPECT_EQ(Find().level, VerifyLevel::kNccl);
}

TEST_F(AutoLevelTest, OneNodeHasNoPeer) {
  sample_ = OnSwitch(1);
  EXPECT_EQ(Find().level, VerifyLevel::kSsh);
  EXPECT_EQ(Find().why, "one node has no peer");
}

TEST_F(AutoLevelTest, AProgramOnAPortOfTheFabricIsNotDisturbed) {
  Node("spark-3").rdma.users =
      std::vector<RdmaUser>{{.hca = "rocep9", .netdev = "storage0", .program = "iser", .pid = 7}};
  EXPECT_EQ(Find().level, VerifyLevel::kNccl);
  Node("spark-3").rdma.users = std::vector<RdmaUser>{
      {.hca = "rocep1s0f1", .netdev = "enp1s0f1np1", .program = "python3", .pid = 4711}};
  EXPECT_EQ(Find().level, VerifyLevel::kSsh);
  EXPECT_EQ(Find().why,
            "python3 (process 4711) holds an RDMA connection on enp1s0f1np1 of spark-3");
  Node("spark-3").rdma.users =
      std::vector<RdmaUser>{{.hca = "rocep1s0f1", .netdev = "enp1s0f1np1"}};
  EXPECT_EQ(Find().why, "a program holds an RDMA connection on enp1s0f1np1 of spark-3");
}

Report MakeBusyReport(const std::string& code) {
  Report report;
  report.checks = {{.level = VerifyLevel::kPing, .what = "jumbo-ping"},
                   {.level = VerifyLevel::kNccl,
                    .what = "nccl-run",
                    .outcome = Outcome::kCouldNotMeasure,
                    .why = "python3 (pid 77)"}};
  report.findings = {{.code = code,
                      .outcome = Outcome::kCouldNotMeasure,
                      .level = VerifyLevel::kNccl,
                      .measured = "python3 (pid 77)",
                      .cause = "another program uses the GPU of spark-2"}};
  return report;
}

TEST(AcceptNotBegun, AGpuInUseIsAReasonAndNoFailure) {
  Report report = MakeBusyReport("gpu-busy");
  AcceptNotBegun(report, VerifyLevel::kNccl, false);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.checks[0].outcome, Outcome::kPass);
  EXPECT_EQ(report.checks[1].outcome, Outcome::kSkipped);
  EXPECT_EQ(report.not_measured,
            (NotMeasured{VerifyLevel::kNccl,
                         "another program uses the GPU of spark-2 (python3 (pid 77))"}));
  EXPECT_EQ(FindExitCode(report), 0);
}

TEST(AcceptNotBegun, BesideAnotherFindingOfTheLevelAllStays) {
  for (const Outcome outcome : {Outcome::kCouldNotMeasure, Outcome::kFail}) {
    Report report = MakeBusyReport("gpu-busy");
    report.findings.push_back(
        {.code = "rail-unproven", .outcome = outcome, .level = VerifyLevel::kNccl});
    const Report before = report;
    AcceptNotBegun(report, VerifyLevel::kNccl, false);
    EXPECT_EQ(report, before);
  }
}

TEST(AcceptNotBegun, ANodeThatCouldNotBeMadeReadyIsAFinding) {
  for (const char* code : {"not-ready", "no-program", "old-nccl"}) {
    Report report = MakeBusyReport(code);
    AcceptNotBegun(report, VerifyLevel::kNccl, false);
    EXPECT_EQ(FindExitCode(report), 7) << code;
  }
}

TEST(AcceptNotBegun, ALibraryThatTheManifestNamesMustBeThere) {
  Report report = MakeBusyReport("no-libnccl");
  AcceptNotBegun(report, VerifyLevel::kNccl, /*names_library=*/true);
  EXPECT_EQ(FindExitCode(report), 7);
  AcceptNotBegun(report, VerifyLevel::kNccl, /*names_library=*/false);
  EXPECT_EQ(FindExitCode(report), 0);
}

TEST(AcceptNotBegun, WhatWasBegunAndGaveNoFigureStaysAFinding) {
  Report report = MakeBusyReport("transport-unknown");
  const Report before = report;
  AcceptNotBegun(report, VerifyLevel::kNccl, false);
  EXPECT_EQ(report, before);
  EXPECT_EQ(FindExitCode(report), 7);
}

TEST(AcceptNotBegun, AFindingOfAnotherLevelStays) {
  Report report = MakeBusyReport("gpu-busy");
  const Report before = report;
  AcceptNotBegun(report, VerifyLevel::kRdma, false);
  EXPECT_EQ(report, before);
}

TEST(AcceptNotBegun, WhatFailedStaysAFailure) {
  Report report = MakeBusyReport("no-libnccl");
  report.findings[0].outcome = Outcome::kFail;
  const Report before = report;
  AcceptNotBegun(report, VerifyLevel::kNccl, false);
  EXPECT_EQ(report, before);
}

}  // namespace
}  // namespace reconciler
