#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::sysctl {

// `fabric: {arp: manage}`, which is the default.
bool IsArpManaged(const ClusterSpec& cluster);

// What makes each of the node's rail ports answer for its own address alone: canonical key → value.
std::map<std::string, std::string> ListArpValues(const std::vector<RailPort>& ports);

// What is read of ARP whether it is managed or not: also of the cages that no cable uses, since
// `discover` reads nodes before it knows where their cables are.
std::set<std::string> ListArpKeys(const Fabric& fabric, const NodeName& node);

// Whether our file sets what ListArpValues says of the node's ports.
FoundSetting FindArpSetting(const PluginInput& input);

// Where the manifest leaves ARP alone: the ports of the node that may answer for another one's
// address. `wanted`: what the manifest's own section sets, by canonical key.
std::vector<Diagnostic> FindMisleadingArp(const PluginInput& input,
                                          const std::map<std::string, std::string>& wanted);

}  // namespace reconciler::plugins::sysctl
