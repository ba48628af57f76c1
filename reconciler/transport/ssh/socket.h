#pragma once

#include <optional>

#include "reconciler/transport/posix.h"
#include "reconciler/transport/ssh/config.h"

namespace reconciler {

// The line to a node below ssh: a TCP connection, or the standard streams of a proxy command.
struct SshSocket {
  UniqueFd fd = {};
  bool is_tcp = false;
  std::optional<Child> proxy = std::nullopt;
  UniqueFd proxy_errors = {};  // a file with what the proxy command wrote to its stderr
};

Result<SshSocket> ConnectSocket(const SshTarget& target, int connect_timeout_s, Deadline deadline);

// The last line that the proxy command wrote to its stderr.
std::string ReadProxyError(const SshSocket& socket);

// Acknowledge at once what arrives. Without it the peer's Nagle algorithm waits about 40 ms for
// our delayed acknowledgement in the middle of every login. The kernel resets it: set it again
// after each read.
void AcknowledgeAtOnce(int fd);

}  // namespace reconciler
