#pragma once

#include <string>

#include "reconciler/transport/transport.h"

namespace reconciler {

// The public key that this machine logs in with, and whose login it is.
struct OwnKey {
  std::string user = {};         // on the node
  std::string line = {};         // of authorized_keys: "ssh-ed25519 AAAA… comment"
  std::string fingerprint = {};  // "SHA256:…"
  std::string file = {};         // the public key's, or the private key's where that has none
};

// The first that LogIn would try from a file. Connects to nothing.
Result<OwnKey> FindOwnKey(const NodeSpec& node);

// One ssh connection, logged in with a password: by the method `password`, else by
// keyboard-interactive with one prompt. The host key must be known.
Result<std::unique_ptr<Transport>> DialWithPassword(const NodeSpec& node,
                                                    const std::string& password);

}  // namespace reconciler
