#pragma once

#include <string>
#include <utility>

#include "reconciler/spark_verify/nccl/cuda_api.h"
#include "reconciler/spark_verify/nccl/supervisor.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler::spark_verify {

// What ends a rank early.
using Step = tl::expected<void, NcclFailure>;

// One GPU of this process: CUDA found and begun, calls that say what went wrong.
class Gpu {
 public:
  explicit Gpu(Supervisor& supervisor) : supervisor_(supervisor) {}

  // Finds the driver and the GPU, and reports them in `hello`.
  Step Find(int ordinal, NcclHello& hello);
  // From here on the process uses the GPU. Reports memory in `hello`.
  Step Begin(NcclHello& hello);

  // `call`: a literal, for the failure.
  template <class... Declared, class... Given>
  Step Call(const char* call, int (*function)(Declared...), Given... arguments) {
    supervisor_.RecordCall(call);
    const int result = function(arguments...);
    supervisor_.RecordCall("");
    if (result == 0) return {};
    return tl::unexpected(Failure(call, result));
  }
  NcclFailure Failure(const char* call, int result) const;

  Step Allocate(CuPointer& buffer, std::size_t bytes);
  const Cuda& cuda() const { return cuda_; }
  CuStream stream() const { return stream_; }

 private:
  int Attribute(int attribute, int unknown);

  Supervisor& supervisor_;
  Cuda cuda_ = {};
  CuDevice device_ = 0;
  CuStream stream_ = nullptr;
};

}  // namespace reconciler::spark_verify
