#pragma once

#include "reconciler/model/probe.h"

namespace reconciler::plugins {

inline constexpr const char* kIpAddresses = "host.ip";
inline constexpr int kIpLimitS = 5;  // a driver that hangs with the RTNL lock held freezes `ip`

// Interfaces with their addresses and all that `ip` knows of them, for each plugin that reads any
// of it: it runs once.
RunProbe MakeIpProbe();

}  // namespace reconciler::plugins
