#include "reconciler/transport/ssh/connection.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/host_key.h"

namespace reconciler {
namespace {

// libssh 0.11 and later go through the jump hosts of a config themselves, but not over a socket
// that they are given, as we do: they would ignore ProxyJump. With this variable they make a
// ProxyCommand of it, as earlier ones do. Set before main(): no thread may read the environment
// meanwhile.
[[maybe_unused]] const bool kJumpIsCommand = setenv("OPENSSH_PROXYJUMP", "1", 1) == 0;

Result<SshSession> MakeSession(const NodeSpec& node) {
  static std::once_flag once;
  std::call_once(once, [] { ssh_init(); });
  SshSession session(ssh_new());
  if (session) return session;
  return Fail({.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: libssh cannot make a session", node.name)});
}

}  // namespace

Error SshConnection::MakeError(std::string_view what, std::string hint) const {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {}", target_.place, what),
               .hint = std::move(hint)};
}

Error SshConnection::MakeLostError(std::string_view before) const {
  const std::string lost = fmt::format("{}the connection was lost", before);
  const std::string proxy_error = socket_.proxy ? ReadProxyError(socket_) : "";
  return MakeError(proxy_error.empty() ? lost : fmt::format("{}: {}", lost, proxy_error));
}

bool SshConnection::Alive() const {
  constexpr int kOver = SSH_CLOSED | SSH_CLOSED_ERROR;
  return ssh_get_fd(session_.get()) >= 0 && ssh_is_connected(session_.get()) == 1 &&
         (ssh_get_status(session_.get()) & kOver) == 0;
}

void SshConnection::AcknowledgePromptly() const {
  const int fd = ssh_get_fd(session_.get());
  if (fd < 0) return;
  // libssh makes it blocking, and then a peer that does not read would hold us for ever.
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (socket_.is_tcp) AcknowledgeAtOnce(fd);
}

void SshConnection::Step(int timeout_ms) const {
  ssh_event_dopoll(event_.get(), timeout_ms);
  AcknowledgePromptly();
  if (last_message_.empty() && !Alive()) last_message_ = ssh_get_error(session_.get());
}

void SshConnection::Pump() const { Step(0); }

Result<void> SshConnection::Wait(Deadline deadline) const {
  const int left = ComputeMillisecondsLeft(deadline);
  if (left == 0) return Fail(MakeError("the time limit passed"));
  Step(left);
  return {};
}

Result<void> SshConnection::ExchangeKeys(Deadline deadline) {
  ssh_session session = session_.get();
  ssh_set_blocking(session, 0);
  // From ssh_connect on, the descriptor belongs to libssh, which closes it on errors on its own.
  const int fd = socket_.fd.Release();
  ssh_options_set(session, SSH_OPTIONS_FD, &fd);
  const auto connected = Repeat(
      [&] {
        const int result = ssh_connect(session);
        ssh_event_add_session(event_.get(), session);
        return result;
      },
      SSH_AGAIN, deadline);
  if (connected && *connected == SSH_OK) return {};
  const bool too_late = !connected && ComputeMillisecondsLeft(deadline) == 0;
  const std::string proxy_error = socket_.proxy ? ReadProxyError(socket_) : "";
  if (too_late && socket_.proxy && ssh_get_serverbanner(session) == nullptr) {
    return Fail(MakeError(
        fmt::format("nothing came through the proxy command within {} s{}{}",
                    node_.access.connect_timeout_s, proxy_error.empty() ? "" : ": ", proxy_error),
        fmt::format("it was: {}", target_.proxy_command)));
  }
  if (too_late) {
    return Fail(MakeError(
        fmt::format("no answer from an ssh server within {} s", node_.access.connect_timeout_s),
        "something accepts connections there; is it sshd, and is the machine not overloaded?"));
  }
  if (!proxy_error.empty()) {
    return Fail(MakeError(fmt::format("the proxy command failed: {}", proxy_error),
                          fmt::format("it was: {}", target_.proxy_command)));
  }
  const std::string reason = last_message_.empty() ? ssh_get_error(session) : last_message_;
  return Fail(MakeError(fmt::format("the key exchange failed: {}", MakePrintable(reason)),
                        "the reason is in the log of sshd there (journalctl -u ssh)"));
}

Result<std::shared_ptr<SshConnection>> SshConnection::Open(const NodeSpec& node) {
  std::shared_ptr<SshConnection> connection(new SshConnection(node));
  auto session = MakeSession(node);
  if (!session) return Fail(std::move(session.error()));
  connection->session_ = std::move(*session);
  connection->event_.reset(ssh_event_new());
  auto target = ConfigureSession(connection->Session(), node);
  if (!target) return Fail(std::move(target.error()));
  connection->target_ = std::move(*target);
  const UniqueFd known = RequestKnownKinds(connection->Session(), connection->target_);
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(node.access.connect_timeout_s);
  connection->login_deadline_ = deadline;
  auto socket = ConnectSocket(connection->target_, node.access.connect_timeout_s, deadline);
  if (!socket) return Fail(std::move(socket.error()));
  connection->socket_ = std::move(*socket);
  if (auto keys = connection->ExchangeKeys(deadline); !keys) return Fail(std::move(keys.error()));
  return connection;
}

}  // namespace reconciler
