#pragma once

#include <string>
#include <vector>

#include "reconciler/discovery/addresses.h"

namespace reconciler {

// What a manifest manages unless it says otherwise, as far as nodes have it already.
struct FoundManaged {
  bool arp = false;                    // a file of ours sets it for a port, on one node at least
  bool names = false;                  // a block of ours has names of rails, on one node at least
  bool others_names = false;           // lines of others have some
  std::vector<std::string> gaps = {};  // what an apply would change, for a person
};

// `nodes`: in the order of the manifest. `addresses`: of these rails.
FoundManaged FindManaged(const std::vector<NodeName>& nodes, const std::vector<FoundRail>& rails,
                         const FoundAddresses& addresses, const ClusterFacts& facts);

}  // namespace reconciler
