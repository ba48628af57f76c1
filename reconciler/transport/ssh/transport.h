#pragma once

#include "reconciler/transport/transport.h"

namespace reconciler {

// One ssh connection, logged in. Files and agent are found by $HOME and $SSH_AUTH_SOCK. Safe for
// several threads at once.
Result<std::unique_ptr<Transport>> DialSsh(const NodeSpec& node);

}  // namespace reconciler
