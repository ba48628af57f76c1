#pragma once

#include <string>

#include "reconciler/transport/ssh/handles.h"

namespace reconciler {

// A file that the manifest or the configuration of ssh names as a key.
struct KeyFile {
  enum class Kind {
    kUsable,
    kMissing,
    kUnreadable,
    // Only an agent can log in with these:
    kEncrypted,
    kSecurityKey,  // the private half is in a device
    kPublic,       // the file has no private half
  } kind = Kind::kMissing;
  SshKey key = {};               // kUsable
  std::string public_half = {};  // as EncodePublicHalf has it; empty: not known
};

// Prompts for no passphrase.
KeyFile LoadKeyFile(const std::string& path);

// What the file itself says, encrypted or not, or else the .pub file beside it; null: neither.
SshKey ReadPublicHalf(const std::string& path);

// In base64, as authorized_keys has it; of null: empty.
std::string EncodePublicHalf(ssh_key key);

}  // namespace reconciler
