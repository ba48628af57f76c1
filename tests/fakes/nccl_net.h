#pragma once

#include <netinet/in.h>

#include <atomic>
#include <string>
#include <vector>

namespace fakes {

// An interface that NCCL would take for its bootstrap.
struct Interface {
  std::string name = {};
  sockaddr_in address = {};
};
// By NCCL_SOCKET_IFNAME ("^" and "=" as NCCL has them); none: the name is empty.
Interface BootstrapInterface();
std::string ToText(const sockaddr_in& address);  // 10.0.0.1<4711>

// What each rank sends to all others.
struct PeerInfo {
  int rank = 0;
  int ranks = 0;
  int version = 0;
  char host[64] = {};  // NCCL_HOSTID, else the host's name
  char pci[32] = {};   // of its GPU
  sockaddr_in listener = {};
};

// Rank 0's part: collects everyone's PeerInfo and gives it to everyone. Runs until then on a
// thread of its own. Returns the address to call.
sockaddr_in StartRoot(const Interface& interface);

struct Out {
  int peer = 0;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
struct In {
  int peer = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
};

enum class NetResult { kDone, kClosed, kRefused, kAborted };

// One TCP connection to each other rank.
class Mesh {
 public:
  NetResult Join(const sockaddr_in& root, const Interface& interface, PeerInfo own);
  const std::vector<PeerInfo>& peers() const { return peers_; }
  // All of it at the same time, in order per peer.
  NetResult Exchange(const std::vector<Out>& out, const std::vector<In>& in);
  void Abort() { aborted_ = true; }
  bool aborted() const { return aborted_; }
  // Until Abort.
  void Hang() const;

 private:
  NetResult Call(const sockaddr_in& address, int& fd);
  bool Reach(int fd, const sockaddr_in& address) const;
  NetResult Accept(int listener, int& fd);
  NetResult Connect(int listener);

  std::atomic<bool> aborted_ = false;
  int rank_ = 0;
  std::vector<PeerInfo> peers_ = {};
  std::vector<int> fds_ = {};
};

}  // namespace fakes
