#include "reconciler/transport/ssh/transport.h"

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

Result<std::shared_ptr<SshConnection>> ConnectSsh(const NodeSpec& node) {
  if (auto usable = CheckIdentity(node); !usable) return Fail(std::move(usable.error()));
  auto connection = SshConnection::Open(node);
  if (!connection) return Fail(std::move(connection.error()));
  if (auto trusted = CheckHostKey(**connection); !trusted) return Fail(std::move(trusted.error()));
  const Deadline deadline = (*connection)->LoginDeadline();
  if (auto in = LogIn(**connection, deadline); !in) return Fail(std::move(in.error()));
  return connection;
}

Result<std::unique_ptr<Transport>> DialSsh(const NodeSpec& node) {
  auto connection = ConnectSsh(node);
  if (!connection) return Fail(std::move(connection.error()));
  return MakeSshTransport(std::move(*connection));
}

std::unique_ptr<Transport> MakeSshTransport(std::shared_ptr<SshConnection> connection) {
  return std::make_unique<SshTransport>(std::move(connection));
}

}  // namespace reconciler
