#include "reconciler/spark_verify/facts/gpu_facts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/nccl/library.h"

namespace reconciler::spark_verify {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kNoDevice = 100;       // CUDA_ERROR_NO_DEVICE
constexpr int kGpuDirectRdma = 116;  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
constexpr int kDmaBuf = 124;         // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED

Json MakeError(const char* call, int result) {
  return {{"error", fmt::format("{} says {}", call, result)}};
}

}  // namespace

Json ReadGpuFacts() {
  const auto library = Library::Open("libcuda.so.1");
  if (!library) return {{"missing", library.error().message}};
  int (*init)(unsigned) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  if (!library->Find("cuInit", init) || !library->Find("cuDeviceGet", device_get) ||
      !library->Find("cuDeviceGetAttribute", device_attribute)) {
    return {{"missing", "libcuda.so.1 has no " + library->missing()}};
  }
  if (const int result = init(0); result != 0) {
    return result == kNoDevice ? Json{{"missing", "CUDA sees no GPU"}}
                               : MakeError("cuInit", result);
  }
  int device = 0;
  if (const int result = device_get(&device, 0); result != 0)
    return MakeError("cuDeviceGet", result);
  Json json = Json::object();
  for (const auto& [name, attribute] :
       {std::pair("gpu_direct_rdma", kGpuDirectRdma), std::pair("dma_buf", kDmaBuf)}) {
    int value = 0;
    if (const int result = device_attribute(&value, attribute, device); result != 0) {
      return MakeError("cuDeviceGetAttribute", result);
    }
    json[name] = value;
  }
  return json;
}

}  // namespace reconciler::spark_verify
