#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/adoption.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

Adoption JudgeUnit(const PluginInput& input, const AdoptEntry& entry,
                   const std::vector<std::string>& netdevs, const Protection& protection);

// Entries of the units that claim ports of ours and can be named.
std::vector<AdoptEntry> ListClaimingUnits(const PluginInput& input,
                                          const std::vector<std::string>& netdevs);

// After it was written back.
std::vector<Action> RevertToUnit(const PluginInput& input, const Adoption& adoption);

// The ports that a unit matches, also those of the node's cages that are not there.
std::vector<std::string> ListPortsOfUnit(const PluginInput& input, const std::string& text);

// Makes networkd read its files again and use the unit on the ports that are there and that no
// other owner has.
std::vector<RunCommand> ActivateUnit(const PluginInput& input, const std::string& text);

}  // namespace reconciler::plugins::netplan
