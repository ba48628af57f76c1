#pragma once

#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/plugin.h"

namespace reconciler {

// Indices into `plugins`, grouped so that each plugin stands in a later stage than everything it
// names in `after`, and as early as that allows; registry order within a stage. Errors: a cycle
// (its members are named) or an `after` that no plugin bears.
Result<std::vector<std::vector<std::size_t>>> OrderPlugins(const std::vector<Plugin>& plugins);

}  // namespace reconciler
