#pragma once

#include <string>

#include "reconciler/spark_verify/protocol/messages.h"

namespace reconciler::spark_verify {

// Whatever counters the kernel has of port 1 of every device below `root`/sys: their names differ
// between drivers.
Counters ReadCounters(const std::string& root);

// Speed of the HCA's interface and of its PCIe link as they are now.
Limits ReadLimits(const std::string& root, const std::string& hca);

}  // namespace reconciler::spark_verify
