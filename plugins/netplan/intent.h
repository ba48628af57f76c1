#pragma once

#include <string>
#include <vector>

#include "plugins/common/protection/protection.h"
#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adoption.h"
#include "plugins/netplan/live_master.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// What the manifest wants of one node, and what stands in the way.
struct Intent {
  std::vector<RailPort> ports = {};
  std::vector<std::string> down = {};  // unused netdevs that must be down
  ForeignTree tree = {};
  std::vector<Claim> claims = {};  // of `tree`, and of what else has the interfaces
  std::string owner_unclear = {};  // not empty: why `claims` may lack some
  Protection protection = {};
  std::vector<Adoption> adoptions = {};
  std::vector<LiveMaster> masters = {};  // that no file makes
  Obstacle blocked = {};                 // why nothing may be changed here
  Obstacle link_blocked = {};            // the same for every link; claims come on top
  Obstacle down_blocked = {};            // on top of it for those of `down`
};

Intent BuildIntent(const PluginInput& input);

// The node's rail ports; empty when the fabric has none there.
const std::vector<RailPort>& GetPorts(const Fabric& fabric, const NodeName& node);

// All that the node's hardware profile has, with or without a cable; none without a profile.
std::vector<std::string> ListCageNetdevs(const PluginInput& input);

// Netdevs of unused cages that the manifest wants down.
std::vector<std::string> ListDownNetdevs(const PluginInput& input);

// nullptr: the node has no such interface.
const LinkFact* FindLink(const PluginInput& input, const std::string& netdev);

// Why this interface may not be changed.
Obstacle FindLinkObstacle(const Intent& intent, const std::string& netdev);

// The owner because of whom it may not; without a name where that is not the reason.
OtherOwner FindClaimant(const Intent& intent, const std::string& netdev);

// Whether something other than a netplan file has this interface besides us: a profile that
// connects it automatically, a networkd unit, a master.
bool IsLinkClaimed(const Intent& intent, const std::string& netdev);

// Makes what our file says of our interfaces known to their manager.
std::vector<RunCommand> RegenerateOurs(const Intent& intent);

// And makes the interfaces that are there follow it.
std::vector<RunCommand> ActivateOurs(const PluginInput& input, const Intent& intent);

// Reverts that where there was no file of ours before.
PruneCommands RemoveOurGenerated(const Intent& intent);

// NetworkManager activates a port on its own once there is a carrier, and cannot before.
bool CanReconfigure(const LinkFact* link, Renderer renderer);

}  // namespace reconciler::plugins::netplan
