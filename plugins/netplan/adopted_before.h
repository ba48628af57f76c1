#pragma once

#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// What an earlier apply adopted and is not there any more, as `adopt` names it: with the digest of
// the ledger's text. While our file configures its ports, the entry must stay.
std::vector<AdoptableFile> ListAdoptedBefore(const PluginInput& input);

}  // namespace reconciler::plugins::netplan
