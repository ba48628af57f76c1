#pragma once

#include <string>
#include <vector>

#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler::spark_verify {

struct GpuUsers {
  std::string source = {};  // "nvml", "proc"; "": nothing can show it
  std::vector<BusyProcess> processes = {};
};

// Who computes on the GPU of that bus id, besides this process and those of the same `run`. NVML
// knows where it is; otherwise whoever has /dev/nvidia-uvm open below `root`/proc, which shows the
// processes that this user may look into.
GpuUsers FindGpuUsers(const std::string& pci, const std::string& run, const std::string& root);

}  // namespace reconciler::spark_verify
