#pragma once

#include <optional>

#include "reconciler/model/probe.h"

namespace reconciler::plugins {

inline constexpr const char* kIp = "host.ip";
inline constexpr int kIpLimitS = 5;  // a driver that hangs with the RTNL lock held freezes `ip`

// Interfaces with their addresses and all that `ip` knows of them, and routes of IPv4, for each
// plugin that reads any of it: it runs once.
RunProbe MakeIpProbe();

struct IpReply {
  CommandReply addresses = {};
  CommandReply routes = {};  // iproute2 before 5.x prints nothing where there is none
};
// nullopt: it was not run.
std::optional<IpReply> FindIpReply(const ProbeReply& reply);

}  // namespace reconciler::plugins
