#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/plugin.h"

namespace reconciler {

// What a manifest manages unless it says otherwise, as far as nodes have it already.
struct FoundManaged {
  bool arp = false;                    // something of ours sets it for a port, on one node at least
  bool names = false;                  // names of rails are ours, on one node at least
  bool others_names = false;           // others have written some
  std::vector<std::string> gaps = {};  // what an apply would change, for a person
};

// `fabric`: of the ports that were found.
FoundManaged FindManaged(const ClusterSpec& hosts, const Fabric& fabric, const ClusterFacts& facts,
                         const std::vector<Plugin>& plugins);

}  // namespace reconciler
