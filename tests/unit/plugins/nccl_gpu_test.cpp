#include "plugins/nccl/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/nccl_world.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kOpen =
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  (x@y)";
constexpr const char* kProprietary =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024";

// What /proc and /sys say, as the gather brings it.
NodeFacts Node(const std::string& driver, const std::string& gpu, bool peermem, bool symbol) {
  ProbeReply reply;
  reply.values["/proc/driver/nvidia/version"] =
      driver.empty() ? Observed<std::string>(Absent{}) : driver;
  reply.values["/sys/module/nvidia_peermem/version"] =
      peermem ? Observed<std::string>("580.142") : Absent{};
  if (!gpu.empty()) {
    reply.values["/proc/driver/nvidia/gpus/000f:01:00.0/information"] = "Model: \t\t " + gpu;
  }
  reply.commands["nccl.peer_symbol"] = {.exit_code = symbol ? 0 : 1};
  NodeFacts facts;
  StoreGpu(reply, facts);
  return facts;
}

NodeFacts Spark() { return Node(kOpen, "NVIDIA GB10", false, false); }
NodeFacts Workstation() { return Node(kOpen, "NVIDIA RTX PRO 6000", true, true); }

ModeDecision Decide(Mode mode, const NodeFacts& own, const NodeFacts& peer) {
  ClusterSpec cluster;
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
  EXPECT_EQ(said(Node("", "", false, false)), "mode auto is safe here: no NVIDIA driver is loaded");
  EXPECT_EQ(said(Node(kProprietary, "NVIDIA A10", true, true)),
            "mode auto is safe here: the proprietary NVIDIA driver exports no GPU memory");
  EXPECT_EQ(said(Node(kOpen, "", false, false)),
            "mode auto is safe here: the NVIDIA driver has no GPU");
  EXPECT_EQ(said(Node(kOpen, "NVIDIA A10", false, true)),
            "mode auto is safe here: no file says that NVIDIA A10 exports its memory, and "
            "nvidia_peermem is not loaded");
  EXPECT_EQ(said(Node(kOpen, "NVIDIA A10", false, false)),
            "mode auto is safe here: no file says that NVIDIA A10 exports its memory, and "
            "nvidia_peermem cannot be loaded: ib_core knows no peer memory");
}

TEST(NcclMode, DriverOfALaterBranchIsNotDecidedByTheOldOnesAnswer) {
  std::string later = kOpen;
  later.replace(later.find("580.142"), 7, "610.10");
  const NodeFacts facts = Node(later, "NVIDIA GB10", true, false);
  EXPECT_EQ(Said(Decide(Mode::kAuto, facts, facts)),
            "staged: mode auto is safe here: no file says that NVIDIA GB10 exports its memory, and "
            "nvidia_peermem counts for nothing there");
  EXPECT_EQ(Decide(Mode::kDmabuf, facts, facts).blocked, "");
}

TEST(NcclMode, AutoIsDirectOnlyWhereEveryNodeCanDoIt) {
  EXPECT_EQ(Said(Decide(Mode::kAuto, Workstation(), Workstation())),
            "direct: mode auto is dmabuf here: nvidia_peermem lets the adapter read the memory of "
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
  EXPECT_EQ(decision.blocked, "cannot tell what mode auto is, because of spark-2: it was not read");
}

TEST(NcclMode, DmabufThatCannotHoldIsRefusedWithTheEvidence) {
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, Spark(), Spark())),
            "blocked: mode dmabuf cannot hold here: GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory (driver 580.142)");
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, Workstation(), Workstation())),
            "direct: mode dmabuf: the adapter may read GPU memory at any distance");
  NodeFacts unknown = Spark();
  unknown.values["gpudirect.driver"] = Unknown{"permission denied"};
  EXPECT_EQ(Said(Decide(Mode::kDmabuf, unknown, unknown)),
            "blocked: cannot tell whether mode dmabuf holds here: permission denied");
}

TEST(NcclMode, SafeNeedsNoFacts) {
  EXPECT_EQ(Said(Decide(Mode::kSafe, {}, {})),
            "staged: mode safe: GPU memory goes through the host's");
}

}  // namespace
}  // namespace reconciler::plugins::nccl
