#pragma once

#include <vector>

#include "reconciler/cabling/view.h"
#include "reconciler/node/node_pool.h"

namespace reconciler {

// Finds out, from all `nodes` at the same time, which port is at the other end of each cage.
// Takes about 3 s. A node that does not answer has a view that says why. Nothing outlasts it on a
// node; see cabling_script.h.
CablingViews ObserveCabling(const ClusterSpec& cluster, const std::vector<const NodeSpec*>& nodes,
                            NodePool& pool);

}  // namespace reconciler
