#pragma once

#include <string>
#include <string_view>

#include "plugins/netplan/adopt/definitions.h"

namespace reconciler::plugins::netplan {

// What a unit of networkd says of the ports that it matches.
struct UnitDefinition {
  PortDefinition port = {};  // without a netdev
  std::string master = {};   // what it makes its ports members of; empty: nothing
};

UnitDefinition ReadUnit(std::string_view text);

}  // namespace reconciler::plugins::netplan
