#include "tests/fakes/nccl_comm.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tests/fakes/nccl_log.h"
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

// What a rank finds out about its own settings, before anybody answers.
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

}  // namespace fakes
