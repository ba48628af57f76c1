#pragma once

#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::cli {

// All that the plugins want programs on the node to find, in their order; empty when no section of
// the manifest sets variables.
Result<Environment> CollectEnvironment(const PluginInput& input);

}  // namespace reconciler::cli
