#pragma once

#include <map>
#include <string_view>

#include "reconciler/apply/guard/beacon.h"
#include "reconciler/base/error.h"

namespace reconciler {

// What a node found when it looked for a peer's beacon over one of its interfaces.
enum class BeaconState {
  kAnswers,
  kSilent,
  kAbsent,        // the interface is
  kIpv6Disabled,  // disable_ipv6, or a kernel without IPv6
  kDown,
  kNoCarrier,
  kNoAddress,  // the interface takes no IPv6 address
  kNotMeasured,
};

using BeaconPaths = std::map<Peers::Path, BeaconState>;

// Reads lines "NODE IFACE STATE" for `paths`; those without a line are not measured.
BeaconPaths ParseBeaconReply(const std::vector<Peers::Path>& paths, std::string_view out);

// Peers that a node reaches over none of its interfaces: one error for those with the same causes.
// A peer that is reached over one interface is proved.
Errors FindSilentBeacons(const std::map<NodeName, BeaconPaths>& found);

}  // namespace reconciler
