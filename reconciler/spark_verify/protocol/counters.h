#pragma once

#include <string>

#include "reconciler/spark_verify/protocol/messages.h"

namespace reconciler::spark_verify {

// Whatever counters the kernel has of port 1 of every device below `root`/sys: their names differ
// between drivers.
Counters ReadCounters(const std::string& root);

// What grew, and the counters of a port's data also where they stood still. A counter that fell has
// wrapped at 32 bits (mlx5's per-port ones do).
Counters ComputeGrowth(const Counters& before, const Counters& after);

// Speed of the HCA's interface and of its PCIe link as they are now.
Limits ReadLimits(const std::string& root, const std::string& hca);

}  // namespace reconciler::spark_verify
