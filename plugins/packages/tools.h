#pragma once

#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::packages {

// Of `minimum_versions`: what is missing or too old on the node, and what is older than on another
// node.
std::vector<Diagnostic> DiagnoseTools(const PluginInput& input);

}  // namespace reconciler::plugins::packages
