#pragma once

#include <cstddef>
#include <vector>

#include "reconciler/manifest/read/node_view.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// The rails of the switches and of each cable: twins that only one end of a cable has carry
// nothing.
struct RailCounts {
  std::size_t on_switches = 0;
  std::vector<std::size_t> on_cables = {};  // in the order of the links, or of the ring
  bool all_twins = true;                    // every cable has two rails
  bool one_twin = false;                    // because the fabric uses one twin of each cage
  bool known = true;                        // every node has the cage in question
};

RailCounts CountRails(const Value& document, const std::vector<NodeView>& nodes, Topology topology);

}  // namespace reconciler
