#pragma once

#include <string>
#include <string_view>

#include "plugins/netplan/adopt/definitions.h"

namespace reconciler::plugins::netplan {

// What a profile's keyfile says of the port that it is activated on. `lost` names keys, and no
// values: some are secrets.
struct KeyfileDefinition {
  PortDefinition port = {};  // without a netdev
  std::string master = {};   // not empty: what it makes the port a member of
  bool disables_ipv6 = false;
};

KeyfileDefinition ReadKeyfile(std::string_view text);

}  // namespace reconciler::plugins::netplan
