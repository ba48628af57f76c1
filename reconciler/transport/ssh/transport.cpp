#include "reconciler/transport/ssh/transport.h"

#include <chrono>
#include <utility>

#include "reconciler/transport/ssh/auth.h"
#include "reconciler/transport/ssh/channel.h"
#include "reconciler/transport/ssh/connection.h"
#include "reconciler/transport/ssh/host_key.h"

namespace reconciler {
namespace {

class SshTransport : public Transport {
 public:
  explicit SshTransport(std::shared_ptr<SshConnection> connection)
      : connection_(std::move(connection)) {}
  Result<std::unique_ptr<Channel>> OpenShell() override { return OpenSshShell(connection_); }

 private:
  std::shared_ptr<SshConnection> connection_;
};

}  // namespace

Result<std::unique_ptr<Transport>> DialSsh(const NodeSpec& node) {
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(node.access.connect_timeout_s);
  if (auto usable = CheckIdentity(node); !usable) return Fail(std::move(usable.error()));
  auto connection = SshConnection::Open(node, deadline);
  if (!connection) return Fail(std::move(connection.error()));
  if (auto trusted = CheckHostKey(**connection); !trusted) return Fail(std::move(trusted.error()));
  if (auto in = LogIn(**connection, deadline); !in) return Fail(std::move(in.error()));
  return MakeSshTransport(std::move(*connection));
}

std::unique_ptr<Transport> MakeSshTransport(std::shared_ptr<SshConnection> connection) {
  return std::make_unique<SshTransport>(std::move(connection));
}

}  // namespace reconciler
