#pragma once

#include <string>

#include "reconciler/model/observed.h"

namespace reconciler::plugins {

// The fact, whoever reads the file: "open 580.142".
inline constexpr const char* kGpuDriverKey = "gpudirect.driver";
inline constexpr const char* kDriverFile = "/proc/driver/nvidia/version";

// From the first line of that file: "open 580.142" or "proprietary 580.142".
Observed<std::string> ParseNvidiaDriver(const Observed<std::string>& line);

}  // namespace reconciler::plugins
