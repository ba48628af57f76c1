#pragma once

#include <memory>

#include "reconciler/transport/transport.h"

namespace reconciler {

// One ssh connection, logged in. Files and agent are found by $HOME and $SSH_AUTH_SOCK. Safe for
// several threads at once.
Result<std::unique_ptr<Transport>> DialSsh(const NodeSpec& node);

class SshConnection;
// The connection alone.
Result<std::shared_ptr<SshConnection>> ConnectSsh(const NodeSpec& node);
// Over a connection that is logged in.
std::unique_ptr<Transport> MakeSshTransport(std::shared_ptr<SshConnection> connection);

}  // namespace reconciler
