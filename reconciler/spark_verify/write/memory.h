#pragma once

#include <cstdint>
#include <string>

#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler::spark_verify {

// Bytes, from the text of /proc/meminfo.
struct HostMemory {
  std::uint64_t available = 0;
  std::uint64_t swap_used = 0;
};
HostMemory ParseMemory(const std::string& meminfo);

// The largest size that memory allows, at most options.memory_limit. A size takes two buffers of
// itself, and NCCL its own. Where GPU and processor share their memory, options.reserve stays free,
// and what CUDA calls free does not count: it leaves out what the kernel would free.
std::uint64_t ComputeMaxBytes(const NcclHello& hello, const NcclOptions& options);

// Says why the largest size requested does not fit; "": it does.
std::string FindMemoryRefusal(const NcclHello& hello, const NcclOptions& options);

}  // namespace reconciler::spark_verify
