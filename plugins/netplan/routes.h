#pragma once

#include <string>

#include "reconciler/model/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// The netdevs of IPv4 default routes, from `ip -j -4 route show default`: names with a blank
// between them, sorted; Absent when there is none.
Observed<std::string> ParseDefaultRoutes(const CommandReply& reply);

}  // namespace reconciler::plugins::netplan
