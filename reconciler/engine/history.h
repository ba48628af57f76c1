#pragma once

#include <string>
#include <vector>

#include "reconciler/engine/node_pool.h"

namespace reconciler {

// One committed apply as a node's ledger holds it.
struct Generation {
  int number = 0;             // counts from 1 on each node by itself
  std::string document = {};  // the JSON that was committed
};

// The node's ledger, oldest first; empty when nothing was ever applied there.
Result<std::vector<Generation>> ReadHistory(const NodeSpec& node, NodePool& pool);

}  // namespace reconciler
