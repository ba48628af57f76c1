#pragma once

#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/value.h"

namespace reconciler {

// `switches` as far as it is well formed. Entries without a name are left out. A cable between
// switches goes at the rate of its slower end, where a breakout defines the far one's.
std::vector<SwitchSpec> ViewSwitches(const Value& document);

}  // namespace reconciler
