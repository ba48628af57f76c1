#include "tests/fakes/nccl_comm.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tests/fakes/nccl_lines.h"
#include "tests/fakes/nccl_log.h"
#include "tests/fakes/nccl_sums.h"
#include "tests/fakes/settings.h"

namespace fakes {
namespace {

constexpr int kSuccess = 0;
constexpr int kSystemError = 2;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kInProgress = 7;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string GpuBus() {
  char text[32] = {};
  Driver<int (*)(char*, int, int)>("cuDeviceGetPCIBusId")(text, sizeof text - 1, 0);
  return text;
}

PeerInfo Own(int rank, int ranks) {
  PeerInfo own{.rank = rank, .ranks = ranks, .version = NcclVersion()};
  if (Env("NCCL_HOSTID").empty()) {
    gethostname(own.host, sizeof own.host - 1);
  } else {
    std::strncpy(own.host, Env("NCCL_HOSTID").c_str(), sizeof own.host - 1);
  }
  std::strncpy(own.pci, GpuBus().c_str(), sizeof own.pci - 1);
  return own;
}

}  // namespace

bool HasFault(const std::string& name, int rank, int number) {
  std::string set = Setting("FAKE_NCCL_FAULT");
  if (const auto at = set.find('@'); at != std::string::npos) {
    if (std::stoi(set.substr(at + 1)) != rank) return false;
    set.erase(at);
  }
  int wanted = 1;
  if (const auto colon = set.find(':'); colon != std::string::npos) {
    wanted = std::stoi(set.substr(colon + 1));
    set.erase(colon);
  }
  if (set != name) return false;
  return number == 0 || (name == "wrong-data" ? number >= wanted : number == wanted);
}

Comm::Comm(int rank, int ranks, const sockaddr_in& root)
    : rank_(rank), ranks_(ranks), state_(kInProgress) {
  Later([this, root] { Init(root); });
  server_ = std::thread([this] { Serve(); });
}

void Comm::Later(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  wake_.notify_all();
}

void Comm::Serve() {
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

void Comm::Fail(int state, const std::string& place, const std::string& text) {
  Warn(place, text);
  state_ = state;
}

void Comm::Settle(NetResult result) {
  switch (result) {
    case NetResult::kDone:
      return;
    case NetResult::kClosed:
      Fail(kRemoteError, "misc/socket.cc:80", "socketProgress: Connection closed by remote peer");
      return;
    case NetResult::kRefused:
      state_ = kRemoteError;
      return;
    case NetResult::kAborted:
      return;
  }
}

// What a rank finds out about its own settings, before anyone answers.
bool Comm::Refused() {
  if (Env("NCCL_NET") == "IB" && UsedHcas().empty()) {
    Fail(kInvalidUsage, "plugin/net.cc:301", "Failed to initialize any NET plugin");
    return true;
  }
  if (HasFault("error-init", rank_)) {
    Fail(kSystemError, "transport/net_ib.cc:411", "Call to ibv_create_qp failed");
    return true;
  }
  return false;
}

void Comm::Init(sockaddr_in root) {
  const Interface interface = BootstrapInterface();
  if (interface.name.empty()) {
    return Fail(kInvalidUsage, "bootstrap.cc:98", "Bootstrap : no socket interface found");
  }
  LogInit(interface, rank_, ranks_);
  while (HasFault("babble", rank_) && !mesh_.aborted()) Info("INIT", "and so on");
  if (HasFault("hang-init", rank_)) return mesh_.Hang();
  if (HasFault("crash-init", rank_)) std::raise(SIGSEGV);
  if (Refused()) return;
  const auto joined = mesh_.Join(root, interface, Own(rank_, ranks_));
  if (joined != NetResult::kDone) return Settle(joined);
  for (const PeerInfo& one : mesh_.peers()) {
    if (one.version != NcclVersion()) {
      return Fail(kInvalidUsage, "init.cc:1012",
                  "Mismatched NCCL version detected : rank " + std::to_string(one.rank) + " " +
                      std::to_string(one.version) + " rank " + std::to_string(rank_) + " " +
                      std::to_string(NcclVersion()));
    }
    for (const PeerInfo& two : mesh_.peers()) {
      if (one.rank >= two.rank || std::strcmp(one.host, two.host) != 0 ||
          std::strcmp(one.pci, two.pci) != 0) {
        continue;
      }
      return Fail(kInvalidUsage, "init.cc:1044",
                  "Duplicate GPU detected : rank " + std::to_string(one.rank) + " and rank " +
                      std::to_string(two.rank) + " both on CUDA device " + one.pci);
    }
  }
  const std::string algorithm = Env("NCCL_ALGO");
  if (!algorithm.empty() && algorithm != "Ring" && algorithm != "Tree") {
    return Fail(
        kInvalidUsage, "graph/tuning.cc:120",
        "Unrecognized element token \"" + algorithm + "\" when parsing \"" + algorithm + "\"");
  }
  LogInitDone(rank_, ranks_);
  state_ = kSuccess;
}

int Comm::Submit(Work work) {
  if (state_ == kInProgress) {
    Warn("init.cc:2700",
         "Attempt to use communicator before the previous operation returned ncclSuccess");
    return kInvalidArgument;
  }
  if (state_ != kSuccess) return state_;
  work.number = ++calls_;
  if (HasFault("hang-call", rank_, work.number)) {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  int before = kSuccess;
  if (!state_.compare_exchange_strong(before, kInProgress)) return before;
  Later([this, work] { Prepare(work); });
  return kInProgress;
}

// Of the first work: until here the ranks have not looked for each other's channels.
void Comm::Prepare(const Work& work) {
  if (!connected_) {
    if (HasFault("hang-connect", rank_)) return mesh_.Hang();
    const auto agreed = Agree(work);
    if (agreed != NetResult::kDone) return Settle(agreed);
    LogChannels(rank_, ranks_);
    connected_ = true;
  }
  struct Later {
    Comm* comm;
    Work work;
  };
  auto* later = new Later{this, work};
  using Launch = int (*)(CUstream_st*, void (*)(void*), void*);
  Driver<Launch>("cuLaunchHostFunc")(
      work.stream,
      [](void* argument) {
        auto* mine = static_cast<Later*>(argument);
        mine->comm->Run(mine->work);
        delete mine;
      },
      later);
  // Unless earlier work has failed meanwhile.
  int begun = kInProgress;
  state_.compare_exchange_strong(begun, kSuccess);
}

// In the stream. What fails leaves the work unfinished until the communicator is aborted.
void Comm::Run(const Work& work) {
  if (HasFault("hang-op", rank_, work.number)) return mesh_.Hang();
  if (HasFault("crash-op", rank_, work.number)) std::raise(SIGSEGV);
  if (HasFault("error-op", rank_, work.number)) {
    Fail(kSystemError, "transport/net_ib.cc:2240",
         "NET/IB: Got completion from peer 10.0.0.2<4791> with status=IBV_WC_RETRY_EXC_ERR(12) "
         "opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129 localGid ::ffff:10.0.0.1 remoteGids "
         "::ffff:10.0.0.2 hca rocep1s0f1");
    return mesh_.Hang();
  }
  auto result = Agree(work);
  if (result == NetResult::kDone) result = Carry(work);
  if (result == NetResult::kDone && HasFault("wrong-data", rank_, work.number)) {
    static_cast<char*>(work.to != nullptr ? work.to : work.transfers.back().data)[0] ^= 1;
  }
  if (result == NetResult::kDone) return Claim(work);
  Settle(result);
  mesh_.Hang();
}

int Comm::Finalize() {
  state_ = kInProgress;
  Later([this] {
    Work none;
    none.number = -1;
    const auto agreed = Agree(none);
    if (agreed == NetResult::kDone) state_ = kSuccess;
    Settle(agreed);
  });
  return kInProgress;
}

void Comm::Abort() {
  if (HasFault("hang-abort", rank_)) {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  mesh_.Abort();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake_.notify_all();
  }
  server_.join();
}

// What all ranks must agree about before any of them moves data.
struct Comm::Header {
  int number = 0;
  int kind = 0;
  std::size_t count = 0;
  int type = 0;
  char proto[32] = {};
};

// Ranks whose protocols differ wait for each other for ever, as NCCL's do.
NetResult Comm::Agree(const Work& work) {
  Header own{.number = work.number,
             .kind = static_cast<int>(work.kind),
             .count = work.count,
             .type = work.type};
  std::strncpy(own.proto, std::getenv("NCCL_PROTO") != nullptr ? std::getenv("NCCL_PROTO") : "",
               sizeof own.proto - 1);
  std::vector<Header> others(static_cast<std::size_t>(ranks_));
  std::vector<Out> out;
  std::vector<In> in;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    out.push_back({.peer = peer, .data = &own, .bytes = sizeof own});
    in.push_back(
        {.peer = peer, .data = &others[static_cast<std::size_t>(peer)], .bytes = sizeof own});
  }
  const auto result = mesh_.Exchange(out, in);
  for (int peer = 0; result == NetResult::kDone && peer < ranks_; ++peer) {
    const Header& other = others[static_cast<std::size_t>(peer)];
    if (peer == rank_) continue;
    if (other.kind != own.kind || other.count != own.count || other.type != own.type ||
        std::strcmp(other.proto, own.proto) != 0) {
      mesh_.Hang();
      return NetResult::kAborted;
    }
  }
  return result;
}

// FAKE_NCCL_BUSBW: 1e9 bytes per second, whatever it really was.
void Comm::Claim(const Work& work) {
  const double busbw = Number("FAKE_NCCL_BUSBW", 0);
  if (busbw <= 0) return;
  const double start = rested_ ? Number("FAKE_NCCL_START_US", 0) : 0;
  rested_ = work.kind == Kind::kAllReduce && work.count == 1;
  const double each = static_cast<double>(GetElementSize(work.type));
  const double others = static_cast<double>(ranks_ - 1) / ranks_;
  double moved = static_cast<double>(work.count) * each;
  switch (work.kind) {
    case Kind::kAllReduce:
      moved *= 2 * others;
      break;
    case Kind::kAllGather:
    case Kind::kReduceScatter:
      moved *= ranks_ - 1;
      break;
    case Kind::kGroup:
      moved = 0;
      for (const Transfer& one : work.transfers) {
        moved += one.send && one.peer != rank_ ? static_cast<double>(one.bytes) : 0;
      }
      break;
  }
  const double latency = Number("FAKE_NCCL_LATENCY_US", 15);
  Driver<void (*)(CUstream_st*, double)>("fakeCudaClaim")(work.stream,
                                                          start + latency + moved / busbw * 1e-3);
}

NetResult Comm::Carry(const Work& work) {
  switch (work.kind) {
    case Kind::kAllReduce:
    case Kind::kReduceScatter:
      return AllReduce(work);
    case Kind::kAllGather:
      return AllGather(work.from, static_cast<char*>(work.to),
                       work.count * GetElementSize(work.type));
    case Kind::kGroup:
      return Group(work);
  }
  return NetResult::kDone;
}

// Everyone gets its block of all and adds them up; for all_reduce everyone then gets all blocks.
NetResult Comm::AllReduce(const Work& work) {
  const bool whole = work.kind == Kind::kAllReduce;
  const std::size_t each = GetElementSize(work.type);
  const auto all = static_cast<std::size_t>(ranks_);
  const auto own = static_cast<std::size_t>(rank_);
  const std::size_t total = whole ? work.count : work.count * all;
  const auto begin = [&](std::size_t rank) { return total * rank / all * each; };
  const auto* from = static_cast<const char*>(work.from);
  const std::size_t bytes = begin(own + 1) - begin(own);
  std::vector<std::vector<char>> parts(all, std::vector<char>(bytes));
  std::vector<Out> out;
  std::vector<In> in;
  for (std::size_t peer = 0; peer < all; ++peer) {
    if (peer == own) continue;
    const int key = static_cast<int>(peer);
    out.push_back(
        {.peer = key, .data = from + begin(peer), .bytes = begin(peer + 1) - begin(peer)});
    in.push_back({.peer = key, .data = parts[peer].data(), .bytes = bytes});
  }
  auto result = mesh_.Exchange(out, in);
  if (result != NetResult::kDone) return result;
  auto* to = static_cast<char*>(work.to) + (whole ? begin(own) : 0);
  std::memmove(to, from + begin(own), bytes);
  for (std::size_t peer = 0; peer < all; ++peer) {
    if (peer != own) Combine(work.type, work.op, to, parts[peer].data(), bytes / each);
  }
  if (!whole) return result;
  out.clear();
  in.clear();
  for (std::size_t peer = 0; peer < all; ++peer) {
    if (peer == own) continue;
    out.push_back({.peer = static_cast<int>(peer), .data = to, .bytes = bytes});
    in.push_back({.peer = static_cast<int>(peer),
                  .data = static_cast<char*>(work.to) + begin(peer),
                  .bytes = begin(peer + 1) - begin(peer)});
  }
  return mesh_.Exchange(out, in);
}

NetResult Comm::AllGather(const void* from, char* to, std::size_t bytes) {
  const auto at = [&](int rank) { return to + static_cast<std::size_t>(rank) * bytes; };
  std::memmove(at(rank_), from, bytes);
  std::vector<Out> out;
  std::vector<In> in;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    out.push_back({.peer = peer, .data = at(rank_), .bytes = bytes});
    in.push_back({.peer = peer, .data = at(peer), .bytes = bytes});
  }
  return mesh_.Exchange(out, in);
}

NetResult Comm::Group(const Work& work) {
  std::vector<Out> out;
  std::vector<In> in;
  const Transfer* to_self = nullptr;
  for (const Transfer& one : work.transfers) {
    if (one.peer == rank_ && one.send) to_self = &one;
    if (one.peer == rank_ && !one.send) std::memmove(one.data, to_self->data, one.bytes);
    if (one.peer == rank_) continue;
    if (one.send) {
      out.push_back({.peer = one.peer, .data = one.data, .bytes = one.bytes});
    } else {
      in.push_back({.peer = one.peer, .data = one.data, .bytes = one.bytes});
    }
  }
  return mesh_.Exchange(out, in);
}

}  // namespace fakes
