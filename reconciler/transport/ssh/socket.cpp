#include "reconciler/transport/ssh/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/transport/name_error.h"

namespace reconciler {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Error MakeSocketError(const SshTarget& target, std::string_view what, std::string hint) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {}", target.place, what),
               .hint = std::move(hint)};
}

struct Lookup {
  Addresses addresses = {};
  int code = 0;  // of getaddrinfo
};

Lookup LookUp(const std::string& host, int port, int flags) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  return {Addresses(code == 0 ? found : nullptr), code};
}

// A name lookup has no time limit of its own, so it runs in a thread that may be left behind.
// Nothing: there was no answer by the deadline.
std::optional<Lookup> LookUpName(const SshTarget& target, Deadline deadline) {
  std::packaged_task<Lookup()> task(
      [host = target.host, port = target.port] { return LookUp(host, port, AI_ADDRCONFIG); });
  std::future<Lookup> answer = task.get_future();
  std::thread thread(std::move(task));
  if (answer.wait_until(deadline) == std::future_status::ready) {
    thread.join();
    return answer.get();
  }
  thread.detach();
  return std::nullopt;
}

Result<Addresses> Resolve(const SshTarget& target, int connect_timeout_s, Deadline deadline) {
  if (Lookup numeric = LookUp(target.host, target.port, AI_NUMERICHOST); numeric.addresses)
    return std::move(numeric.addresses);
  auto found = LookUpName(target, deadline);
  if (found && found->addresses) return std::move(found->addresses);
  NameError why =
      ExplainNameError(found ? std::optional(found->code) : std::nullopt, connect_timeout_s);
  return Fail(MakeSocketError(
      target, fmt::format("cannot resolve '{}': {}", MakePrintable(target.host), why.what),
      std::move(why.hint)));
}

// errno of the attempt; 0: connected, ETIMEDOUT also when `deadline` passed.
int Connect(int fd, const addrinfo& address, Deadline deadline) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting = {.fd = fd, .events = POLLOUT, .revents = 0};
  int ready = -1;
  do {
    ready = poll(&waiting, 1, ComputeMillisecondsLeft(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return ETIMEDOUT;
  int failed = 0;
  socklen_t size = sizeof failed;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size);
  return failed;
}

void SetNumber(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

// A peer that vanished without a message (power, cable) becomes an error after three times the
// limit for connecting, even where no deadline is near.
void SetTcpOptions(int fd, int connect_timeout_s) {
  SetNumber(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetNumber(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetNumber(fd, IPPROTO_TCP, TCP_KEEPIDLE, connect_timeout_s);
  SetNumber(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, connect_timeout_s / 2));
  SetNumber(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  SetNumber(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000 * connect_timeout_s);  // ms
}

Error MakeConnectError(const SshTarget& target, int code, int connect_timeout_s) {
  if (code == ETIMEDOUT) {
    return MakeSocketError(target, fmt::format("no answer within {} s", connect_timeout_s),
                           "is the machine on, and is its address right?");
  }
  if (code == ECONNREFUSED) {
    return MakeSocketError(target, "connection refused",
                           fmt::format("is sshd running there, and is {} its port?", target.port));
  }
  std::string reason = std::generic_category().message(code);
  std::transform(reason.begin(), reason.begin() + 1, reason.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool no_way = code == ENETUNREACH || code == EHOSTUNREACH;
  return MakeSocketError(target, reason,
                         no_way ? "is this machine on the network that the address is in?" : "");
}

Result<SshSocket> ConnectTcp(const SshTarget& target, int connect_timeout_s, Deadline deadline) {
  auto addresses = Resolve(target, connect_timeout_s, deadline);
  if (!addresses) return Fail(std::move(addresses.error()));
  int count = 0;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) ++count;
  int failed = ETIMEDOUT;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next, --count) {
    UniqueFd fd(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.Open()) {
      failed = errno;
      continue;
    }
    SetTcpOptions(fd.Get(), connect_timeout_s);
    // An address that swallows packets leaves its fair share of the time to the ones after it.
    const auto now = std::chrono::steady_clock::now();
    failed = Connect(fd.Get(), *at, now + (deadline - now) / count);
    if (failed == 0) return SshSocket{.fd = std::move(fd), .is_tcp = true};
  }
  return Fail(MakeConnectError(target, failed, connect_timeout_s));
}

Result<SshSocket> StartProxy(const SshTarget& target) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Fail(MakeConnectError(target, errno, 0));
  }
  SshSocket socket{.fd = UniqueFd(ends[0])};
  const UniqueFd theirs(ends[1]);
  socket.proxy_errors = UniqueFd(memfd_create("proxy-stderr", MFD_CLOEXEC));
  // Without a terminal and without a window to prompt in, an ssh that needs an answer fails
  // instead.
  auto child =
      Child::Spawn({"env", "SSH_ASKPASS_REQUIRE=never", "sh", "-c", "exec " + target.proxy_command},
                   {theirs.Get(), theirs.Get(), socket.proxy_errors.Get()});
  if (!child) return Fail(MakeSocketError(target, child.error().message, ""));
  socket.proxy.emplace(std::move(*child));
  return socket;
}

}  // namespace

Result<SshSocket> ConnectSocket(const SshTarget& target, int connect_timeout_s, Deadline deadline) {
  if (!target.proxy_command.empty()) return StartProxy(target);
  return ConnectTcp(target, connect_timeout_s, deadline);
}

std::string ReadProxyError(const SshSocket& socket) {
  std::string text(65536, '\0');
  const ssize_t size = pread(socket.proxy_errors.Get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return FindLastLine(text);
}

void AcknowledgeAtOnce(int fd) { SetNumber(fd, IPPROTO_TCP, TCP_QUICKACK, 1); }

}  // namespace reconciler
