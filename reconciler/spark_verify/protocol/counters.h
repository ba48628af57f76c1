#pragma once

#include "reconciler/spark_verify/protocol/messages.h"

namespace reconciler::spark_verify {

// What grew, and the counters of a port's data also where they stood still. A counter that fell has
// wrapped at 32 bits (mlx5's per-port ones do).
Counters ComputeGrowth(const Counters& before, const Counters& after);

}  // namespace reconciler::spark_verify
