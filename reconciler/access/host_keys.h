#pragma once

#include <map>
#include <vector>

#include "reconciler/access/login_functions.h"

namespace reconciler {

struct HostKeyReport {
  std::map<NodeName, HostKey> keys = {};
  Errors errors = {};  // of the nodes without one, by name
};

// Of all nodes, `at_once` at a time (see ForEachNode).
HostKeyReport ReadHostKeys(const std::vector<const NodeSpec*>& nodes, std::size_t at_once,
                           const ReadKey& read_key);

// The nodes that have the same key, two or more in each group. Machines made from one image have
// one key: then neither can be distinguished from the other.
std::vector<std::vector<NodeName>> FindSharedKeys(const std::map<NodeName, HostKey>& keys);

}  // namespace reconciler
