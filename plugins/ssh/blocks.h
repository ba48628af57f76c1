#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/ssh/mesh.h"
#include "plugins/ssh/public_key.h"

namespace reconciler::plugins::ssh {

// "ssh-ed25519 AAAA… spark-reconcile homelab spark-2": the comment says whose it is.
std::string FormatAuthorizedKey(std::string_view cluster, const NodeName& node,
                                const PublicKey& key);
// The key that a block (empty: none) holds for `node`.
std::optional<PublicKey> ReadAuthorizedKey(std::string_view block, std::string_view cluster,
                                           const NodeName& node);

// One line per key, under every name by which `peer` is reached; its node name comes first.
std::string FormatKnownHosts(const Peer& peer, const std::vector<PublicKey>& keys);
// The keys that a block (empty: none) holds for `peer`, under its name or else its former one.
std::vector<PublicKey> ReadKnownHostKeys(std::string_view block, const Peer& peer);

// Every name by which `peer` is reached, addresses too.
std::vector<std::string> ListHostNames(const Peer& peer);

// The body of the block in ~/.ssh/config. It holds for addresses too: mpirun with a host file, and
// whoever writes one, log in by them.
std::string FormatConfig(const std::vector<Peer>& peers);

}  // namespace reconciler::plugins::ssh
