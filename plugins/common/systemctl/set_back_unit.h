#pragma once

#include "reconciler/model/plan.h"

namespace reconciler::plugins {

// For Plugin::check_prune. Commands of the prune about one unit ("systemctl WORDS… -- UNIT") do
// nothing where the unit is gone by the time that they run. The ledger keeps them as they are, so
// that this holds for entries of all versions.
void SkipUnitsThatAreGone(Change& change);

}  // namespace reconciler::plugins
