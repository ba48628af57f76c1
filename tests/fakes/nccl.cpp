// A libnccl.so.2 without GPUs: its communicators are processes joined by TCP, its results are
// really computed. Its settings: nccl_comm.h (FAKE_NCCL_FAULT), FAKE_NCCL_VERSION,
// FAKE_NCCL_HCAS (RDMA devices that it claims to use), FAKE_NCCL_GDR=1, FAKE_NCCL_BUSBW (1e9 bytes
// per second).

#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/fakes/nccl_comm.h"
#include "tests/fakes/nccl_log.h"
#include "tests/fakes/nccl_sums.h"
#include "tests/fakes/settings.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kInProgress = 7;

struct Id {
  unsigned char bytes[128];
};

// ncclConfig_t's beginning, the same in every version.
struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

struct Group {
  int depth = 0;
  fakes::Comm* comm = nullptr;
  fakes::Work work = {};
};
thread_local Group group;

int Transfer(bool send, void* data, std::size_t count, int type, int peer, fakes::Comm* comm,
             CUstream_st* stream) {
  if (group.depth == 0 || peer < 0 || peer >= comm->ranks()) return kInvalidUsage;
  group.comm = comm;
  group.work.kind = fakes::Kind::kGroup;
  group.work.stream = stream;
  group.work.type = type;
  group.work.transfers.push_back(
      {.send = send, .data = data, .bytes = count * fakes::GetElementSize(type), .peer = peer});
  return kSuccess;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = fakes::NcclVersion();
  return kSuccess;
}

int ncclGetUniqueId(Id* id) {
  if (fakes::HasFault("hang-id", 0)) {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  const auto interface = fakes::BootstrapInterface();
  if (interface.name.empty()) {
    fakes::Warn("bootstrap.cc:98", "Bootstrap : no socket interface found");
    return kInvalidUsage;
  }
  const sockaddr_in address = fakes::StartRoot(interface);
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->bytes, "fakefake", 8);
  std::memcpy(id->bytes + 8, &address, sizeof address);
  return kSuccess;
}

int ncclCommInitRankConfig(fakes::Comm** comm, int ranks, Id id, int rank, Config* config) {
  if (config == nullptr || config->magic != 0xcafebeef || config->size < sizeof *config ||
      config->version < 21400) {
    fakes::Warn("init.cc:1500",
                "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    return kInvalidArgument;
  }
  if (config->blocking != 0) return kInvalidArgument;
  if (rank < 0 || rank >= ranks) return kInvalidArgument;
  sockaddr_in root = {};
  std::memcpy(&root, id.bytes + 8, sizeof root);
  *comm = new fakes::Comm(rank, ranks, root);
  return kInProgress;
}

int ncclCommGetAsyncError(fakes::Comm* comm, int* state) {
  *state = comm->state();
  return kSuccess;
}

const char* ncclGetLastError(fakes::Comm*) {
  static thread_local std::string text;
  text = fakes::LastWarning();
  return text.c_str();
}

int ncclCommFinalize(fakes::Comm* comm) { return comm->Finalize(); }

int ncclCommDestroy(fakes::Comm* comm) {
  comm->Abort();
  return kSuccess;
}

int ncclCommAbort(fakes::Comm* comm) {
  comm->Abort();
  return kSuccess;
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op,
                  fakes::Comm* comm, CUstream_st* stream) {
  return comm->Submit({.kind = fakes::Kind::kAllReduce,
                       .from = from,
                       .to = to,
                       .count = count,
                       .type = type,
                       .op = op,
                       .stream = stream});
}

int ncclAllGather(const void* from, void* to, std::size_t count, int type, fakes::Comm* comm,
                  CUstream_st* stream) {
  return comm->Submit({.kind = fakes::Kind::kAllGather,
                       .from = from,
                       .to = to,
                       .count = count,
                       .type = type,
                       .stream = stream});
}

int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op,
                      fakes::Comm* comm, CUstream_st* stream) {
  return comm->Submit({.kind = fakes::Kind::kReduceScatter,
                       .from = from,
                       .to = to,
                       .count = count,
                       .type = type,
                       .op = op,
                       .stream = stream});
}

int ncclSend(const void* data, std::size_t count, int type, int peer, fakes::Comm* comm,
             CUstream_st* stream) {
  return Transfer(true, const_cast<void*>(data), count, type, peer, comm, stream);
}

int ncclRecv(void* data, std::size_t count, int type, int peer, fakes::Comm* comm,
             CUstream_st* stream) {
  return Transfer(false, data, count, type, peer, comm, stream);
}

int ncclGroupStart() {
  ++group.depth;
  return kSuccess;
}

int ncclGroupEnd() {
  if (group.depth == 0) return kInvalidUsage;
  if (--group.depth > 0) return kSuccess;
  const Group done = group;
  group = {};
  return done.work.transfers.empty() ? kSuccess : done.comm->Submit(done.work);
}

}  // extern "C"
