#pragma once

#include <optional>

#include "reconciler/base/result.h"
#include "reconciler/transport/ssh/settings.h"

namespace reconciler {

// Whether OpenSSH's client reads the configuration: where it is installed, and the user has a
// configuration, or the system's has what libssh's parser does not return. Otherwise no program is
// started for it.
bool ReadsWithClient();

// What OpenSSH's client would use for the node, as it says itself (ssh -G). Reading has a limit of
// its own, connect_timeout_s: it may run commands and look up names. Nothing: libssh's parser has
// to read, since `ssh` is another program, or since $HOME is another user's and has a file that
// OpenSSH's client takes from that user alone.
Result<std::optional<SshSettings>> ReadClientSettings(const NodeSpec& node);

}  // namespace reconciler
