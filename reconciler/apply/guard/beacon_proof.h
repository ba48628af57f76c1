#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "reconciler/base/error.h"
#include "reconciler/fabric/beacon.h"

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

// Ports of the fabric, as node and netdev.
using PortNames = std::set<std::pair<NodeName, std::string>>;

// Without the peers to which every path of a node has a blocked port at one of its ends. The apply
// leaves those ports as they are, so that it cannot be held against it that no beacon gets through.
std::map<NodeName, BeaconPaths> RemovePeersBehindBlocked(std::map<NodeName, BeaconPaths> found,
                                                         const PortNames& blocked,
                                                         const Fabric& fabric);

// Peers that a node reaches over none of its interfaces: one error for those with the same causes.
// A peer that is reached over one interface is proved.
Errors FindSilentBeacons(const std::map<NodeName, BeaconPaths>& found);

}  // namespace reconciler
