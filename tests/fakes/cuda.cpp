// A libcuda.so.1 without a GPU: device memory is the process's own, a stream is a thread.
//
// FAKE_CUDA_GPU, _PCI, _COMPUTE, _DRIVER, _INTEGRATED, _GDR, _DMABUF: what it says of itself
// FAKE_CUDA_TOTAL, _FREE: bytes; FAKE_CUDA_COUNT: how many GPUs
// FAKE_CUDA_FAULT: no-device, hang-init, no-memory, hang-copy

#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/fakes/settings.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kNoMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kNotReady = 600;

[[noreturn]] void Hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool Fault(const char* name) { return fakes::Setting("FAKE_CUDA_FAULT") == name; }

}  // namespace

// Work in order, on a thread of its own.
struct CUstream_st {
  CUstream_st() : worker([this] { Work(); }) { worker.detach(); }

  void Add(std::function<void()> task) {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
    ready.notify_all();
  }
  bool Idle() {
    const std::lock_guard lock(mutex);
    return tasks.empty();
  }
  void Work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex);
        ready.wait(lock, [this] { return !tasks.empty(); });
        task = tasks.front();
      }
      task();
      const std::lock_guard lock(mutex);
      tasks.pop_front();
    }
  }

  std::mutex mutex;
  std::condition_variable ready;
  std::deque<std::function<void()>> tasks;
  double claimed_us = 0;  // what work said that it took; used once something has said so
  bool claims = false;
  std::thread worker;
};

struct CUevent_st {
  double at_us = 0;
};

namespace {

double NowUs(const CUstream_st& stream) {
  if (stream.claims) return stream.claimed_us;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  if (Fault("hang-init")) Hang();
  if (Fault("no-device")) return kNoDevice;
  return flags == 0 ? kSuccess : kInvalidValue;
}

int cuDriverGetVersion(int* version) {
  *version = static_cast<int>(fakes::Number("FAKE_CUDA_DRIVER", 13000));
  return kSuccess;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == kNoMemory   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kNoDevice ? "CUDA_ERROR_NO_DEVICE"
          : error == kNotReady ? "CUDA_ERROR_NOT_READY"
                               : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == kNoMemory   ? "out of memory"
          : error == kNoDevice ? "no CUDA-capable device is detected"
          : error == kNotReady ? "device not ready"
                               : "invalid argument";
  return kSuccess;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(fakes::Number("FAKE_CUDA_COUNT", 1));
  return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}

int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, fakes::Setting("FAKE_CUDA_GPU", "NVIDIA GB10").c_str(),
               static_cast<std::size_t>(size));
  return kSuccess;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int compute = static_cast<int>(fakes::Number("FAKE_CUDA_COMPUTE", 121));
  switch (attribute) {
    case 18:
      *value = static_cast<int>(fakes::Number("FAKE_CUDA_INTEGRATED", 1));
      return kSuccess;
    case 75:
      *value = compute / 10;
      return kSuccess;
    case 76:
      *value = compute % 10;
      return kSuccess;
    case 116:
      *value = static_cast<int>(fakes::Number("FAKE_CUDA_GDR", 0));
      return kSuccess;
    case 124:
      *value = static_cast<int>(fakes::Number("FAKE_CUDA_DMABUF", 0));
      return kSuccess;
  }
  return kInvalidValue;
}

int cuDeviceGetPCIBusId(char* text, int size, int) {
  std::strncpy(text, fakes::Setting("FAKE_CUDA_PCI", "000F:01:00.0").c_str(),
               static_cast<std::size_t>(size));
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  static int one = 0;
  *context = &one;
  return kSuccess;
}

int cuCtxSetCurrent(void* context) { return context != nullptr ? kSuccess : kInvalidValue; }

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = static_cast<std::size_t>(fakes::Number("FAKE_CUDA_TOTAL", 128e9));
  *free = static_cast<std::size_t>(fakes::Number("FAKE_CUDA_FREE", 100e9));
  return kSuccess;
}

int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  if (Fault("no-memory")) return kNoMemory;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return kNoMemory;
  *address = reinterpret_cast<std::uintptr_t>(memory);
  return kSuccess;
}

int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  unsigned long long address = 0;
  const int result = cuMemAlloc_v2(&address, bytes);
  *memory = reinterpret_cast<void*>(address);
  return result;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes,
                         CUstream_st* stream) {
  stream->Add([=] {
    if (Fault("hang-copy")) Hang();
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  });
  return kSuccess;
}

int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes,
                         CUstream_st* stream) {
  stream->Add([=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
  return kSuccess;
}

int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes,
                         CUstream_st* stream) {
  stream->Add([=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
  return kSuccess;
}

int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes,
                    CUstream_st* stream) {
  stream->Add([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  return kSuccess;
}

int cuStreamCreate(CUstream_st** stream, unsigned) {
  *stream = new CUstream_st;
  return kSuccess;
}

int cuStreamQuery(CUstream_st* stream) { return stream->Idle() ? kSuccess : kNotReady; }

int cuLaunchHostFunc(CUstream_st* stream, void (*function)(void*), void* argument) {
  stream->Add([=] { function(argument); });
  return kSuccess;
}

int cuEventCreate(CUevent_st** event, unsigned) {
  *event = new CUevent_st;
  return kSuccess;
}

int cuEventRecord(CUevent_st* event, CUstream_st* stream) {
  stream->Add([=] { event->at_us = NowUs(*stream); });
  return kSuccess;
}

int cuEventElapsedTime(float* ms, CUevent_st* from, CUevent_st* to) {
  *ms = static_cast<float>((to->at_us - from->at_us) / 1e3);
  return kSuccess;
}

// Not CUDA's: from inside the stream's own work, how long that work shall have taken.
void fakeCudaClaim(CUstream_st* stream, double us) {
  stream->claims = true;
  stream->claimed_us += us;
}

}  // extern "C"
