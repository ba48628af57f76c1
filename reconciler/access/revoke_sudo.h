#pragma once

#include <vector>

#include "reconciler/transport/first_access.h"

namespace reconciler {

struct SudoersResult {
  NodeName node = {};
  Result<SudoersRemoval> removal = SudoersRemoval::kAbsent;
};

// Removes what FixAccess wrote for sudo, node after node; one result per node, in their order. Last
// of all: afterwards the login may not become root any more.
std::vector<SudoersResult> RevokeSudoOnAll(const std::vector<const NodeSpec*>& nodes,
                                           const Dial& dial);

}  // namespace reconciler
