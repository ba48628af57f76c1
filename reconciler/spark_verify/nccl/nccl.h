#pragma once

#include "reconciler/spark_verify/protocol/nccl_options.h"

namespace reconciler::spark_verify {

// One rank of an NCCL run, from its hello to its end (see nccl_messages.h). Ends the process.
[[noreturn]] void RunNccl(const NcclOptions& options);

}  // namespace reconciler::spark_verify
