#pragma once

#include <string>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/transport/posix.h"
#include "reconciler/transport/ssh/config.h"

namespace reconciler {

class SshConnection;

// The host key that a node offers, before any login.
struct HostKey {
  bool known = false;             // known_hosts has it; else it has none for this host
  std::string place = {};         // "spark-2 (192.168.1.22)": how errors begin
  std::string type = {};          // "ssh-ed25519"
  std::string fingerprint = {};   // "SHA256:…"
  std::string machine_file = {};  // where sshd keeps the public key on the machine itself
  std::string known_hosts = {};   // the file on this machine that AddHostKey adds to
  std::string line = {};          // what it adds
};

// Connects, but does not log in. Errors: the node was not reached, known_hosts cannot be read, or
// it has another key for this host, or this one is revoked, there or by RevokedHostKeys.
Result<HostKey> ReadHostKey(const NodeSpec& node);

// Safe to call from several programs at once: lines do not mix.
Result<void> AddHostKey(const HostKey& key);

// Makes libssh request the kinds of host keys that any file of known_hosts has for the target: it
// would find only those in the first two files, and only under a name that it takes. What is
// returned must live until the key exchange.
UniqueFd RequestKnownKinds(ssh_session session, const SshTarget& target);

// Whether the peer is the node, by known_hosts: strict, or taking the key of a host that is not
// known yet. A key that is not the known one, or is revoked, is refused either way.
Result<void> CheckHostKey(const SshConnection& connection);

}  // namespace reconciler
