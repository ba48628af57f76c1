#pragma once

#include <string>

#include "plugins/common/gpu/gpu_facts.h"

// What /proc and /sys of machines say, as the gather brings it.
namespace reconciler::plugins::test {

inline constexpr const char* kOpenDriver =
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  (x@y)";
inline constexpr const char* kProprietaryDriver =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024";
inline constexpr const char* kKernelSettings =
    "CONFIG_64BIT=y\nCONFIG_DMA_SHARED_BUFFER=y\nCONFIG_PCI_P2PDMA=y\n";
inline constexpr const char* kNotFound =
    "module nvidia_peermem failed modprobe: FATAL: Module nvidia_peermem not found in directory "
    "/lib/modules/6.17.0\n";
inline constexpr const char* kLoadable =
    "module nvidia_peermem would insmod /lib/modules/6.17.0/updates/nvidia-peermem.ko \n";

struct GpuNode {
  std::string driver = kOpenDriver;  // empty: none
  std::string gpu = "NVIDIA GB10";   // empty: none
  std::string symbol = "not read";
  std::string modules = kLoadable;
  std::string kernel = kKernelSettings;

  NodeFacts Facts() const {
    ProbeReply reply;
    reply.values["/proc/driver/nvidia/version"] =
        driver.empty() ? Observed<std::string>(Absent{}) : driver;
    if (!gpu.empty()) {
      reply.values["/proc/driver/nvidia/gpus/000f:01:00.0/information"] = "Model: \t\t " + gpu;
    }
    reply.commands["gpudirect.kernel"] = {.out = "symbol " + symbol + "\n" + kernel + modules};
    NodeFacts facts{.node = "spark-1"};
    StoreGpuFacts(reply, facts);
    return facts;
  }
};

// As its maker delivers it: the module is there, and its symbol is not.
inline NodeFacts SparkNode() { return GpuNode{}.Facts(); }
// A discrete GPU with an HCA driver of NVIDIA's and the module loaded.
inline NodeFacts WorkstationNode() {
  return GpuNode{
      .gpu = "NVIDIA RTX PRO 6000", .symbol = "yes", .modules = "module nvidia_peermem loaded\n"}
      .Facts();
}

}  // namespace reconciler::plugins::test
