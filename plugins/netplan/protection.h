#pragma once

#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// Why none of these interfaces may be changed on this node, because one of them leads to it or
// because that cannot be told; empty: they may.
std::string WhyProtected(const PluginInput& input, const std::vector<std::string>& netdevs);

// The netdevs of IPv4 default routes, from `ip -j -4 route show default`: names with a blank
// between them, sorted; Absent when there is none.
Observed<std::string> ParseDefaultRoutes(const CommandReply& reply);

}  // namespace reconciler::plugins::netplan
