#pragma once

#include <optional>
#include <string>

#include "reconciler/transport/transport.h"

namespace reconciler {

// Whether a file that `RevokedHostKeys` of ssh's configuration names has a public key, and where; a
// KRL has no lines. The file is read as OpenSSH reads it: one public key on each line, or a KRL,
// for which `ssh-keygen` is run. `key`: "ssh-ed25519 AAAA…". An error: that is not known, so that
// the key must not be trusted.
Result<std::optional<SourceMark>> FindRevokedKey(const std::string& file, const std::string& key,
                                                 Deadline deadline);

}  // namespace reconciler
