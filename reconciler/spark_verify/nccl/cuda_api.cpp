#include "reconciler/spark_verify/nccl/cuda_api.h"

#include <fmt/format.h>

#include "reconciler/spark_verify/nccl/library.h"

namespace reconciler::spark_verify {

Result<Cuda> LoadCuda() {
  const auto library = Library::Open("libcuda.so.1");
  if (!library) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted libcuda.so.1, the loader says: {}",
                                        library.error().message),
                 .hint = "it comes with NVIDIA's driver"});
  }
  Cuda cuda;
  const bool all = library->Find("cuInit", cuda.init) &&
                   library->Find("cuDriverGetVersion", cuda.driver_version) &&
                   library->Find("cuGetErrorName", cuda.error_name) &&
                   library->Find("cuGetErrorString", cuda.error_string) &&
                   library->Find("cuDeviceGetCount", cuda.device_count) &&
                   library->Find("cuDeviceGet", cuda.device_get) &&
                   library->Find("cuDeviceGetName", cuda.device_name) &&
                   library->Find("cuDeviceGetAttribute", cuda.device_attribute) &&
                   library->Find("cuDeviceGetPCIBusId", cuda.device_pci) &&
                   library->Find("cuDevicePrimaryCtxRetain", cuda.retain_context) &&
                   library->Find("cuCtxSetCurrent", cuda.set_context) &&
                   library->Find("cuMemGetInfo_v2", cuda.mem_info) &&
                   library->Find("cuMemAlloc_v2", cuda.mem_alloc) &&
                   library->Find("cuMemAllocHost_v2", cuda.host_alloc) &&
                   library->Find("cuMemcpyHtoDAsync_v2", cuda.to_device) &&
                   library->Find("cuMemcpyDtoHAsync_v2", cuda.to_host) &&
                   library->Find("cuMemcpyDtoDAsync_v2", cuda.within_device) &&
                   library->Find("cuMemsetD8Async", cuda.set_bytes) &&
                   library->Find("cuStreamCreate", cuda.stream_create) &&
                   library->Find("cuStreamQuery", cuda.stream_query) &&
                   library->Find("cuEventCreate", cuda.event_create) &&
                   library->Find("cuEventRecord", cuda.event_record) &&
                   library->Find("cuEventElapsedTime", cuda.event_elapsed);
  if (all) return cuda;
  return Fail({.kind = ErrorKind::kVerify,
               .message = fmt::format("wanted libcuda.so.1 of CUDA 12 or newer, found no {} in it",
                                      library->missing()),
               .hint = "install a newer driver"});
}

}  // namespace reconciler::spark_verify
