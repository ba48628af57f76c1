#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// See Resource::needs and Change::needs; by the id of what needs them.
using Needs = std::map<std::string, std::vector<std::string>>;

// Blocks the changes that need a blocked one, those that need them, and the prunes that do. Of each
// cable among `segments` a link is blocked with the one at its other end: one end alone is of no
// use. What holds has no change, so that it stays as it is; nor is anything held by what is not in
// the plan. The reason names the nearest blocked one and not the first cause, which stands at its
// own change; of a plugin that the plan is not limited to, its reason is added. `hold_otherwise`:
// ids of changes that are known after apply, and that are no change where nothing that they need is
// carried out (see HoldsOtherwise).
void BlockDependents(const Needs& needs, const std::vector<Segment>& segments, Plan& plan,
                     const std::set<std::string>& hold_otherwise = {});

}  // namespace reconciler
