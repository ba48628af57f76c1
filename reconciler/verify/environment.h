#pragma once

#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler {

// All that the plugins want programs on the node to find, in their order; empty when no section of
// the manifest sets variables. `env` prints it, and runs of NCCL get it.
Result<Environment> CollectEnvironment(const PluginInput& input,
                                       const std::vector<Plugin>& plugins);

}  // namespace reconciler
