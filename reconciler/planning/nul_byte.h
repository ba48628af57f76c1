#pragma once

#include "reconciler/model/ledger.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// A shell drops NUL bytes, and no path or argument can hold one: what holds one cannot be carried
// out as it stands. A node may say it all the same, in JSON as an escape.
bool HoldsNul(const Ledger& ledger);
// Blocks a change whose steps, or whose later prune, would hold one.
void BlockIfNul(Change& change);

}  // namespace reconciler
