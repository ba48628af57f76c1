#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/protocol/messages.h"

namespace reconciler::spark_verify {

// What the controller uses of the line that `spark-verify facts` prints. A device that could not be
// opened has its names only.
struct DeviceFacts {
  std::string hca = {};
  std::string netdev = {};
  Limits limits = {};  // `hardware` is not reported
  // Whether it takes dma-buf memory. nullopt: not tried; an error: not determined, and its message
  // may hold any byte.
  std::optional<Result<bool>> dmabuf = std::nullopt;
  int active_mtu = 0;  // of the first port, bytes; 0: not reported
};

// CUDA's attributes of the GPU; nullopt: there was no CUDA to query.
struct GpuFacts {
  std::optional<bool> gpu_direct_rdma = std::nullopt;
  std::optional<bool> dma_buf = std::nullopt;
  std::string error = {};  // CUDA failed
};

struct Facts {
  std::vector<DeviceFacts> devices = {};
  std::optional<GpuFacts> gpu = std::nullopt;
  std::string error = {};  // why no device could be queried
};

// The error's message is the JSON library's and may quote any byte of `line`.
Result<Facts> ParseFacts(std::string_view line);

}  // namespace reconciler::spark_verify
