#pragma once

#include <string>
#include <string_view>

#include "plugins/ssh/mesh.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins::ssh {

// Where a node reaches a peer whose `address` in the manifest is a name without a domain: nodes
// cannot resolve it where it is an alias of the controller's ~/.ssh/config. It is the peer's own
// address in the controller's session, and stays the one that `block` (ours in the node's config)
// has while the peer holds that, or was not read. Empty: the `address` itself.
std::string FindHostName(const Peer& peer, const ClusterFacts& all, std::string_view block);

}  // namespace reconciler::plugins::ssh
