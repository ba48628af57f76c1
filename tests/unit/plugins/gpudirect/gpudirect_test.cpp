#include "plugins/gpudirect/gpudirect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/gpudirect/gpudirect_scenario.h"

namespace reconciler::plugins::gpudirect {
namespace {

using test::GpuNode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Gpudirect, ManifestWithoutItOrWithItOffReadsAndSaysNothing) {
  GpuScenario scenario("off", test::WorkstationNode());
  for (const bool off : {true, false}) {
    if (!off) scenario.cluster.settings = test::Map({});
    EXPECT_TRUE(
        Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes.front()).empty());
    EXPECT_THAT(scenario.Names(Get()), IsEmpty());
    EXPECT_THAT(scenario.Notes(), IsEmpty());
    EXPECT_THAT(scenario.Refusals(), IsEmpty());
  }
}

TEST(Gpudirect, AutoChangesNothingAndSaysWhatItCameToAndWhatItCouldNotQuery) {
  const GpuScenario spark("auto", test::SparkNode());
  EXPECT_THAT(spark.Names(Get()), IsEmpty());
  EXPECT_THAT(spark.Refusals(), IsEmpty());
  EXPECT_THAT(
      spark.Notes(),
      ElementsAre("gpudirect auto: GPU memory goes through the host's: " + std::string(kNoGdr) +
                  " (driver 580.142); not read: CUDA attribute 116 (GPUDirect RDMA)"));
  const GpuScenario loadable("auto", Loadable());
  EXPECT_THAT(loadable.Names(Get()), IsEmpty());
  EXPECT_THAT(loadable.Notes(),
              ElementsAre("gpudirect auto: GPU memory is taken to go through the host's: no file "
                          "says that NVIDIA A10 exports its memory, and nvidia_peermem is not "
                          "loaded (driver 580.142); not read: CUDA attribute 116 (GPUDirect RDMA), "
                          "CUDA attribute 124 (dma-buf), the HCA's own dma-buf probe"));
  EXPECT_THAT(GpuScenario("auto", test::WorkstationNode()).Notes(),
              ElementsAre("gpudirect auto: HCAs read GPU memory: nvidia_peermem lets the HCA read "
                          "the memory of NVIDIA RTX PRO 6000"));
}

TEST(Gpudirect, AutoThatCannotDetermineSaysSo) {
  NodeFacts node = test::SparkNode();
  node.gpudirect.driver = Unknown{"permission denied"};
  EXPECT_THAT(GpuScenario("auto", node).Notes(),
              ElementsAre("gpudirect auto: unknown: permission denied"));
}

TEST(Gpudirect, PromiseThatTheHardwareRulesOutStopsTheApplyWithTheEvidence) {
  GpuNode node{.symbol = "no"};
  EXPECT_THAT(
      GpuScenario("peermem", node.Facts()).Refusals(),
      ElementsAre("gpudirect: wanted peermem, found that GB10 has no GPUDirect RDMA: its memory is "
                  "the machine's memory [driver: open 580.142, GPU: NVIDIA GB10, "
                  "ib_register_peer_memory_client in the kernel: no, nvidia_peermem: available, "
                  "CONFIG_DMA_SHARED_BUFFER: yes, CONFIG_PCI_P2PDMA: yes, CUDA attribute 116: not "
                  "read, CUDA attribute 124: not read, dma-buf of the HCA: not read] | write "
                  "`gpudirect: auto`, or required: false to have the rest applied"));
  const GpuScenario dmabuf("dmabuf", node.Facts());
  EXPECT_THAT(dmabuf.Codes(Severity::kBlocks), ElementsAre("gpudirect-unsupported"));
  EXPECT_THAT(dmabuf.Names(Get()), IsEmpty());
  EXPECT_THAT(dmabuf.Notes(), IsEmpty());
}

TEST(Gpudirect, PromiseThatIsNotRequiredIsShownAndStopsNothing) {
  for (const char* mode : {"peermem", "dmabuf"}) {
    const GpuScenario scenario(NotRequired(mode), test::SparkNode());
    EXPECT_THAT(scenario.Refusals(), IsEmpty());
    EXPECT_THAT(scenario.Warnings(), IsEmpty());
    EXPECT_THAT(scenario.Notes(),
                ElementsAre(testing::AllOf(
                    testing::StartsWith("gpudirect: wanted " + std::string(mode) +
                                        ", found that GB10 has no GPUDirect RDMA: its memory is "
                                        "the machine's memory ["),
                    testing::EndsWith("] | write `gpudirect: auto`"))));
    for (const Resource& one : scenario.Resources(Get())) EXPECT_TRUE(one.left_as_is) << one.name;
  }
}

TEST(Gpudirect, ModuleThatIsListedBesideAPromiseThatIsNotRequiredIsBlocked) {
  const Value section = test::Map({{"mode", test::Text("peermem")},
                                   {"required", test::Flag(false)},
                                   {"modules", test::List({test::Text("nvidia-peermem")})}});
  const GpuScenario scenario(section, test::SparkNode());
  EXPECT_FALSE(scenario.Find(Get(), "nvidia_peermem").left_as_is);
  EXPECT_EQ(scenario.Said("nvidia_peermem"),
            "blocked: " + std::string(kNoGdr) + " (driver 580.142)");
  EXPECT_THAT(scenario.Notes(), IsEmpty());
}

TEST(Gpudirect, LoadedModuleDoesNotHideThatThePromiseCannotHold) {
  const GpuScenario scenario(
      NotRequired("peermem"),
      GpuNode{.symbol = "yes", .modules = "module nvidia_peermem loaded\n"}.Facts());
  EXPECT_EQ(scenario.Said("nvidia_peermem"), "holds");
  EXPECT_THAT(scenario.Notes(),
              ElementsAre(testing::StartsWith("gpudirect: wanted peermem, found that GB10 has")));
}

TEST(Gpudirect, RequiredAutoIsRefusedOnlyWhereEveryWayIsOut) {
  const auto required = [](const NodeFacts& node) {
    return GpuScenario(test::Map({{"required", test::Flag(true)}}), node);
  };
  EXPECT_THAT(required(test::SparkNode()).Refusals(),
              ElementsAre(testing::HasSubstr("gpudirect: wanted GPUDirect in any way, "
                                             "found that GB10 has no GPUDirect RDMA")));
  EXPECT_THAT(required(Loadable()).Refusals(), IsEmpty());
  EXPECT_THAT(required(Loadable()).Warnings(), IsEmpty());
}

TEST(Gpudirect, DmabufThatCouldNotBeReadIsAccepted) {
  const GpuScenario scenario("dmabuf", Loadable());
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
  EXPECT_THAT(scenario.Refusals(), IsEmpty());
  EXPECT_THAT(
      scenario.Notes(),
      ElementsAre("gpudirect dmabuf: nothing rules it out; not read: CUDA attribute 116 (GPUDirect "
                  "RDMA), CUDA attribute 124 (dma-buf), the HCA's own dma-buf probe"));
}

TEST(Gpudirect, PromiseAboutWhatCouldNotBeReadIsAWarningAndRefusesNothing) {
  NodeFacts node = test::SparkNode();
  node.gpudirect.gpu = Unknown{"permission denied"};
  const GpuScenario scenario("dmabuf", node);
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("gpudirect dmabuf: cannot determine: permission denied"));
  EXPECT_THAT(scenario.Refusals(), IsEmpty());
}

TEST(Gpudirect, CheckRefusesWhatContradictsItself) {
  GpuScenario scenario("auto", test::SparkNode());
  const auto set = [&](Value section) {
    scenario.cluster.settings = test::Map(
        {{"gpudirect", std::move(section)}, {"nccl", test::Map({{"mode", test::Text("dmabuf")}})}});
  };
  set(test::Map({{"mode", test::Text("off")}, {"required", test::Flag(true)}}));
  EXPECT_THAT(
      scenario.Checks(),
      ElementsAre(
          "gpudirect: wanted a mode to require, found off | remove `required`, or name a mode",
          "nccl: wanted mode auto or safe with gpudirect off, found dmabuf | write "
          "`gpudirect: dmabuf`, or mode: safe"));
  set(Section("off", {"nvidia-peermem"}));
  EXPECT_THAT(scenario.Checks(),
              testing::Contains("gpudirect: wanted no nvidia_peermem with mode off, found it among "
                                "the modules | write mode: peermem, or remove the module"));
  set(Section("auto", {"nvme_tcp", "nvme-tcp"}));
  EXPECT_THAT(scenario.Checks(), ElementsAre("gpudirect: 'nvme_tcp' and 'nvme-tcp' are the same "
                                             "module | keep one of them"));
}

}  // namespace
}  // namespace reconciler::plugins::gpudirect
