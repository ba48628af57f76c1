#include "plugins/common/gpu/gpu_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/common/gpu/gpu_facts.h"
#include "tests/unit/plugins/common/gpu/gpu_node.h"

namespace reconciler::plugins {
namespace {

using test::GpuNode;
using ::testing::ElementsAre;

std::string Said(const GpuReach& reach) {
  switch (reach.answer) {
    case GpuReach::Answer::kNo:
      return "no: " + reach.why;
    case GpuReach::Answer::kYes:
      return "yes: " + reach.why;
    case GpuReach::Answer::kUndecided:
      return "undetermined: " + reach.why;
    case GpuReach::Answer::kUnknown:
      return "unknown: " + reach.why;
  }
  return "";
}

std::string Word(const NvidiaDriver& driver) {
  return (driver.open ? "open " : "proprietary ") + driver.version;
}
std::string Word(bool value) { return value ? "yes" : "no"; }
std::string Word(const std::string& text) { return text; }
std::string Word(ModuleState state) {
  return std::string(ListEnumNames(&state)[static_cast<std::size_t>(state)]);
}

template <class T>
std::string Text(const Observed<T>& fact) {
  if (const auto* unknown = std::get_if<Unknown>(&fact)) return "unknown: " + unknown->why;
  return Known(fact) == nullptr ? "absent" : Word(*Known(fact));
}
template <class T>
std::string Text(const Fact<T>& fact) {
  return Text(Answer(fact));
}

std::string Module(const std::string& answer) {
  NodeFacts facts = GpuNode{.modules = "module nvme_tcp " + answer + "\n"}.Facts();
  return Text(facts.gpudirect.modules.at("nvme_tcp"));
}

GpuNode Discrete() { return {.gpu = "NVIDIA A10", .symbol = "yes"}; }

TEST(ReadGpuFacts, DriverIsItsFlavourAndItsVersion) {
  EXPECT_EQ(Text(GpuNode{}.Facts().gpudirect.driver), "open 580.142");
  EXPECT_EQ(Text(GpuNode{.driver = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                   "580.159.04  Release Build  (nixbld@)  "}
                     .Facts()
                     .gpudirect.driver),
            "open 580.159.04");
  EXPECT_EQ(Text(GpuNode{.driver = test::kProprietaryDriver}.Facts().gpudirect.driver),
            "proprietary 550.54.15");
  EXPECT_EQ(Text(GpuNode{.driver = ""}.Facts().gpudirect.driver), "absent");
  EXPECT_EQ(Text(GpuNode{.driver = "NVRM version: none"}.Facts().gpudirect.driver),
            "unknown: /proc/driver/nvidia/version has no version in its first line");
  EXPECT_EQ(Text(GpuNode{}.Facts().gpudirect.gpu), "NVIDIA GB10");
}

TEST(ReadGpuFacts, KernelSettingsThatWereNotReadAreUnknownAndNotAbsent) {
  EXPECT_EQ(Text(GpuNode{}.Facts().gpudirect.dmabuf), "yes");
  const NodeFacts bare = GpuNode{.kernel = "CONFIG_64BIT=y\n"}.Facts();
  EXPECT_EQ(Text(bare.gpudirect.dmabuf), "no");
  EXPECT_EQ(Text(bare.gpudirect.p2pdma), "no");
  EXPECT_EQ(Text(GpuNode{.kernel = ""}.Facts().gpudirect.dmabuf),
            "unknown: neither /boot nor /proc holds the kernel's settings");
}

TEST(ReadGpuFacts, ModuleIsWhatModprobeWouldDo) {
  EXPECT_EQ(Module("loaded"), "loaded");
  EXPECT_EQ(Module("built in"), "built in");
  EXPECT_EQ(Module("would insmod /lib/modules/6.17.0/kernel/nvme-tcp.ko "), "available");
  EXPECT_EQ(Module("failed modprobe: FATAL: Module nvme_tcp not found in directory /lib/modules/6"),
            "absent");
  EXPECT_EQ(Module("would install /bin/false "),
            "unknown: modprobe.d has its own way to load it: install /bin/false");
  EXPECT_EQ(Module("failed sh: 14: modprobe: not found"), "unknown: sh: 14: modprobe: not found");
  EXPECT_EQ(Module("failed"), "unknown: modprobe failed without a message");
  EXPECT_EQ(Text(FindModule(GpuNode{}.Facts(), "nvme_tcp")),
            "unknown: modprobe was not run for it");
}

TEST(ReadGpuFacts, ProbeThatRanOutOfTimeSaysNothing) {
  ProbeReply reply;
  reply.values["/proc/driver/nvidia/version"] = test::kOpenDriver;
  reply.commands["gpudirect.kernel"] = {.exit_code = 124};
  NodeFacts facts;
  StoreGpuFacts(reply, facts);
  EXPECT_EQ(Text(facts.gpudirect.symbol), "unknown: the kernel shows no symbols");
  EXPECT_TRUE(std::holds_alternative<Unknown>(FindModule(facts, "nvidia_peermem")));
}

TEST(ReadGpuFacts, SymbolsThatNoOneLookedThroughAreNeitherThereNorMissing) {
  EXPECT_EQ(Text(GpuNode{.symbol = "not read"}.Facts().gpudirect.symbol), "unknown: not read");
  EXPECT_EQ(Text(GpuNode{.symbol = "yes"}.Facts().gpudirect.symbol), "yes");
  EXPECT_EQ(Text(GpuNode{.symbol = "no"}.Facts().gpudirect.symbol), "no");
  EXPECT_EQ(Text(GpuNode{.symbol = "maybe"}.Facts().gpudirect.symbol),
            "unknown: not an answer about the kernel's symbols: 'maybe'");
}

TEST(ReadGpuFacts, SymbolsAreLookedThroughOnAGb10OnlyForWhoNeedsThem) {
  const auto how = [](const std::optional<GpuSection>& section) {
    return std::get<RunProbe>(ListGpuReads(section).back()).argv[4];
  };
  EXPECT_EQ(how(std::nullopt), "mostly");
  EXPECT_EQ(how(GpuSection{}), "mostly");
  EXPECT_EQ(how(GpuSection{.mode = GpuMode::kPeermem}), "always");
}

TEST(GpuReach, SparkHasNoGpudirectInAnyWay) {
  const std::string no = "no: GB10 has no GPUDirect RDMA: its memory is the machine's memory";
  EXPECT_EQ(Said(JudgePeermemReach(test::SparkNode(), true)), no);
  EXPECT_EQ(Said(JudgeDmabufReach(test::SparkNode())), no);
  EXPECT_EQ(Said(JudgeReach(std::nullopt, test::SparkNode())), no);
  EXPECT_THAT(JudgePeermemReach(test::SparkNode(), true).unread,
              ElementsAre("CUDA attribute 116 (GPUDirect RDMA)"));
}

TEST(GpuReach, AttributeCountsMoreThanWhatGb10sWereLikeSoFar) {
  NodeFacts facts = test::SparkNode();
  facts.gpudirect.cuda_rdma = true;
  facts.gpudirect.cuda_dmabuf = true;
  facts.gpudirect.hca_dmabuf = true;
  EXPECT_EQ(Said(JudgeDmabufReach(facts)),
            "yes: NVIDIA GB10 exports its memory as dma-buf, and the HCA takes it");
  facts.gpudirect.cuda_dmabuf = false;
  EXPECT_EQ(Said(JudgeDmabufReach(facts)),
            "no: CUDA says that NVIDIA GB10 exports no memory as dma-buf (attribute 124 is 0)");
  facts.gpudirect.cuda_rdma = false;
  EXPECT_EQ(Said(JudgePeermemReach(facts, true)),
            "no: CUDA says that NVIDIA GB10 has no GPUDirect RDMA (attribute 116 is 0)");
}

TEST(GpuReach, Gb10WithALaterDriverIsUndeterminedUntilItIsQueried) {
  GpuNode node{.symbol = "yes", .modules = "module nvidia_peermem loaded\n"};
  node.driver.replace(node.driver.find("580.142"), 7, "610.10");
  EXPECT_EQ(Said(JudgeReach(std::nullopt, node.Facts())),
            "undetermined: no file says that NVIDIA GB10 exports its memory, and nvidia_peermem "
            "has no effect there");
  NodeFacts queried = node.Facts();
  queried.gpudirect.cuda_rdma = true;
  EXPECT_EQ(Said(JudgeReach(std::nullopt, queried)),
            "yes: nvidia_peermem lets the HCA read the memory of NVIDIA GB10");
}

TEST(GpuReach, PeermemIsOutWhereTheKernelHasNoSymbolForIt) {
  GpuNode node = Discrete();
  node.symbol = "no";
  EXPECT_EQ(Said(JudgePeermemReach(node.Facts(), true)),
            "no: nvidia_peermem cannot be loaded: the kernel has no "
            "ib_register_peer_memory_client, which only HCA drivers such as DOCA's bring");
  node.symbol = "yes";
  node.modules = test::kNotFound;
  EXPECT_EQ(Said(JudgePeermemReach(node.Facts(), true)),
            "no: this kernel has no module nvidia_peermem");
  node.modules = "module nvidia_peermem would install /bin/true\n";
  EXPECT_EQ(Said(JudgePeermemReach(node.Facts(), true)),
            "unknown: nvidia_peermem: modprobe.d has its own way to load it: install /bin/true");
}

TEST(GpuReach, ModuleThatTheManifestLoadsCountsAndOneThatMerelyCouldBeDoesNot) {
  EXPECT_EQ(Said(JudgePeermemReach(Discrete().Facts(), true)),
            "yes: nvidia_peermem lets the HCA read the memory of NVIDIA A10");
  EXPECT_EQ(Said(JudgePeermemReach(Discrete().Facts(), false)),
            "undetermined: nvidia_peermem is not loaded");
}

TEST(GpuReach, ModuleThatWeLoadedAndTheManifestDropsDoesNotCount) {
  NodeFacts facts = test::WorkstationNode();
  facts.ledger = Ledger{.entries = {{.kind = "module", .name = "nvidia_peermem"}}};
  EXPECT_EQ(Said(JudgePeermemReach(facts, false)), "undetermined: nvidia_peermem is not loaded");
  EXPECT_EQ(Said(JudgePeermemReach(facts, true)),
            "yes: nvidia_peermem lets the HCA read the memory of NVIDIA RTX PRO 6000");
}

TEST(GpuReach, ProprietaryDriverHasPeermemAndNoDmabuf) {
  GpuNode node{.driver = test::kProprietaryDriver,
               .gpu = "NVIDIA A10",
               .symbol = "yes",
               .modules = "module nvidia_peermem loaded\n"};
  EXPECT_EQ(Said(JudgeDmabufReach(node.Facts())),
            "no: the proprietary NVIDIA driver exports no GPU memory");
  EXPECT_EQ(Said(JudgeReach(std::nullopt, node.Facts())),
            "yes: nvidia_peermem lets the HCA read the memory of NVIDIA A10");
  node.modules = test::kNotFound;
  EXPECT_EQ(Said(JudgeReach(std::nullopt, node.Facts())),
            "no: the proprietary NVIDIA driver exports no GPU memory, and this kernel has no "
            "module nvidia_peermem");
}

TEST(GpuReach, DmabufIsUndeterminedUntilBothEndsWereQueried) {
  NodeFacts facts = Discrete().Facts();
  EXPECT_EQ(Said(JudgeDmabufReach(facts)),
            "undetermined: no file says that NVIDIA A10 exports its memory");
  EXPECT_THAT(JudgeDmabufReach(facts).unread,
              ElementsAre("CUDA attribute 116 (GPUDirect RDMA)", "CUDA attribute 124 (dma-buf)",
                          "the HCA's own dma-buf probe"));
  facts.gpudirect.cuda_dmabuf = true;
  EXPECT_EQ(Said(JudgeDmabufReach(facts)), "undetermined: no HCA reported that it takes dma-buf");
  facts.gpudirect.hca_dmabuf = false;
  EXPECT_EQ(Said(JudgeDmabufReach(facts)), "no: the HCA takes no dma-buf");
  GpuNode bare = Discrete();
  bare.kernel = "CONFIG_64BIT=y\n";
  EXPECT_EQ(Said(JudgeDmabufReach(bare.Facts())), "no: the kernel is built without dma-buf");
}

TEST(GpuReach, FailedQueryIsUnknownAndNothingToQueryIsNot) {
  NodeFacts facts = Discrete().Facts();
  const auto answers = {&GpuFacts::cuda_rdma, &GpuFacts::cuda_dmabuf, &GpuFacts::hca_dmabuf};
  for (Fact<bool> GpuFacts::*answer : answers) facts.gpudirect.*answer = Absent{};
  EXPECT_EQ(Said(JudgeDmabufReach(facts)),
            "undetermined: no file says that NVIDIA A10 exports its memory");
  for (Fact<bool> GpuFacts::*answer : answers) {
    NodeFacts silent = facts;
    silent.gpudirect.*answer = Unknown{"CUDA: cuInit says 999"};
    EXPECT_EQ(Said(JudgeDmabufReach(silent)), "unknown: CUDA: cuInit says 999");
  }
}

TEST(GpuReach, ProgramIsSentOnlyWhereFilesRuleNothingOut) {
  EXPECT_FALSE(IsWorthQuerying(std::nullopt, test::SparkNode()));
  EXPECT_FALSE(IsWorthQuerying(std::nullopt, GpuNode{.driver = "", .gpu = ""}.Facts()));
  EXPECT_FALSE(IsWorthQuerying(GpuSection{.mode = GpuMode::kOff}, test::WorkstationNode()));
  // The module loads beside a GPU that does without GPUDirect RDMA, too.
  EXPECT_TRUE(IsWorthQuerying(std::nullopt, test::WorkstationNode()));
  EXPECT_TRUE(IsWorthQuerying(std::nullopt, Discrete().Facts()));
  NodeFacts queried = test::WorkstationNode();
  queried.gpudirect.cuda_rdma = true;
  EXPECT_FALSE(IsWorthQuerying(std::nullopt, queried));
  queried.gpudirect.driver = Unknown{"permission denied"};
  EXPECT_FALSE(IsWorthQuerying(std::nullopt, queried));
}

TEST(GpuReach, MachineWithoutDriverOrGpuHasNone) {
  EXPECT_EQ(Said(JudgeReach(std::nullopt, GpuNode{.driver = "", .gpu = ""}.Facts())),
            "no: no NVIDIA driver is loaded");
  EXPECT_EQ(Said(JudgeReach(std::nullopt, GpuNode{.gpu = ""}.Facts())),
            "no: the NVIDIA driver has no GPU");
}

TEST(GpuReach, WhatCouldNotBeReadIsNoAnswer) {
  NodeFacts facts = test::SparkNode();
  facts.gpudirect.driver = Unknown{"permission denied"};
  EXPECT_EQ(Said(JudgeReach(std::nullopt, facts)), "unknown: permission denied");
}

TEST(GpuReach, OffIsNoWhateverTheMachineIs) {
  EXPECT_EQ(Said(JudgeReach(GpuSection{.mode = GpuMode::kOff}, test::WorkstationNode())),
            "no: gpudirect is off in the manifest");
}

TEST(GpuReach, EvidenceNamesEveryFact) {
  EXPECT_EQ(
      FormatGpuEvidence(test::SparkNode()),
      "driver: open 580.142, GPU: NVIDIA GB10, ib_register_peer_memory_client in the kernel: not "
      "read, nvidia_peermem: available, CONFIG_DMA_SHARED_BUFFER: yes, CONFIG_PCI_P2PDMA: yes, "
      "CUDA attribute 116: not read, CUDA attribute 124: not read, dma-buf of the HCA: not read");
  EXPECT_EQ(
      FormatGpuEvidence(
          GpuNode{.driver = "", .gpu = "", .symbol = "no", .modules = test::kNotFound, .kernel = ""}
              .Facts()),
      "driver: none, GPU: none, ib_register_peer_memory_client in the kernel: no, nvidia_peermem: "
      "none, CONFIG_DMA_SHARED_BUFFER: unknown, CONFIG_PCI_P2PDMA: unknown, CUDA attribute 116: "
      "not read, CUDA attribute 124: not read, dma-buf of the HCA: not read");
}

}  // namespace
}  // namespace reconciler::plugins
