#pragma once

#include <cstddef>
#include <vector>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// The one rule by which findings are joined: two are one where they have the same code and the same
// nodes, in any order, and, on one level, the same cause. So a fault that a lower level has named
// is not named again, and two cables of one pair of nodes stay two findings. The words and the
// level of the first one stay, rails and explained checks are added, and the worse outcome counts.
//
// Adds `finding` to `findings`, and returns the index of the one that has it now.
std::size_t JoinFinding(Finding finding, std::vector<Finding>& findings);

}  // namespace reconciler
