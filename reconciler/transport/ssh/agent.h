#pragma once

#include <optional>

#include "reconciler/transport/transport.h"

namespace reconciler {

// How many keys the ssh-agent at $SSH_AUTH_SOCK holds; nothing when there is none, or when it does
// not answer (libssh queries it without a time limit, so it is queried here first).
std::optional<int> CountAgentKeys(Deadline deadline);

}  // namespace reconciler
