#include "reconciler/spark_verify/nccl/gpu.h"

#include <fmt/format.h>

namespace reconciler::spark_verify {

NcclFailure Gpu::Failure(const char* call, int result) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  cuda_.error_name(result, &name);
  cuda_.error_string(result, &meaning);
  constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE
  return {.code = result == kNoDevice ? "no-gpu" : "cuda",
          .phase = supervisor_.phase(),
          .call = call,
          .result = result,
          .text = fmt::format("wanted {} to succeed, found {}: {}", call,
                              name != nullptr ? name : std::to_string(result),
                              meaning != nullptr ? meaning : "CUDA does not say more")};
}

int Gpu::Attribute(int attribute, int unknown) {
  int value = unknown;
  return Call("cuDeviceGetAttribute", cuda_.device_attribute, &value, attribute, device_) ? value
                                                                                          : unknown;
}

Step Gpu::Find(int ordinal, NcclHello& hello) {
  supervisor_.RecordCall("dlopen of libcuda.so.1");
  const auto cuda = LoadCuda();
  supervisor_.RecordCall("");
  if (!cuda) {
    return tl::unexpected<NcclFailure>({.code = "no-libcuda",
                                        .phase = supervisor_.phase(),
                                        .call = "dlopen",
                                        .text = cuda.error().message,
                                        .hint = cuda.error().hint});
  }
  cuda_ = *cuda;
  char text[256] = {};
  int count = 0;
  if (auto step = Call("cuInit", cuda_.init, 0u); !step) return step;
  if (auto step = Call("cuDriverGetVersion", cuda_.driver_version, &hello.cuda_driver); !step) {
    return step;
  }
  if (auto step = Call("cuDeviceGetCount", cuda_.device_count, &count); !step) return step;
  if (ordinal >= count) {
    return tl::unexpected<NcclFailure>(
        {.code = count == 0 ? "no-gpu" : "cuda",
         .phase = supervisor_.phase(),
         .call = "cuDeviceGetCount",
         .text = fmt::format("wanted GPU {}, found {} of them", ordinal, count)});
  }
  if (auto step = Call("cuDeviceGet", cuda_.device_get, &device_, ordinal); !step) return step;
  const int most = sizeof text - 1;
  if (auto step = Call("cuDeviceGetName", cuda_.device_name, text, most, device_); !step) {
    return step;
  }
  hello.gpu = text;
  if (auto step = Call("cuDeviceGetPCIBusId", cuda_.device_pci, text, most, device_); !step) {
    return step;
  }
  hello.pci = text;
  hello.compute = Attribute(kCuComputeMajor, 0) * 10 + Attribute(kCuComputeMinor, 0);
  hello.integrated = Attribute(kCuIntegrated, 0) == 1;
  hello.gpu_direct_rdma = Attribute(kCuGpuDirectRdma, -1);
  hello.dma_buf = Attribute(kCuDmaBuf, -1);
  return {};
}

Step Gpu::Begin(NcclHello& hello) {
  CuContext context = nullptr;
  std::size_t free = 0;
  std::size_t total = 0;
  if (auto step = Call("cuDevicePrimaryCtxRetain", cuda_.retain_context, &context, device_);
      !step) {
    return step;
  }
  if (auto step = Call("cuCtxSetCurrent", cuda_.set_context, context); !step) return step;
  if (auto step = Call("cuMemGetInfo", cuda_.mem_info, &free, &total); !step) return step;
  hello.gpu_free = free;
  hello.gpu_total = total;
  return Call("cuStreamCreate", cuda_.stream_create, &stream_, kCuNonBlocking);
}

Step Gpu::Allocate(CuPointer& buffer, std::size_t bytes) {
  return Call("cuMemAlloc", cuda_.mem_alloc, &buffer, bytes);
}

}  // namespace reconciler::spark_verify
