#pragma once

#include "reconciler/transport/ssh/connection.h"

namespace reconciler {

// Whether the peer is the node, by known_hosts: strict, or taking the key of a host that is not
// known yet. A key that is not the known one is refused either way.
Result<void> CheckHostKey(const SshConnection& connection);

}  // namespace reconciler
