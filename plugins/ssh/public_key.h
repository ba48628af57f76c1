#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reconciler::plugins::ssh {

// The two fields of a public key line that carry meaning. Its comment is dropped: a node chooses
// it.
struct PublicKey {
  std::string type = {};    // "ssh-ed25519"
  std::string base64 = {};  // of the wire form, which begins with the type again
  bool operator==(const PublicKey&) const = default;

  std::string Line() const { return type + " " + base64; }
};

// The text of a .pub file as a key, or nullopt unless it is exactly one line "TYPE BASE64
// [COMMENT]" with a plain key type whose wire form agrees. What a node calls its key goes into
// files of other nodes, so options ("command=…"), markers ("@cert-authority"), further lines and
// control characters must not get through.
std::optional<PublicKey> ParsePublicKey(std::string_view text);

}  // namespace reconciler::plugins::ssh
