#pragma once

#include <vector>

#include "plugins/nccl/section.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// What is wrong on a node and cannot be mended here: the library does not do what the manifest
// asks, or somebody else's file sets what nobody reads, what wins over ours, or what only some
// ranks have. `environment` is what we want there; empty when that cannot be told.
std::vector<Diagnostic> ListFindings(const Section& section, const PluginInput& input,
                                     const Environment& environment);

}  // namespace reconciler::plugins::nccl
