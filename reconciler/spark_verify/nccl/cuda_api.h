#pragma once

#include <cstddef>
#include <cstdint>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

// The part of CUDA's driver interface that is used here, as cuda.h of CUDA 12 and 13 declares it.
// Handles are opaque pointers, results are integers. A CUstream is a cudaStream_t, and a device's
// primary context is the one that NCCL's runtime works in.
using CuDevice = int;
using CuPointer = unsigned long long;
using CuContext = struct CuContextOpaque*;
using CuStream = struct CuStreamOpaque*;
using CuEvent = struct CuEventOpaque*;

inline constexpr int kCuNotReady = 600;        // CUDA_ERROR_NOT_READY
inline constexpr unsigned kCuNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr int kCuIntegrated = 18;       // attributes, CU_DEVICE_ATTRIBUTE_…
inline constexpr int kCuComputeMajor = 75;     // COMPUTE_CAPABILITY_MAJOR
inline constexpr int kCuComputeMinor = 76;     // COMPUTE_CAPABILITY_MINOR
inline constexpr int kCuGpuDirectRdma = 116;   // GPU_DIRECT_RDMA_SUPPORTED
inline constexpr int kCuDmaBuf = 124;          // DMA_BUF_SUPPORTED

struct Cuda {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(CuDevice*, int) = nullptr;
  int (*device_name)(char*, int, CuDevice) = nullptr;
  int (*device_attribute)(int*, int, CuDevice) = nullptr;
  int (*device_pci)(char*, int, CuDevice) = nullptr;
  int (*retain_context)(CuContext*, CuDevice) = nullptr;
  int (*set_context)(CuContext) = nullptr;
  int (*mem_info)(std::size_t*, std::size_t*) = nullptr;
  int (*mem_alloc)(CuPointer*, std::size_t) = nullptr;
  int (*host_alloc)(void**, std::size_t) = nullptr;
  int (*to_device)(CuPointer, const void*, std::size_t, CuStream) = nullptr;
  int (*to_host)(void*, CuPointer, std::size_t, CuStream) = nullptr;
  int (*within_device)(CuPointer, CuPointer, std::size_t, CuStream) = nullptr;
  int (*set_bytes)(CuPointer, unsigned char, std::size_t, CuStream) = nullptr;
  int (*stream_create)(CuStream*, unsigned) = nullptr;
  int (*stream_query)(CuStream) = nullptr;
  int (*event_create)(CuEvent*, unsigned) = nullptr;
  int (*event_record)(CuEvent, CuStream) = nullptr;
  int (*event_elapsed)(float*, CuEvent, CuEvent) = nullptr;  // ms
};

// libcuda.so.1, which comes with the driver. Errors: it is missing, or lacks one of these.
Result<Cuda> LoadCuda();

}  // namespace reconciler::spark_verify
