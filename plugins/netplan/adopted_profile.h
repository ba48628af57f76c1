#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adoption.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// The entries with the files of the profiles that they name: those that are there, and those that
// the ledger has since they were adopted. Entries of netplan files stay as they are.
std::vector<AdoptEntry> FindKeyfiles(const PluginInput& input,
                                     const std::vector<AdoptEntry>& entries);

Adoption JudgeProfile(const PluginInput& input, const AdoptEntry& entry,
                      const std::vector<std::string>& netdevs, const Protection& protection);

// Entries of the profiles that claim ports of ours and can be named.
std::vector<AdoptEntry> ListClaimingProfiles(const PluginInput& input,
                                             const std::vector<std::string>& netdevs);

// After its file was written back, and what netplan generated of it.
std::vector<Action> RevertToProfile(const PluginInput& input, const Adoption& adoption);

// The ports that a profile names, also those that are not there.
std::vector<std::string> ListPortsOfProfile(const PluginInput& input, const HeldProfile& held);

// Makes NetworkManager read the profile again and use it on the ports that are there and that no
// other owner has.
std::vector<RunCommand> BringBackProfile(const NodeFacts& facts, const HeldProfile& held);

}  // namespace reconciler::plugins::netplan
