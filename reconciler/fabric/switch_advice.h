#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// Bytes of an Ethernet frame around a packet: header, VLAN tag and checksum.
inline constexpr int kFrameOverhead = 22;

// What the switch must have for this fabric, a line each, in no vendor's language. Nothing is ever
// sent to a switch.
std::vector<std::string> ListSwitchRequirements(const ClusterSpec& cluster, const SwitchSpec& one);

// The same as commands for its operating system, a line each; empty where that is not known.
std::vector<std::string> ListSwitchCommands(const ClusterSpec& cluster, const SwitchSpec& one);

}  // namespace reconciler
