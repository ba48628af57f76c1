#pragma once

#include <optional>

#include "reconciler/model/probe.h"

namespace reconciler::plugins {

inline constexpr const char* kIp = "host.ip";
inline constexpr int kIpLimitS = 5;  // a driver that hangs with the RTNL lock held freezes `ip`

// Interfaces with their addresses and all that `ip` knows of them, and routes, for each plugin that
// reads any of it: it runs once.
RunProbe MakeIpProbe();

// Of routes, iproute2 before 5.x prints nothing where there is none.
struct IpReply {
  CommandReply addresses = {};
  CommandReply routes = {};       // of IPv4, in the main table
  CommandReply ipv6_routes = {};  // in all tables, those of the kernel among them
};
// nullopt: it was not run.
std::optional<IpReply> FindIpReply(const ProbeReply& reply);

}  // namespace reconciler::plugins
