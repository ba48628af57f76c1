#include "plugins/gpudirect/modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/mark.h"
#include "tests/unit/plugins/gpudirect/gpudirect_scenario.h"

namespace reconciler::plugins::gpudirect {
namespace {

using test::GpuNode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GpudirectModules, PeermemIsLoadedNowAndAtBoot) {
  const GpuScenario scenario("peermem", Loadable());
  EXPECT_EQ(scenario.File(Get(), kFile).content, FormatOwnedFile("homelab", "nvidia_peermem\n"));
  const Resource module = scenario.Find(Get(), "nvidia_peermem");
  EXPECT_THAT(test::Lines(module.apply), ElementsAre("modprobe -- nvidia_peermem"));
  EXPECT_EQ(scenario.Said("nvidia_peermem"), "not loaded → loaded");
  EXPECT_THAT(scenario.Refusals(), IsEmpty());
  EXPECT_THAT(scenario.Notes(), IsEmpty());
}

// After a restart during the trial, that service may have run before the file is there again.
TEST(GpudirectModules, TheFileOnTrialIsReadAgainAfterARestart) {
  const Resource file = GpuScenario("peermem", Loadable()).Find(Get(), kFile);
  EXPECT_EQ(file.trial.path, kModulesTrial);
  EXPECT_THAT(file.trial.generator,
              ElementsAre("systemctl", "--no-block", "restart", "systemd-modules-load.service"));
}

TEST(GpudirectModules, OnlyAnUnusedModuleIsTakenOutAgainAndNothingElseWithIt) {
  const Resource module = GpuScenario("peermem", Loadable()).Find(Get(), "nvidia_peermem");
  ASSERT_EQ(module.revert.size(), 1u);
  EXPECT_EQ(std::get<RunCommand>(module.revert.front()).argv,
            (std::vector<std::string>{
                "sh", "-c", "grep -qsx 0 \"/sys/module/$1/refcnt\" || exit 0; exec rmmod \"$1\"",
                "sh", "nvidia_peermem"}));
}

TEST(GpudirectModules, WhatItWantsHoldsOnceItIsThere) {
  GpuScenario scenario(Section("peermem", {"nvme-tcp"}),
                       Loadable("module nvidia_peermem loaded\nmodule nvme_tcp built in\n"));
  scenario.facts.files[kFile] = scenario.File(Get(), kFile);
  for (const Resource& resource : scenario.Resources(Get())) {
    EXPECT_FALSE(Diff(resource, "gpudirect")) << resource.name;
  }
}

TEST(GpudirectModules, ListedModulesAreLoadedWhateverTheModeIs) {
  const std::string modules = "module nvme_tcp would insmod /lib/modules/6/nvme-tcp.ko \n";
  for (const char* mode : {"auto", "off"}) {
    const GpuScenario scenario(Section(mode, {"nvme-tcp"}), Loadable(modules));
    EXPECT_THAT(scenario.Names(Get()), ElementsAre(kFile, "nvme_tcp"));
    EXPECT_EQ(scenario.Said("nvme_tcp"), "not loaded → loaded");
    EXPECT_EQ(scenario.Find(Get(), "nvme_tcp").where.position.line, 21);
  }
}

TEST(GpudirectModules, ModuleThatThisKernelCannotLoadIsBlockedAndNotLeftToFailAtBoot) {
  const std::string modules =
      "module nvidia_peermem would insmod /lib/modules/6/nvidia-peermem.ko \n"
      "module gone failed modprobe: FATAL: Module gone not found in directory /lib/modules/6\n"
      "module nvme_tcp loaded\n";
  const GpuScenario scenario(
      Section("auto", {"nvidia-peermem", "gone", "nvme_tcp"}),
      GpuNode{.gpu = "NVIDIA A10", .symbol = "no", .modules = modules}.Facts());
  EXPECT_EQ(scenario.File(Get(), kFile).content, FormatOwnedFile("homelab", "nvme_tcp\n"));
  EXPECT_EQ(scenario.Said("gone"), "blocked: this kernel has no module gone");
  EXPECT_EQ(scenario.Said("nvidia_peermem"),
            "blocked: the kernel has no ib_register_peer_memory_client, which only HCA drivers "
            "such as DOCA's bring");
  EXPECT_EQ(scenario.Find(Get(), "nvidia_peermem").blocked.code, "gpudirect-no-peer-symbol");
}

// Only one for the kernel that runs can bring it.
TEST(GpudirectModules, AModuleThatAPackageOfTheSameApplyMayBringIsKnownAfterIt) {
  const std::string modules =
      "module nvme_tcp failed modprobe: FATAL: Module nvme_tcp not found in directory "
      "/lib/modules/6\n";
  GpuScenario scenario(Section("auto", {"nvme-tcp"}), Loadable(modules));
  scenario.facts.host = HostFact{.kernel = "6.8.0-31-generic"};
  const auto bring = [&](const std::string& name) {
    scenario.facts.packages.packages["extra"] = {
        .steps = std::vector<PackageStep>{{.name = name, .to = "1"}}};
  };
  for (const char* name :
       {"linux-modules-extra-6.8.0-45-generic", "linux-tools-6.8.0-31-generic"}) {
    bring(name);
    EXPECT_EQ(scenario.Said("nvme_tcp"), "blocked: this kernel has no module nvme_tcp") << name;
    EXPECT_THAT(scenario.Names(Get()), ElementsAre("nvme_tcp")) << name;
  }
  bring("linux-modules-extra-6.8.0-31-generic");
  const std::string later = ", once the packages of the manifest are installed";
  EXPECT_EQ(scenario.Said("nvme_tcp"), "known after apply: the module" + later);
  EXPECT_EQ(scenario.Said(kFile), "known after apply: the list of modules" + later);
  for (const std::string& name : {std::string("nvme_tcp"), std::string(kFile)}) {
    EXPECT_THAT(scenario.Find(Get(), name).needs, ElementsAre("spark-1/package/extra")) << name;
    EXPECT_FALSE(scenario.Find(Get(), name).left_as_is) << name;
  }
  EXPECT_TRUE(HoldsOtherwise(scenario.Find(Get(), kFile))) << "none is made without the package";
  EXPECT_FALSE(HoldsOtherwise(scenario.Find(Get(), "nvme_tcp"))) << "it is required";
  scenario.AddFile(kFile, "lp\n");
  EXPECT_EQ(scenario.Said(kFile),
            "blocked: was not written by spark-reconcile: move it away, or remove this from the "
            "manifest");
}

TEST(GpudirectModules, FileOfModulesThatCannotLoadIsNotMadeAndOneOfOursIsLeft) {
  for (const bool required : {true, false}) {
    GpuScenario scenario(required ? test::Text("peermem") : NotRequired("peermem"),
                         test::SparkNode());
    EXPECT_THAT(scenario.Names(Get()), ElementsAre("nvidia_peermem"));
    scenario.AddFile(kFile, FormatOwnedFile("homelab", "nvidia_peermem\n"));
    EXPECT_EQ(scenario.Find(Get(), kFile).left_as_is, !required);
    if (required) {
      EXPECT_EQ(scenario.Said(kFile),
                "blocked: nvidia_peermem: " + std::string(kNoGdr) + " (driver 580.142)");
    }
  }
}

TEST(GpudirectModules, UnknownModuleBlocksItselfAndTheFile) {
  const GpuScenario scenario(Section("auto", {"nvme_tcp"}), Loadable(""));
  EXPECT_EQ(scenario.Said("nvme_tcp"), "blocked: unknown: modprobe was not run for it");
  EXPECT_EQ(scenario.Said(kFile),
            "blocked: cannot determine the state of nvme_tcp: modprobe was not run for it");
}

TEST(GpudirectModules, FileThatOthersWroteStays) {
  GpuScenario scenario("peermem", Loadable());
  scenario.AddFile(kFile, "nvidia_peermem\n");
  EXPECT_EQ(scenario.Said(kFile),
            "blocked: was not written by spark-reconcile: move it away, or remove this from the "
            "manifest");
}

TEST(GpudirectModules, FailingEntryThatSomeoneLeftIsReportedAndLeft) {
  GpuScenario scenario("auto", test::SparkNode());
  scenario.Loader(
      "state failed\nentry /etc/modules-load.d/peermem.conf:2 nvidia-peermem\n"
      "entry /etc/modules-load.d/modules.conf:7 lp\n");
  EXPECT_THAT(scenario.Names(Get()), IsEmpty());
  const auto notes = scenario.Notes();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[1],
            "systemd-modules-load.service failed: /etc/modules-load.d/peermem.conf:2 requires "
            "nvidia-peermem, which is not loaded (GB10 has no GPUDirect RDMA: its memory is the "
            "machine's memory) | remove the line");
  EXPECT_EQ(notes[2],
            "systemd-modules-load.service failed: /etc/modules-load.d/modules.conf:7 requires lp, "
            "which is not loaded | remove the line");
  EXPECT_EQ(scenario.Codes(Severity::kInforms)[1], "gpudirect-foreign-module");
}

TEST(GpudirectModules, FailedLoaderWhoseReasonIsGoneIsReportedToo) {
  GpuScenario scenario("auto", test::SparkNode());
  scenario.Loader("state failed\n");
  EXPECT_EQ(scenario.Notes().back(),
            "systemd-modules-load.service failed, and no line of modules-load.d shows why | "
            "journalctl -u systemd-modules-load.service shows it");
}

TEST(GpudirectModules, LoaderThatDidNotFailOrDidNotAnswerIsNoNews) {
  GpuScenario scenario("auto", test::SparkNode());
  for (const char* out : {"state active\n", "state inactive\n", ""}) {
    scenario.Loader(out);
    EXPECT_EQ(scenario.Notes().size(), 1u) << out;
  }
}

TEST(GpudirectModules, EntryOfOurOwnFileIsReportedByItsModuleOrItsMode) {
  GpuScenario scenario(NotRequired("peermem"), test::SparkNode());
  scenario.Loader(std::string("state failed\nentry ") + kFile + ":3 nvidia_peermem\n");
  EXPECT_THAT(scenario.Codes(Severity::kInforms), ElementsAre("gpudirect-unsupported"));
}

TEST(GpudirectModules, NodeIsQueriedForTheModulesOnce) {
  const GpuScenario scenario(Section("peermem", {"nvidia-peermem", "nvme-tcp"}), Loadable());
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes.front())) {
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
