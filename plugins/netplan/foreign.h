#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

enum class Renderer { kNetworkd, kNetworkManager };

// A netplan file of another owner that says something about interfaces that are ours. netplan would
// merge the two: addresses add up, and the later file name wins for the rest.
struct Claim {
  std::string path = {};
  std::vector<std::string> netdevs = {};  // in the order requested
  std::vector<std::string> leading = {};  // of all that lead to the node, those that it names
};

struct ForeignTree {
  Renderer renderer = Renderer::kNetworkd;  // of interfaces whose file names none
  std::vector<std::string> files = {};      // that netplan reads, in its order, without ours
  std::vector<Claim> claims = {};
  std::string unclear = {};  // not empty: why the rest of this cannot be trusted
};

// The netplan files of a node other than ours. As netplan does it: sorted by file name whatever the
// folder, and of one name /run hides /etc hides /lib. `leading`: interfaces that lead to the node.
ForeignTree ReadForeignTree(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                            const std::vector<std::string>& leading = {});

// Who writes files of that name, as far as known: "NVIDIA Sync"; empty otherwise.
std::string GuessOwner(const std::string& path);

}  // namespace reconciler::plugins::netplan
