#pragma once

#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// Lines of files that have several, for each plugin that reads any of them: one process reads all.
// The state files of networkd and NetworkManager change while nodes are read, which would spoil a
// ReadFiles of them.
inline constexpr const char* kLines = "common.lines";
inline constexpr int kLinesLimitS = 5;
RunProbe MakeLinesProbe();  // says "PATH:LINE" for each

}  // namespace reconciler::plugins
