#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// Leaves out of a prune what leads to the node by now, and what another owner has by now.
Ownership CheckPrune(const PluginInput& input, Change& change);

}  // namespace reconciler::plugins::netplan
