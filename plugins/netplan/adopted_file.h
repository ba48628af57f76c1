#pragma once

#include <vector>

#include "plugins/netplan/intent.h"

namespace reconciler::plugins::netplan {

// The files that `adopt` names for the node: none of them is there afterwards.
std::vector<Resource> MakeAdoptedFiles(const PluginInput& input, const Intent& intent);

}  // namespace reconciler::plugins::netplan
