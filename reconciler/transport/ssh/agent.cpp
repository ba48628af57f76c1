#include "reconciler/transport/ssh/agent.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "reconciler/transport/posix.h"

namespace reconciler {
namespace {

constexpr char kRequestIdentities = 11;  // SSH_AGENTC_REQUEST_IDENTITIES
constexpr char kIdentitiesAnswer = 12;   // SSH_AGENT_IDENTITIES_ANSWER

UniqueFd ConnectAgent() {
  const char* path = std::getenv("SSH_AUTH_SOCK");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof address.sun_path) return {};
  std::strcpy(address.sun_path, path);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!fd.Open() || connect(fd.Get(), generic, sizeof address) != 0) return {};
  return fd;
}

bool ReadExactly(int fd, char* into, std::size_t size, Deadline deadline) {
  while (size > 0) {
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, ComputeMillisecondsLeft(deadline)) == 0) return false;
    const ssize_t count = read(fd, into, size);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (count < 0) continue;
    into += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

std::optional<int> CountAgentKeys(Deadline deadline) {
  const UniqueFd fd = ConnectAgent();
  if (!fd.Open()) return std::nullopt;
  const std::array<char, 5> request = {0, 0, 0, 1, kRequestIdentities};
  if (send(fd.Get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return std::nullopt;
  }
  // length (4 bytes), kind (1), number of keys (4), all big endian; the keys are not of interest.
  std::array<char, 9> reply;
  if (!ReadExactly(fd.Get(), reply.data(), reply.size(), deadline)) return std::nullopt;
  if (reply[4] != kIdentitiesAnswer) return std::nullopt;
  int count = 0;
  for (std::size_t i = 5; i < reply.size(); ++i) {
    count = count << 8 | static_cast<unsigned char>(reply[i]);
  }
  return count;
}

}  // namespace reconciler
