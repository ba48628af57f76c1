#include "plugins/gpudirect/gpudirect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/gpudirect/loader.h"
#include "reconciler/base/mark.h"
#include "tests/unit/plugins/gpu_node.h"
#include "tests/unit/plugins/pair_world.h"

namespace reconciler::plugins::gpudirect {
namespace {

using test::GpuNode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFile = "/etc/modules-load.d/60-spark-reconcile.conf";
constexpr const char* kNoGdr = "GB10 has no GPUDirect RDMA: its memory is the machine's memory";

Value Section(const std::string& mode, const std::vector<std::string>& modules) {
  std::vector<Value> list;
  for (const std::string& module : modules) list.push_back(test::At(21, test::Text(module)));
  return test::Map({{"mode", test::Text(mode)}, {"modules", test::List(std::move(list))}});
}

Value NotRequired(const std::string& mode) {
  return test::Map({{"mode", test::Text(mode)}, {"required", test::Flag(false)}});
}

struct GpuWorld : test::PairWorld {
  GpuWorld(Value section, const NodeFacts& node) {
    cluster.settings = test::Map({{"gpudirect", std::move(section)}});
    for (const auto& [key, value] : node.values) facts.values[key] = value;
    facts.files[kFile] = Absent{};
  }
  GpuWorld(const std::string& mode, const NodeFacts& node) : GpuWorld(test::Text(mode), node) {}

  PluginInput Input(const ClusterFacts& all) const {
    return {cluster, fabric, cluster.nodes.front(), facts, all};
  }
  std::vector<std::string> Notes() const { return Get().notes(Input({})); }
  std::vector<std::string> Refusals() const {
    std::vector<std::string> said;
    for (const Error& error : Get().refuse(Input({}))) said.push_back(FormatError(error));
    return said;
  }
  std::vector<std::string> Checks() const {
    std::vector<std::string> said;
    for (const Error& error : Get().check(cluster, fabric)) {
      said.push_back(error.message + " | " + error.hint);
    }
    return said;
  }
  std::string Said(const std::string& name) const { return Detail(Get(), name); }
  void Loader(const std::string& out) {
    StoreLoader({.commands = {{"gpudirect.loader", {.out = out}}}}, facts);
  }
};

NodeFacts Loadable(const std::string& modules = test::kLoadable) {
  return GpuNode{.gpu = "NVIDIA A10", .symbol = "yes", .modules = modules}.Facts();
}

TEST(Gpudirect, ManifestWithoutItOrWithItOffReadsAndSaysNothing) {
  GpuWorld world("off", test::WorkstationNode());
  for (const bool off : {true, false}) {
    if (!off) world.cluster.settings = test::Map({});
    EXPECT_TRUE(Get().probe(world.cluster, world.fabric, world.cluster.nodes.front()).empty());
    EXPECT_THAT(world.Names(Get()), IsEmpty());
    EXPECT_THAT(world.Notes(), IsEmpty());
    EXPECT_THAT(world.Refusals(), IsEmpty());
  }
}

TEST(Gpudirect, AutoChangesNothingAndSaysWhatItCameToAndWhatItCouldNotAsk) {
  const GpuWorld spark("auto", test::SparkNode());
  EXPECT_THAT(spark.Names(Get()), IsEmpty());
  EXPECT_THAT(spark.Refusals(), IsEmpty());
  EXPECT_THAT(
      spark.Notes(),
      ElementsAre("gpudirect auto: GPU memory goes through the host's: " + std::string(kNoGdr) +
                  " (driver 580.142); not asked: CUDA attribute 116 (GPUDirect RDMA)"));
  const GpuWorld loadable("auto", Loadable());
  EXPECT_THAT(loadable.Names(Get()), IsEmpty());
  EXPECT_THAT(loadable.Notes(),
              ElementsAre("gpudirect auto: GPU memory goes through the host's: no file says that "
                          "NVIDIA A10 exports its memory, and nvidia_peermem is not loaded (driver "
                          "580.142); not asked: CUDA attribute 116 (GPUDirect RDMA), CUDA "
                          "attribute 124 (dma-buf), the adapter's own dma-buf probe"));
  EXPECT_THAT(GpuWorld("auto", test::WorkstationNode()).Notes(),
              ElementsAre("gpudirect auto: adapters read GPU memory: nvidia_peermem lets the "
                          "adapter read the memory of NVIDIA RTX PRO 6000"));
}

TEST(Gpudirect, AutoThatCannotTellSaysSo) {
  NodeFacts node = test::SparkNode();
  node.values["gpudirect.driver"] = Unknown{"permission denied"};
  EXPECT_THAT(GpuWorld("auto", node).Notes(),
              ElementsAre("gpudirect auto: cannot tell: permission denied"));
}

TEST(Gpudirect, PeermemIsLoadedNowAndAtBoot) {
  const GpuWorld world("peermem", Loadable());
  EXPECT_EQ(world.File(Get(), kFile).content, OwnedFile("homelab", "nvidia_peermem\n"));
  const Resource module = world.Find(Get(), "nvidia_peermem");
  EXPECT_THAT(test::Lines(module.apply), ElementsAre("modprobe -- nvidia_peermem"));
  EXPECT_EQ(world.Said("nvidia_peermem"), "not loaded → loaded");
  EXPECT_THAT(world.Refusals(), IsEmpty());
  EXPECT_THAT(world.Notes(), IsEmpty());
}

TEST(Gpudirect, OnlyAnUnusedModuleIsTakenOutAgainAndNothingElseWithIt) {
  const Resource module = GpuWorld("peermem", Loadable()).Find(Get(), "nvidia_peermem");
  ASSERT_EQ(module.undo.size(), 1u);
  EXPECT_EQ(std::get<RunCommand>(module.undo.front()).argv,
            (std::vector<std::string>{
                "sh", "-c", "grep -qsx 0 \"/sys/module/$1/refcnt\" || exit 0; exec rmmod \"$1\"",
                "sh", "nvidia_peermem"}));
}

TEST(Gpudirect, WhatItWantsHoldsOnceItIsThere) {
  GpuWorld world(Section("peermem", {"nvme-tcp"}),
                 Loadable("module nvidia_peermem loaded\nmodule nvme_tcp built in\n"));
  world.facts.files[kFile] = world.File(Get(), kFile);
  for (const Resource& resource : world.Resources(Get())) {
    EXPECT_FALSE(Diff(resource, "gpudirect")) << resource.name;
  }
}

TEST(Gpudirect, ListedModulesAreLoadedWhateverTheModeIs) {
  const std::string modules = "module nvme_tcp would insmod /lib/modules/6/nvme-tcp.ko \n";
  for (const char* mode : {"auto", "off"}) {
    const GpuWorld world(Section(mode, {"nvme-tcp"}), Loadable(modules));
    EXPECT_THAT(world.Names(Get()), ElementsAre(kFile, "nvme_tcp"));
    EXPECT_EQ(world.Said("nvme_tcp"), "not loaded → loaded");
    EXPECT_EQ(world.Find(Get(), "nvme_tcp").where.position.line, 21);
  }
}

TEST(Gpudirect, ModuleThatThisKernelCannotLoadIsBlockedAndNotLeftToFailAtBoot) {
  const std::string modules =
      "module nvidia_peermem would insmod /lib/modules/6/nvidia-peermem.ko \n"
      "module gone failed modprobe: FATAL: Module gone not found in directory /lib/modules/6\n"
      "module nvme_tcp loaded\n";
  const GpuWorld world(Section("auto", {"nvidia-peermem", "gone", "nvme_tcp"}),
                       GpuNode{.gpu = "NVIDIA A10", .symbol = "no", .modules = modules}.Facts());
  EXPECT_EQ(world.File(Get(), kFile).content, OwnedFile("homelab", "nvme_tcp\n"));
  EXPECT_EQ(world.Said("gone"), "blocked: this kernel has no module gone");
  EXPECT_EQ(world.Said("nvidia_peermem"),
            "blocked: the kernel has no "
            "ib_register_peer_memory_client, which only adapter drivers such as DOCA's bring");
}

TEST(Gpudirect, FileOfModulesThatCannotLoadIsNotMadeAndOneOfOursIsLeft) {
  GpuWorld world(NotRequired("peermem"), test::SparkNode());
  EXPECT_THAT(world.Names(Get()), ElementsAre("nvidia_peermem"));
  world.AddFile(kFile, OwnedFile("homelab", "nvidia_peermem\n"));
  EXPECT_EQ(world.Said(kFile),
            "blocked: nvidia_peermem: " + std::string(kNoGdr) + " (driver 580.142)");
}

TEST(Gpudirect, UnknownModuleBlocksItselfAndTheFile) {
  const GpuWorld world(Section("auto", {"nvme_tcp"}), Loadable(""));
  EXPECT_EQ(world.Said("nvme_tcp"), "blocked: unknown: modprobe was not asked about it");
  EXPECT_EQ(world.Said(kFile),
            "blocked: cannot tell about nvme_tcp: modprobe was not asked about it");
}

TEST(Gpudirect, FileThatOthersWroteStays) {
  GpuWorld world("peermem", Loadable());
  world.AddFile(kFile, "nvidia_peermem\n");
  EXPECT_EQ(world.Said(kFile),
            "blocked: was not written by spark-reconcile: move it away, or take this out of the "
            "manifest");
}

TEST(Gpudirect, PromiseThatTheHardwareRulesOutStopsTheApplyWithTheEvidence) {
  GpuNode node{.symbol = "no"};
  EXPECT_THAT(
      GpuWorld("peermem", node.Facts()).Refusals(),
      ElementsAre(
          "cluster.yaml: gpudirect: wanted peermem on spark-1, found that GB10 has no "
          "GPUDirect RDMA: its memory is the machine's memory [driver: open 580.142, GPU: "
          "NVIDIA GB10, ib_register_peer_memory_client in the kernel: no, nvidia_peermem: "
          "available, CONFIG_DMA_SHARED_BUFFER: yes, CONFIG_PCI_P2PDMA: yes, CUDA "
          "attribute 116: not asked, CUDA attribute 124: not asked, dma-buf of the "
          "adapter: not asked]\n"
          "  hint: write `gpudirect: auto`, or required: false to have the rest applied\n"));
  const GpuWorld dmabuf("dmabuf", node.Facts());
  EXPECT_EQ(dmabuf.Refusals().size(), 1u);
  EXPECT_EQ(dmabuf.Said("dmabuf"), "blocked: " + std::string(kNoGdr) + " (driver 580.142)");
  EXPECT_THAT(dmabuf.Notes(),
              ElementsAre("gpudirect dmabuf is required and cannot hold: apply changes nothing "
                          "until the manifest says otherwise"));
}

TEST(Gpudirect, PromiseThatIsNotRequiredIsShownAndStopsNothing) {
  for (const char* mode : {"peermem", "dmabuf"}) {
    const GpuWorld world(NotRequired(mode), test::SparkNode());
    EXPECT_THAT(world.Refusals(), IsEmpty());
    EXPECT_EQ(world.Said(mode == std::string("dmabuf") ? mode : "nvidia_peermem"),
              "blocked: " + std::string(kNoGdr) + " (driver 580.142)");
  }
}

TEST(Gpudirect, RequiredAutoIsRefusedOnlyWhereEveryWayIsOut) {
  const auto required = [](const NodeFacts& node) {
    return GpuWorld(test::Map({{"required", test::Flag(true)}}), node);
  };
  EXPECT_THAT(required(test::SparkNode()).Refusals(),
              ElementsAre(testing::HasSubstr("gpudirect: wanted GPUDirect in any way on spark-1, "
                                             "found that GB10 has no GPUDirect RDMA")));
  EXPECT_EQ(required(test::SparkNode()).Said("auto"),
            "blocked: " + std::string(kNoGdr) + " (driver 580.142)");
  EXPECT_THAT(required(Loadable()).Refusals(), IsEmpty());
  EXPECT_EQ(required(Loadable()).Said("auto"), "holds");
}

TEST(Gpudirect, DmabufThatNobodyCouldAskAboutIsTakenAtItsWord) {
  const GpuWorld world("dmabuf", Loadable());
  EXPECT_EQ(world.Said("dmabuf"), "holds");
  EXPECT_THAT(world.Refusals(), IsEmpty());
  EXPECT_THAT(world.Notes(),
              ElementsAre("gpudirect dmabuf: nothing rules it out; not asked: CUDA attribute 116 "
                          "(GPUDirect RDMA), CUDA attribute 124 (dma-buf), the adapter's own "
                          "dma-buf probe"));
}

TEST(Gpudirect, PromiseAboutWhatCouldNotBeReadIsBlockedAndNotRefused) {
  NodeFacts node = test::SparkNode();
  node.values["gpudirect.gpu"] = Unknown{"permission denied"};
  const GpuWorld world("dmabuf", node);
  EXPECT_EQ(world.Said("dmabuf"), "blocked: unknown: permission denied");
  EXPECT_THAT(world.Refusals(), IsEmpty());
}

TEST(Gpudirect, FailingEntryThatSomebodyLeftIsReportedAndLeft) {
  GpuWorld world("auto", test::SparkNode());
  world.Loader(
      "state failed\nentry /etc/modules-load.d/peermem.conf:2 nvidia-peermem\n"
      "entry /etc/modules-load.d/modules.conf:7 lp\n");
  EXPECT_THAT(world.Names(Get()), IsEmpty());
  const auto notes = world.Notes();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[1],
            "systemd-modules-load.service failed: /etc/modules-load.d/peermem.conf:2 asks for "
            "nvidia-peermem, which is not loaded (GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory): take the line out");
  EXPECT_EQ(notes[2],
            "systemd-modules-load.service failed: /etc/modules-load.d/modules.conf:7 asks for lp, "
            "which is not loaded: take the line out");
}

TEST(Gpudirect, FailedLoaderWhoseReasonIsGoneIsReportedToo) {
  GpuWorld world("auto", test::SparkNode());
  world.Loader("state failed\n");
  EXPECT_EQ(world.Notes().back(),
            "systemd-modules-load.service failed, though every module that modules-load.d names "
            "is there now: journalctl -u systemd-modules-load.service says why");
}

TEST(Gpudirect, LoaderThatDidNotFailOrDidNotAnswerIsNoNews) {
  GpuWorld world("auto", test::SparkNode());
  for (const char* out : {"state active\n", "state inactive\n", ""}) {
    world.Loader(out);
    EXPECT_EQ(world.Notes().size(), 1u) << out;
  }
}

TEST(Gpudirect, EntryOfOurOwnFileIsToldByItsModule) {
  GpuWorld world(NotRequired("peermem"), test::SparkNode());
  world.Loader(std::string("state failed\nentry ") + kFile + ":3 nvidia_peermem\n");
  EXPECT_THAT(world.Notes(), IsEmpty());
}

TEST(Gpudirect, CheckRefusesWhatContradictsItself) {
  GpuWorld world("auto", test::SparkNode());
  const auto set = [&](Value section) {
    world.cluster.settings = test::Map(
        {{"gpudirect", std::move(section)}, {"nccl", test::Map({{"mode", test::Text("dmabuf")}})}});
  };
  set(test::Map({{"mode", test::Text("off")}, {"required", test::Flag(true)}}));
  EXPECT_THAT(
      world.Checks(),
      ElementsAre("gpudirect: wanted a mode to require, found off | take `required` out, or name a "
                  "mode",
                  "nccl: wanted mode auto or safe with gpudirect off, found dmabuf | write "
                  "`gpudirect: dmabuf`, or mode: safe"));
  set(Section("off", {"nvidia-peermem"}));
  EXPECT_THAT(world.Checks(),
              testing::Contains("gpudirect: wanted no nvidia_peermem with mode off, found it among "
                                "the modules | write mode: peermem, or take the module out"));
  set(Section("auto", {"nvme_tcp", "nvme-tcp"}));
  EXPECT_THAT(world.Checks(), ElementsAre("gpudirect: 'nvme_tcp' and 'nvme-tcp' are the same "
                                          "module | keep one of them"));
}

TEST(Gpudirect, NodeIsAskedForTheModulesOnce) {
  const GpuWorld world(Section("peermem", {"nvidia-peermem", "nvme-tcp"}), Loadable());
  for (const Read& read : Get().probe(world.cluster, world.fabric, world.cluster.nodes.front())) {
    const auto* probe = std::get_if<RunProbe>(&read);
    if (probe == nullptr || probe->id != "gpudirect.kernel") continue;
    EXPECT_THAT(std::vector(probe->argv.begin() + 4, probe->argv.end()),
                ElementsAre("always", "nvidia_peermem", "nvme_tcp"));
    return;
  }
  ADD_FAILURE() << "no probe of the kernel";
}

}  // namespace
}  // namespace reconciler::plugins::gpudirect
