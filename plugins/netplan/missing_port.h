#pragma once

#include <string>

#include "plugins/netplan/intent.h"
#include "reconciler/model/resource.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// Why the node has none of the fabric's ports; empty: it has one of them.
Obstacle FindNoPorts(const PluginInput& input, const Intent& intent);

// Why the node has no interface of that name, which a port of its profile has.
Obstacle ExplainMissingPort(const PluginInput& input, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
