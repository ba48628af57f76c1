#pragma once

#include "reconciler/spark_verify/protocol/options.h"

namespace reconciler::spark_verify {

// One end of a write test: lines of the other end on stdin, its own on stdout (see messages.h).
// Returns the exit code: 0 when all data went over and was right at its receiver.
int RunWrite(const WriteOptions& options);

}  // namespace reconciler::spark_verify
