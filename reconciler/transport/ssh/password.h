#pragma once

#include <string>

#include "reconciler/transport/transport.h"

namespace reconciler {

// Who logs in on a node: the manifest's user, or that of ~/.ssh/config; on this machine itself the
// user who runs this program.
Result<std::string> FindLoginUser(const NodeSpec& node);

// The public key that this machine logs in with.
struct OwnKey {
  std::string line = {};         // of authorized_keys: "ssh-ed25519 AAAA… comment"
  std::string fingerprint = {};  // "SHA256:…"
  std::string file = {};         // of the private key
};

// The first key file that LogIn would try; one that only an agent can use only where there is no
// other. Connects to nothing.
Result<OwnKey> FindOwnKey(const NodeSpec& node);

// Why a password is of no use for adding a key: the machine does not answer, its host key is not
// known, or its sshd takes no keys or no passwords. Logs in as no one.
Result<void> CheckKeyCanBeAdded(const NodeSpec& node);

// One ssh connection, logged in with a password: by the method `password`, else as the answer to
// the one prompt of keyboard-interactive. The host key must be known.
Result<std::unique_ptr<Transport>> DialWithPassword(const NodeSpec& node,
                                                    const std::string& password);

}  // namespace reconciler
