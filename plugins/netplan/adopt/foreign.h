#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

enum class Renderer { kNetworkd, kNetworkManager };

// What of another owner says something about interfaces that are ours.
enum class ClaimKind {
  kNetplan,  // netplan merges the files: addresses add up, and the later file name wins for the
             // rest
  kUnit,     // networkd uses it instead of the unit that netplan generates from our file
  kProfile,  // NetworkManager may activate it instead of the profile that netplan generates
  kMaster,   // a bond, bridge or VRF that has the interfaces as its members, live
};

struct Claim {
  std::string path = {};                  // kMaster: the interface's name
  std::vector<std::string> netdevs = {};  // in the order requested
  std::vector<std::string> leading = {};  // of all that lead to the node, those that it names
  ClaimKind kind = ClaimKind::kNetplan;
  // Why it is not adopted although `adopt` names it, and what to do so that it is.
  std::string not_adopted = {};
  std::string to_adopt = {};
  std::string profile = {};  // kProfile: its id, or its UUID where the id holds more than a word
  int priority = 0;          // kProfile: of autoconnect
};

struct ForeignTree {
  Renderer renderer = Renderer::kNetworkd;  // of interfaces whose file names none
  std::vector<std::string> files = {};      // that netplan reads, in its order, without ours
  std::vector<Claim> claims = {};
  std::string unclear = {};  // not empty: why the rest of this cannot be trusted
};

// The netplan files of a node other than ours. As netplan does it: sorted by file name whatever the
// folder, and of one name /run hides /etc hides /lib. `leading`: interfaces that lead to the node.
// `without`: paths that are taken for absent.
ForeignTree ReadForeignTree(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                            const std::vector<std::string>& leading = {},
                            const std::set<std::string>& without = {});

// Who writes files of that name, as far as known: "NVIDIA Sync"; empty otherwise.
std::string GuessOwner(const std::string& path);

// The same, with files that NVIDIA Sync took out of netplan's sight: it renames those that are in
// its way (NVIDIA's documentation of Sync's Cluster Assistant).
std::string DescribeOwner(const NodeFacts& facts, const std::string& path);

constexpr const char* kDisabledBySync = "/etc/netplan/*.sync-disabled-*";  // pattern of these files

}  // namespace reconciler::plugins::netplan
