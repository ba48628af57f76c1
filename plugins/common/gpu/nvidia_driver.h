#pragma once

#include <string>

#include "reconciler/model/facts/gpu_facts.h"

namespace reconciler::plugins {

inline constexpr const char* kDriverFile = "/proc/driver/nvidia/version";

// From the first line of that file, whoever reads it.
Observed<NvidiaDriver> ParseNvidiaDriver(const Observed<std::string>& line);

}  // namespace reconciler::plugins
