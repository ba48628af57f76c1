#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// What was measured between two nodes alone.
struct PairVerdict {
  NodeName a = {};
  NodeName b = {};
  bool good = false;
  std::string seen = {};  // "23.1 GB/s", or what went wrong
  bool measured = true;   // false: it could not be measured, and says nothing of either node
  bool operator==(const PairVerdict&) const = default;
};

// The nodes of which most pairs are bad, while pairs without them are good: they are at fault, and
// not those that had to work with them. Empty when the pairs do not agree on any.
std::vector<NodeName> FindNodesAtFault(const std::vector<PairVerdict>& pairs);

}  // namespace reconciler
