#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/settings.h"

namespace reconciler::plugins::netplan {

// What a profile's keyfile says of the port that it is activated on. `lost` names keys, and no
// values: some are secrets.
struct KeyfileDefinition {
  PortDefinition port = {};  // without a netdev
  std::string master = {};   // not empty: what it makes the port a member of
  bool disables_ipv6 = false;
};

KeyfileDefinition ReadKeyfile(std::string_view text);

// How a port gets its addresses, in NetworkManager's words.
struct AddressMethods {
  std::string ipv4 = "manual";
  std::string ipv6 = "auto";  // what NetworkManager does where a keyfile says nothing
};

// Adds to `found` what these settings say. `usual`: the methods where they name none.
void AddKeyfileSettings(const std::vector<Setting>& settings, const AddressMethods& usual,
                        KeyfileDefinition& found);

}  // namespace reconciler::plugins::netplan
