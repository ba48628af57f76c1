#pragma once

#include "reconciler/transport/ssh/connection.h"

namespace reconciler {

// Logs in with public keys only: the identity of the manifest or those of ~/.ssh/config, then the
// agent's keys, those of key files first, then the default key files. An agent that is busy is
// waited for last. Never prompts.
Result<void> LogIn(const SshConnection& connection, Deadline deadline);

// Whether access.identity can be used at all, be it through an agent; checked before the network is
// used.
Result<void> CheckIdentity(const NodeSpec& node);

}  // namespace reconciler
