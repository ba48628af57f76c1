#pragma once

#include <nlohmann/json_fwd.hpp>

namespace reconciler::spark_verify {

// What CUDA says of the first GPU (all of a machine are of one kind): {"gpu_direct_rdma": 0,
// "dma_buf": 0}, {"missing": REASON} where there is no libcuda or it cannot be queried, or
// {"error": REASON} where it failed.
nlohmann::ordered_json ReadGpuFacts();

}  // namespace reconciler::spark_verify
