#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plugins/ssh/public_key.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins::ssh {

// The key pair that belongs to the cluster, as it stands on one node.
struct KeyPair {
  Observed<std::string> state = Absent{};  // "0600 nvidia", with what is wrong after it
  std::string mode = {};                   // of the private key: "0600"; empty: it is not there
  Obstacle blocked = {};                   // why nothing of ours can put it right
  std::optional<PublicKey> key = std::nullopt;  // usable by the peers
  // Neither half exists and nothing stands in the way: the node's own plan makes it.
  bool IsToBeMade() const { return std::holds_alternative<Absent>(state) && blocked.empty(); }
};
KeyPair FindKeyPair(const NodeFacts& facts, const std::string& user);

struct Pending {};  // known after apply
using PeerKey = std::variant<PublicKey, Pending, Unknown>;
PeerKey FindPeerKey(const ClusterFacts& all, const NodeName& peer, const std::string& user);

std::vector<Read> ListHostKeyReads();
// Sorted by the order of ListHostKeyReads; never empty when known.
std::variant<std::vector<PublicKey>, Unknown> FindHostKeys(const ClusterFacts& all,
                                                           const NodeName& peer);

}  // namespace reconciler::plugins::ssh
