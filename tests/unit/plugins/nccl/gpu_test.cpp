#include "plugins/nccl/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/common/gpu/gpu_node.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using test::GpuNode;

NodeFacts Spark() { return test::SparkNode(); }
NodeFacts Workstation() { return test::WorkstationNode(); }
NodeFacts Loadable() { return GpuNode{.gpu = "NVIDIA A10", .symbol = "yes"}.Facts(); }

ModeDecision Decide(Mode mode, const NodeFacts& own, const NodeFacts& peer,
                    const std::string& gpudirect = "auto") {
  ClusterSpec cluster;
  cluster.settings = test::Map({{"gpudirect", test::Text(gpudirect)}});
  cluster.nodes = {{.name = "spark-1"}, {.name = "spark-2"}};
  return DecideMode({.mode = mode}, cluster, own, {.nodes = {{"spark-1", own}, {"spark-2", peer}}});
}

std::string Said(const ModeDecision& decision) {
  if (!decision.blocked.empty()) return "blocked: " + decision.blocked;
  return (decision.direct ? "direct: " : "staged: ") + decision.why;
}

TEST(NcclMode, AutoIsSafeOnASparkAndSaysWhy) {
  EXPECT_EQ(Said(Decide(Mode::kAuto, Spark(), Spark())),
            "staged: mode auto is safe here: GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory");
}

TEST(NcclMode, AutoIsSafeWhereNoFileSaysOtherwise) {
  const auto said = [](const NodeFacts& facts) {
    return Said(Decide(Mode::kAuto, facts, facts)).substr(std::string("staged: ").size());
  };
  EXPECT_EQ(said(GpuNode{.driver = "", .gpu = ""}.Facts()),
            "mode auto is safe here: no NVIDIA driver is loaded");
  EXPECT_EQ(said(Loadable()),
            "mode auto is safe here: no file says that NVIDIA A10 exports its memory, and "
            "nvidia_peermem is not loaded");
}

TEST(NcclMode, DriverOfALaterBranchIsNotDecidedByTheOldOnesAnswer) {
  GpuNode later{.modules = "module nvidia_peermem loaded\n"};
  later.driver.replace(later.driver.find("580.142"), 7, "610.10");
  const NodeFacts facts = later.Facts();
  EXPECT_EQ(Said(Decide(Mode::kAuto, facts, facts)),
            "staged: mode auto is safe here: no file says that NVIDIA GB10 exports its memory, and "
            "nvidia_peermem has no effect there");
  EXPECT_EQ(Decide(Mode::kDmabuf, facts, facts).blocked, "");
}

TEST(NcclMode, AutoFollowsWhatTheManifestSaysAboutGpudirect) {
  const auto said = [](const NodeFacts& facts, const char* gpudirect) {
    return Said(Decide(Mode::kAuto, facts, facts, gpudirect));
  };
  EXPECT_EQ(said(Workstation(), "off"),
            "staged: mode auto is safe here: gpudirect is off in the manifest");
  EXPECT_EQ(said(Loadable(), "peermem"),
            "direct: mode auto is dmabuf here: nvidia_peermem lets the HCA read the memory of "
            "NVIDIA A10");
  EXPECT_EQ(said(Loadable(), "dmabuf"),
            "direct: mode auto is dmabuf here: gpudirect: dmabuf says so in the manifest");
  EXPECT_EQ(said(Spark(), "dmabuf"),
            "staged: mode auto is safe here: GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory");
}

TEST(NcclMode, AutoIsDirectOnlyWhereEveryNodeCanDoIt) {
  EXPECT_EQ(Said(Decide(Mode::kAuto, Workstation(), Workstation())),
            "direct: mode auto is dmabuf here: nvidia_peermem lets the HCA read the memory of "
            "NVIDIA RTX PRO 6000");
  EXPECT_EQ(Said(Decide(Mode::kAuto, Workstation(), Spark())),
            "staged: mode auto is safe here because of spark-2: GB10 has no GPUDirect RDMA: its "
            "memory is the machine's memory");
}

TEST(NcclMode, NodeThatWasNotReadBlocksWhatItCouldDecide) {
  ClusterSpec cluster;
  cluster.nodes = {{.name = "spark-1"}, {.name = "spark-2"}};
  const ModeDecision decision =
      DecideMode({}, cluster, Workstation(), {.nodes = {{"spark-1", Workstation()}}});
  EXPECT_EQ(decision.blocked,
            "cannot determine what mode auto is, because of spark-2: it was not read");
}

// Another node with the same facts is blocked by them, so that all would not agree.
TEST(NcclMode, WhatCouldNotBeReadHereBlocksInsteadOfTurningToSafe) {
  NodeFacts unknown = Workstation();
  unknown.gpudirect.driver = Unknown{"permission denied"};
  EXPECT_EQ(Said(Decide(Mode::kAuto, unknown, Workstation())),
            "blocked: cannot determine what mode auto is, because of spark-1: permission denied");
  EXPECT_EQ(Said(Decide(Mode::kAuto, unknown, Spark())),
            "staged: mode auto is safe here because of spark-2: GB10 has no GPUDirect RDMA: its "
            "memory is the machine's memory");
}

TEST(NcclMode, DmabufThatCannotHoldIsRefusedWithTheEvidence) {
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, Spark(), Spark())),
            "blocked: mode dmabuf cannot hold here: GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory (driver 580.142)");
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, Workstation(), Workstation())),
            "direct: mode dmabuf: the HCA may read GPU memory at any distance");
  NodeFacts unknown = Spark();
  unknown.gpudirect.driver = Unknown{"permission denied"};
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, unknown, unknown)),
            "blocked: cannot determine whether mode dmabuf holds here: permission denied");
}

TEST(NcclMode, SafeNeedsNoFacts) {
  EXPECT_EQ(Said(Decide(Mode::kSafe, {}, {})),
            "staged: mode safe: GPU memory goes through the host's");
}

}  // namespace
}  // namespace reconciler::plugins::nccl
