#pragma once

#include <string>
#include <vector>

#include "plugins/common/protection/protection.h"
#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adoption.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

struct Intent;

// A live bond or bridge that no netplan file makes, and that the manifest's `adopt` names for a
// node: nothing but its live state is left of it after that, in the ledger.
struct LiveMaster {
  std::string name = {};
  std::vector<std::string> members = {};  // sorted; all that follows is only about one with members
  std::string why_not = {};               // not empty: it is not adopted
  std::string next_step = {};             // what to do about that
  Position position = {};
};

// `netdevs`: those that our file configures.
std::vector<LiveMaster> FindLiveMasters(const PluginInput& input, const Masters& named,
                                        const std::vector<Adoption>& adoptions,
                                        const std::vector<std::string>& netdevs,
                                        const Protection& protection);

// The names of those that are adopted.
Masters ListAdopted(const std::vector<LiveMaster>& masters);

// In the claims of those that are not.
void ExplainNotAdopted(const std::vector<LiveMaster>& masters, std::vector<Claim>& claims);

// Those that nothing but a missing entry keeps from being adopted.
std::vector<AdoptableFile> ListAdoptableMasters(const PluginInput& input,
                                                const std::vector<std::string>& netdevs);

// They are deleted; a revert and a prune make them again, live.
std::vector<Resource> MakeLiveMasters(const PluginInput& input, const Intent& intent);

bool IsLiveMaster(const Change& change);
// Of the prune of one: its name stands in the change.
std::vector<std::string> ListMembersOf(const Change& change);

}  // namespace reconciler::plugins::netplan
