#include "tests/fakes/nccl_net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "tests/fakes/nccl_log.h"

namespace fakes {
namespace {

constexpr int kTickMs = 20;

int Listen(sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_port = 0;
  bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  listen(fd, 64);
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return fd;
}

void Tune(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// Blocking, for the root's thread, which ends with the process.
bool ReadAll(int fd, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  for (ssize_t count = 0; bytes > 0; at += count, bytes -= static_cast<std::size_t>(count)) {
    count = recv(fd, at, bytes, 0);
    if (count <= 0) return false;
  }
  return true;
}

void ServeRoot(int listener) {
  std::map<int, PeerInfo> peers;
  std::map<int, int> fds;
  for (int ranks = 1; static_cast<int>(peers.size()) < ranks;) {
    const int fd = accept(listener, nullptr, nullptr);
    PeerInfo peer;
    if (fd < 0 || !ReadAll(fd, &peer, sizeof peer)) continue;
    ranks = peer.ranks;
    peers[peer.rank] = peer;
    fds[peer.rank] = fd;
  }
  for (const auto& [rank, fd] : fds) {
    for (const auto& [other, peer] : peers) send(fd, &peer, sizeof peer, MSG_NOSIGNAL);
    close(fd);
  }
  close(listener);
}

bool Matches(const std::string& list, const std::string& name) {
  const bool negated = list.starts_with("^");
  const bool exact = list.substr(negated ? 1 : 0).starts_with("=");
  std::string rest = list.substr((negated ? 1 : 0) + (exact ? 1 : 0)) + ",";
  bool found = false;
  for (std::size_t end = 0; (end = rest.find(',')) != std::string::npos;) {
    const std::string one = rest.substr(0, end);
    rest.erase(0, end + 1);
    found = found || (exact ? name == one : name.starts_with(one));
  }
  return found != negated;
}

}  // namespace

std::string ToText(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return std::string(text) + "<" + std::to_string(ntohs(address.sin_port)) + ">";
}

// Without a name: anything but the loopback and Docker's bridge first, as NCCL has it.
Interface BootstrapInterface() {
  const char* wanted = std::getenv("NCCL_SOCKET_IFNAME");
  Interface best;
  int best_grade = 0;
  ifaddrs* all = nullptr;
  getifaddrs(&all);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_RUNNING) == 0) continue;
    const std::string name = one->ifa_name;
    const bool last = name == "lo" || name.starts_with("docker") || name.starts_with("virbr");
    const int grade = wanted != nullptr ? Matches(wanted, name) : last ? 1 : 2;
    if (grade <= best_grade) continue;
    best_grade = grade;
    best.name = name;
    std::memcpy(&best.address, one->ifa_addr, sizeof best.address);
  }
  freeifaddrs(all);
  return best;
}

sockaddr_in StartRoot(const Interface& interface) {
  sockaddr_in address = interface.address;
  const int listener = Listen(address);
  std::thread(ServeRoot, listener).detach();
  return address;
}

void Mesh::Hang() const {
  while (!aborted_) std::this_thread::sleep_for(std::chrono::milliseconds(kTickMs));
}

// Whether there is a connection; errno says why not. As NCCL's it ends when it is aborted, also
// while nothing answers.
bool Mesh::Reach(int fd, const sockaddr_in& address) const {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd waiting = {.fd = fd, .events = POLLOUT, .revents = 0};
  while (poll(&waiting, 1, kTickMs) == 0) {
    if (aborted_) return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

// As NCCL retries: after 100 ms, 200 ms and so on.
NetResult Mesh::Call(const sockaddr_in& address, int& fd) {
  const char* set = std::getenv("NCCL_SOCKET_RETRY_CNT");
  const int most = set != nullptr ? std::atoi(set) : 34;
  for (int attempt = 1; !aborted_; ++attempt) {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (Reach(fd, address)) {
      Tune(fd);
      return NetResult::kDone;
    }
    const std::string why = std::string(" returned ") + strerror(errno);
    close(fd);
    if (aborted_) break;
    if (attempt > most) {
      Warn("socket.cc:512", "socketPollConnect: connect to " + ToText(address) + why +
                                ", exceeded error retry count after " + std::to_string(most) +
                                " attempts");
      return NetResult::kRefused;
    }
    Info("INIT", "socketPollConnect: connect to " + ToText(address) + why + ", retrying (" +
                     std::to_string(attempt) + "/" + std::to_string(most) + ") after sleep for " +
                     std::to_string(100 * attempt) + " msec");
    for (int waited = 0; waited < 100 * attempt && !aborted_; waited += kTickMs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kTickMs));
    }
  }
  return NetResult::kAborted;
}

NetResult Mesh::Accept(int listener, int& fd) {
  while (!aborted_) {
    pollfd waiting = {.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kTickMs) <= 0) continue;
    fd = accept(listener, nullptr, nullptr);
    if (fd < 0) continue;
    Tune(fd);
    return NetResult::kDone;
  }
  return NetResult::kAborted;
}

// Each rank calls those before it.
NetResult Mesh::Connect(int listener) {
  fds_.assign(peers_.size(), -1);
  for (int other = 0; other < rank_; ++other) {
    const auto called = Call(peers_[static_cast<std::size_t>(other)].listener,
                             fds_[static_cast<std::size_t>(other)]);
    if (called != NetResult::kDone) return called;
    send(fds_[static_cast<std::size_t>(other)], &rank_, sizeof rank_, MSG_NOSIGNAL);
  }
  for (std::size_t left = peers_.size() - 1 - static_cast<std::size_t>(rank_); left > 0; --left) {
    int fd = -1;
    if (Accept(listener, fd) != NetResult::kDone) return NetResult::kAborted;
    int caller = 0;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (!ReadAll(fd, &caller, sizeof caller)) return NetResult::kClosed;
    Tune(fd);
    fds_.at(static_cast<std::size_t>(caller)) = fd;
  }
  return NetResult::kDone;
}

NetResult Mesh::Join(const sockaddr_in& root, const Interface& interface, PeerInfo own) {
  rank_ = own.rank;
  own.listener = interface.address;
  const int listener = Listen(own.listener);
  int fd = -1;
  if (const auto called = Call(root, fd); called != NetResult::kDone) return called;
  send(fd, &own, sizeof own, MSG_NOSIGNAL);
  peers_.assign(static_cast<std::size_t>(own.ranks), {});
  fds_ = {fd};
  const auto heard = Exchange({}, {{.data = peers_.data(), .bytes = sizeof own * peers_.size()}});
  close(fd);
  if (heard != NetResult::kDone) return heard;
  const auto connected = Connect(listener);
  close(listener);
  return connected;
}

NetResult Mesh::Exchange(const std::vector<Out>& out, const std::vector<In>& in) {
  std::map<int, std::deque<Out>> sends;
  std::map<int, std::deque<In>> receives;
  for (const Out& one : out) {
    if (one.bytes > 0) sends[one.peer].push_back(one);
  }
  for (const In& one : in) {
    if (one.bytes > 0) receives[one.peer].push_back(one);
  }
  while (!sends.empty() || !receives.empty()) {
    if (aborted_) return NetResult::kAborted;
    std::vector<pollfd> waiting;
    for (std::size_t peer = 0; peer < fds_.size(); ++peer) {
      short events = 0;
      if (sends.contains(static_cast<int>(peer))) events |= POLLOUT;
      if (receives.contains(static_cast<int>(peer))) events |= POLLIN;
      waiting.push_back({.fd = events != 0 ? fds_[peer] : -1, .events = events, .revents = 0});
    }
    if (poll(waiting.data(), waiting.size(), kTickMs) <= 0) continue;
    for (std::size_t peer = 0; peer < waiting.size(); ++peer) {
      const int key = static_cast<int>(peer);
      if ((waiting[peer].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && receives.contains(key)) {
        In& next = receives[key].front();
        const ssize_t count = recv(fds_[peer], next.data, next.bytes, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) return NetResult::kClosed;
        if (count > 0) {
          next.data = static_cast<char*>(next.data) + count;
          next.bytes -= static_cast<std::size_t>(count);
        }
        if (next.bytes == 0) receives[key].pop_front();
        if (receives[key].empty()) receives.erase(key);
      }
      if ((waiting[peer].revents & POLLOUT) != 0 && sends.contains(key)) {
        Out& next = sends[key].front();
        const ssize_t count = send(fds_[peer], next.data, next.bytes, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN) return NetResult::kClosed;
        if (count > 0) {
          next.data = static_cast<const char*>(next.data) + count;
          next.bytes -= static_cast<std::size_t>(count);
        }
        if (next.bytes == 0) sends[key].pop_front();
        if (sends[key].empty()) sends.erase(key);
      }
    }
  }
  return NetResult::kDone;
}

}  // namespace fakes
