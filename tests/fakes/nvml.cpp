// A libnvidia-ml.so.1 that knows who computes on the GPU.
//
// FAKE_NVML_PROCESSES: "PID:BYTES,…"; FAKE_NVML_FAULT: no-init

#include <cstdlib>
#include <string>

#include "tests/fakes/settings.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kTooSmall = 7;

// nvmlProcessInfo_v2_t
struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return fakes::Setting("FAKE_NVML_FAULT") == "no-init" ? kUninitialized : kSuccess;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  static int one = 0;
  *device = &one;
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* processes) {
  const std::string list = fakes::Setting("FAKE_NVML_PROCESSES");
  unsigned found = 0;
  for (const char* at = list.c_str(); *at != '\0';) {
    if (found == *count) return kTooSmall;
    char* end = nullptr;
    Process one = {.pid = static_cast<unsigned>(std::strtoul(at, &end, 10)),
                   .bytes = 0,
                   .gpu_instance = ~0u,
                   .compute_instance = ~0u};
    if (*end == ':') one.bytes = std::strtoull(end + 1, &end, 10);
    processes[found++] = one;
    at = *end == ',' ? end + 1 : end + (*end != '\0' ? 1 : 0);
  }
  *count = found;
  return kSuccess;
}

}  // extern "C"
