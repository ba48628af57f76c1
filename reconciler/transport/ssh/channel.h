#pragma once

#include "reconciler/transport/ssh/connection.h"

namespace reconciler {

// A shell on the node over an open and logged-in connection.
Result<std::unique_ptr<Channel>> OpenSshShell(std::shared_ptr<SshConnection> connection);

}  // namespace reconciler
