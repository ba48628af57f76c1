#pragma once

#include <string>

namespace reconciler::spark_verify {

// One JSON object on one line: the devices as verbs know them. Without libibverbs "error" says why
// and there are no devices. "gpu" is what CUDA says, as ReadGpuFacts. What sysfs has as well
// (PCI, firmware) is taken from there.
std::string FormatFactsLine();

}  // namespace reconciler::spark_verify
