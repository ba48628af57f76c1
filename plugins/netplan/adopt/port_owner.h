#pragma once

#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// The file of another owner that configures a port, so that a prune must leave the port to it.
struct PortOwner {
  std::string path = {};     // empty: there is none
  bool by_netplan = false;   // what netplan generated for the port is this file's, too
  std::string unclear = {};  // not empty: why the rest cannot be trusted
};

// A netplan file, a unit of networkd or a profile of NetworkManager that names the port, or matches
// it. What only the other manager reads does not count, and neither does a profile that does not
// connect on its own: it has no effect on the port.
PortOwner FindForeignOwner(const NodeFacts& facts, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
