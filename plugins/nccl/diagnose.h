#pragma once

#include <vector>

#include "plugins/nccl/leftovers/adopted_lines.h"
#include "plugins/nccl/section.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// What is wrong on a node and cannot be repaired here: the library does not do what the manifest
// requires, or another owner's file sets what no one reads, what wins over ours, or what only some
// ranks have. `environment` is what we want there; empty when that cannot be determined.
std::vector<Diagnostic> DiagnoseSettings(const Section& section, const PluginInput& input,
                                         const Environment& environment);

// Of files whose lines `adopt` may take over, the variables that should not be set there.
VariablesByFile ListRemovable(const Section& section, const PluginInput& input,
                              const Environment& environment);

}  // namespace reconciler::plugins::nccl
