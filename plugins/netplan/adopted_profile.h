#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/adoption.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// The entries with the keyfiles of the profiles that they name: those that are there, and those
// that the ledger has since they were adopted. Entries of netplan files stay as they are.
std::vector<AdoptEntry> FindKeyfiles(const PluginInput& input,
                                     const std::vector<AdoptEntry>& entries,
                                     const std::vector<std::string>& netdevs);

Adoption JudgeProfile(const PluginInput& input, const AdoptEntry& entry,
                      const std::vector<std::string>& netdevs, const Protection& protection);

// Entries of the profiles that claim ports of ours and can be named.
std::vector<AdoptEntry> ListClaimingProfiles(const PluginInput& input,
                                             const std::vector<std::string>& netdevs);

// After its keyfile was written back.
std::vector<Action> RevertToProfile(const PluginInput& input, const Adoption& adoption);

// The ports that a keyfile names, also those that are not there.
std::vector<std::string> ListPortsOfKeyfile(const PluginInput& input, const std::string& text);

// Makes NetworkManager read the keyfile again and use it on the ports that are there and that no
// other owner has.
std::vector<RunCommand> ActivateKeyfile(const NodeFacts& facts, const std::string& path,
                                        const FileState& keyfile);

}  // namespace reconciler::plugins::netplan
