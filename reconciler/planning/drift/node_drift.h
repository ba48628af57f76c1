#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// How one node differs from the manifest.
struct NodeDrift {
  NodeName node = {};            // empty: what concerns the cluster as a whole
  std::string unreachable = {};  // why it could not be read; nothing else is known then
  std::size_t changes = 0;       // that an apply would make
  std::size_t blocked = 0;       // that it would not make
  std::size_t drifted = 0;       // of both: of what differs from what was applied
  // A line per change, and per warning or error beside the changes; printable.
  std::vector<std::string> differences = {};
};

// Each node of the plan in its order, also those that do not differ.
std::vector<NodeDrift> ListDrift(const Plan& plan);

// Warnings and errors that are about no node.
NodeDrift FindDriftOfCluster(const Plan& plan);

}  // namespace reconciler
