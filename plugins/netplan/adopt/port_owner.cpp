#include "plugins/netplan/adopt/port_owner.h"

#include <algorithm>
#include <vector>

#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adopt/owner_files.h"

namespace reconciler::plugins::netplan {
namespace {

// Of the profiles that NetworkManager makes on its own, for a port that no other one is for.
constexpr int kLowestPriority = -999;

PortOwner FindUnit(const NodeFacts& facts, const std::string& netdev, const LinkFact& link) {
  for (const OwnerFile& file : ListUnits(facts)) {
    if (file.state == nullptr) return {.unclear = file.unclear};
    const std::string& text = file.state->content;
    if (!IsUnmanaging(text) && IsUnitAbout(text, netdev, link)) return {.path = file.path};
  }
  return {};
}

// One that never connects on its own brings no values to the port. One that cannot be read may have
// it.
PortOwner FindProfile(const NodeFacts& facts, const std::string& netdev, const LinkFact& link) {
  for (const HeldProfile& held : ListHeldProfiles(facts)) {
    const bool connects = held.profile.autoconnect && held.profile.priority > kLowestPriority;
    if (connects && FindFit(held, netdev, &link) == ProfileFit::kNamed) return {.path = held.path};
  }
  for (const OwnerFile& file : ListProfiles(facts)) {
    if (file.state == nullptr) return {.unclear = file.unclear};
  }
  return {};
}

}  // namespace

PortOwner FindForeignOwner(const NodeFacts& facts, const std::string& netdev) {
  const auto link = facts.links.find(netdev);
  if (link == facts.links.end()) return {};
  const ForeignTree tree = ReadForeignTree(facts, {netdev});
  if (!tree.unclear.empty()) return {.unclear = tree.unclear};
  if (!tree.claims.empty()) {
    // The last file name wins where they differ. What netplan generates of a profile is no file of
    // ours.
    const auto last = std::find_if(tree.claims.rbegin(), tree.claims.rend(), [](const Claim& one) {
      return one.kind == ClaimKind::kNetplan;
    });
    const bool by_netplan = last != tree.claims.rend();
    return {.path = by_netplan ? last->path : tree.claims.back().path, .by_netplan = by_netplan};
  }
  PortOwner owner;
  if (link->second.manager != LinkManager::kNetworkManager) {
    owner = FindUnit(facts, netdev, link->second);
  }
  const bool found = !owner.path.empty() || !owner.unclear.empty();
  if (found || link->second.manager == LinkManager::kNetworkd) return owner;
  return FindProfile(facts, netdev, link->second);
}

}  // namespace reconciler::plugins::netplan
