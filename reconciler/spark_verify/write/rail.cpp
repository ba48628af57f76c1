#include "reconciler/spark_verify/write/rail.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

#include "reconciler/spark_verify/io/read_counters.h"
#include "reconciler/spark_verify/write/pattern.h"

namespace reconciler::spark_verify {
namespace {

constexpr std::uint8_t kPort = 1;
// After the two halves: the mailbox that the peer writes, and what this end writes into the peer's.
constexpr std::size_t kMailboxes = 2 * sizeof(std::uint64_t);
// The most that ends: soft-RoCE takes the next one, 7, for "for ever".
constexpr std::uint8_t kRetries = 6;

Result<Owned<ibv_context>> OpenDevice(const Verbs& verbs, const std::string& hca) {
  int count = 0;
  ibv_device** list = verbs.get_device_list(&count);
  std::string names;
  Owned<ibv_context> device(nullptr, verbs.close_device);
  bool found = false;
  for (int i = 0; list != nullptr && i < count; ++i) {
    const std::string name = verbs.get_device_name(list[i]);
    names += (names.empty() ? "" : ", ") + name;
    if (name != hca) continue;
    found = true;
    errno = 0;
    device.reset(verbs.open_device(list[i]));
  }
  const int why = errno;
  if (list != nullptr) verbs.free_device_list(list);
  if (device != nullptr) return device;
  if (found) return Fail(MakeVerbError(fmt::format("{} opened", hca), why));
  return Fail({.kind = ErrorKind::kVerify,
               .message = fmt::format("wanted the RDMA device {}, found {}", hca,
                                      names.empty() ? "none" : names),
               .hint = "a cage without a cable has none; see `rdma link`"});
}

// One datagram to a port that no one listens on: the kernel resolves the peer's hardware address.
// With a cold entry the first writes would burn their retries. Its failure shows when connecting.
void WarmNeighbour(const std::string& from, const std::string& to) {
  sockaddr_in own = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  sockaddr_in peer = own;
  peer.sin_port = htons(9);  // discard
  if (inet_pton(AF_INET, from.c_str(), &own.sin_addr) != 1 ||
      inet_pton(AF_INET, to.c_str(), &peer.sin_addr) != 1) {
    return;
  }
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return;
  if (bind(socket_fd, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0) {
    sendto(socket_fd, "", 1, 0, reinterpret_cast<sockaddr*>(&peer), sizeof peer);
  }
  close(socket_fd);
}

std::string FindHint(ibv_wc_status status) {
  if (status == IBV_WC_RETRY_EXC_ERR) {
    return "nothing came back: link, peer, MTU, VLAN or a GID that moved";
  }
  if (status == IBV_WC_WR_FLUSH_ERR) return "the peer's device ended the connection";
  return "the two devices disagree about the connection";
}

}  // namespace

Result<Pages> Pages::Map(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return Fail(MakeVerbError(fmt::format("{} bytes of memory", bytes), errno));
  return Pages({static_cast<std::byte*>(at), bytes});
}

Pages::~Pages() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

Result<std::unique_ptr<Rail>> Rail::Open(const Verbs& verbs, const RailOption& option,
                                         const WriteOptions& options) {
  auto pages = Pages::Map(2 * options.queue_pairs * options.size + kMailboxes + sizeof(uint64_t));
  if (!pages) return Fail(pages.error());
  auto device = OpenDevice(verbs, option.hca);
  if (!device) return Fail(device.error());
  std::unique_ptr<Rail> rail(new Rail(verbs, options, std::move(*pages), std::move(*device)));
  if (auto done = rail->Prepare(option); !done) return Fail(done.error());
  return rail;
}

Result<void> Rail::Prepare(const RailOption& option) {
  ibv_port_attr port = {};
  if (const int error = QueryPort(verbs_, device_.get(), kPort, port); error != 0) {
    return Fail(MakeVerbError(fmt::format("the port of {}", option.hca), error));
  }
  if (port.state != IBV_PORT_ACTIVE) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted the port of {} active, found it {}", option.hca,
                                        port.state == IBV_PORT_DOWN ? "down" : "not ready"),
                 .hint = "its interface is down or has no carrier"});
  }
  const auto table = ReadGidTable(verbs_, device_.get(), option.hca);
  if (!table) return Fail(table.error());
  const auto gid = ChooseGid(*table, option.hca, option.ipv4);
  if (!gid) return Fail(gid.error());
  domain_ = {verbs_.alloc_pd(device_.get()), verbs_.dealloc_pd};
  if (domain_ == nullptr) {
    return Fail(MakeVerbError(fmt::format("a protection domain on {}", option.hca), errno));
  }
  region_ = {verbs_.reg_mr(domain_.get(), pages_.bytes().data(), pages_.bytes().size(),
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
             verbs_.dereg_mr};
  if (region_ == nullptr) {
    return Fail(MakeVerbError(
        fmt::format("{} bytes of memory pinned for {}", pages_.bytes().size(), option.hca), errno));
  }
  const std::size_t entries = options_.queue_pairs * (options_.depth + 1);
  completions_ = {verbs_.create_cq(device_.get(), static_cast<int>(entries), nullptr, nullptr, 0),
                  verbs_.destroy_cq};
  if (completions_ == nullptr) {
    return Fail(
        MakeVerbError(fmt::format("a completion queue of {} on {}", entries, option.hca), errno));
  }
  ready_ = {.hca = option.hca,
            .ipv4 = option.ipv4,
            .gid = gid->gid,
            .gid_index = gid->index,
            .active_mtu = ConvertMtuToBytes(port.active_mtu),
            .address = ToAddress(Target().data()),
            .mailbox = ToAddress(pages_.bytes().data() + (2 * Half() + 7) / 8 * 8),
            .key = region_->rkey,
            .limits = ReadLimits("", option.hca)};
  pending_.resize(options_.queue_pairs);
  for (std::size_t i = 0; i < options_.queue_pairs; ++i) {
    if (auto done = AddQueuePair(); !done) return done;
  }
  return {};
}

Result<void> Rail::AddQueuePair() {
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.cap.max_send_wr = static_cast<std::uint32_t>(options_.depth + 1);
  wanted.cap.max_recv_wr = 1;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RC;
  Owned<ibv_qp> pair(verbs_.create_qp(domain_.get(), &wanted), verbs_.destroy_qp);
  if (pair == nullptr) {
    return Fail(
        MakeVerbError(fmt::format("queue pair {} on {}", pairs_.size() + 1, ready_.hca), errno));
  }
  ibv_qp_attr to = {};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = kPort;
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (const int error = verbs_.modify_qp(
          pair.get(), &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      error != 0) {
    return Fail(MakeVerbError(fmt::format("a queue pair of {} initialized", ready_.hca), error));
  }
  // A packet of a run before must not fit: 24 bits by chance.
  ready_.queue_pairs.push_back(
      {.number = pair->qp_num, .first_packet = std::random_device()() & 0xffffff});
  pairs_.push_back(std::move(pair));
  return {};
}

Result<void> Rail::Connect(const RailReady& peer) {
  if (peer.queue_pairs.size() != pairs_.size()) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted {} queue pairs at the peer of {}, found {}",
                                        pairs_.size(), ready_.hca, peer.queue_pairs.size())});
  }
  peer_ = peer;
  path_mtu_ = std::min(ready_.active_mtu, peer.active_mtu);
  WarmNeighbour(ready_.ipv4, peer.ipv4);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (auto done = ConnectPair(i); !done) return done;
  }
  return {};
}

Result<void> Rail::ConnectPair(std::size_t pair) {
  ibv_qp_attr to = {};
  to.qp_state = IBV_QPS_RTR;
  int mtu = IBV_MTU_256;
  while (ConvertMtuToBytes(static_cast<ibv_mtu>(mtu)) < path_mtu_) ++mtu;
  to.path_mtu = static_cast<ibv_mtu>(mtu);
  to.dest_qp_num = peer_.queue_pairs[pair].number;
  to.rq_psn = peer_.queue_pairs[pair].first_packet;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;  // 0.64 ms
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = kPort;
  std::copy(peer_.gid.begin(), peer_.gid.end(), to.ah_attr.grh.dgid.raw);
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(ready_.gid_index);
  to.ah_attr.grh.hop_limit = 64;
  int error =
      verbs_.modify_qp(pairs_[pair].get(), &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error == 0) {
    to = {};
    to.qp_state = IBV_QPS_RTS;
    to.sq_psn = ready_.queue_pairs[pair].first_packet;
    to.timeout = static_cast<std::uint8_t>(options_.ack_timeout);
    to.retry_cnt = to.rnr_retry = kRetries;
    to.max_rd_atomic = 1;
    error = verbs_.modify_qp(pairs_[pair].get(), &to,
                             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  }
  if (error == 0) return {};
  return Fail(MakeVerbError(
      fmt::format("{} connected from {} to {}", ready_.hca, ready_.ipv4, peer_.ipv4), error));
}

Result<void> Rail::Post(std::size_t pair) {
  ibv_sge from = {.addr = ToAddress(Source().data() + pair * options_.size),
                  .length = static_cast<std::uint32_t>(options_.size),
                  .lkey = region_->lkey};
  ibv_send_wr work = {};
  work.wr_id = pair;
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = peer_.address + pair * options_.size;
  work.wr.rdma.rkey = peer_.key;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(pairs_[pair].get(), &work, &refused); error != 0) {
    return Fail(MakeVerbError(fmt::format("a write posted on {}", ready_.hca), error));
  }
  ++pending_[pair];
  ++in_flight_;
  written_bytes_ += options_.size;
  return {};
}

Result<std::size_t> Rail::Reap() {
  std::array<ibv_wc, 32> done = {};
  const int count = ibv_poll_cq(completions_.get(), static_cast<int>(done.size()), done.data());
  if (count < 0) return Fail(MakeVerbError(fmt::format("completions of {}", ready_.hca), -count));
  for (int i = 0; i < count; ++i) {
    const ibv_wc& one = done[static_cast<std::size_t>(i)];
    if (one.status != IBV_WC_SUCCESS) {
      return Fail({.kind = ErrorKind::kVerify,
                   .message = fmt::format("wanted writes of {} acknowledged by {}, found '{}'",
                                          ready_.hca, peer_.ipv4, verbs_.wc_status_str(one.status)),
                   .hint = FindHint(one.status)});
    }
    --pending_[one.wr_id];
    --in_flight_;
    ++completed_;
  }
  return static_cast<std::size_t>(count);
}

Result<void> Rail::Pump(bool posting) {
  const auto reaped = Reap();
  if (!reaped) return Fail(reaped.error());
  // Round robin, so that a slow pair does not keep the others waiting.
  for (bool more = posting; more;) {
    more = false;
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      if (pending_[pair] == options_.depth) continue;
      if (auto done = Post(pair); !done) return done;
      more = true;
    }
  }
  return {};
}

void Rail::FillSource(std::uint64_t seed) { Fill(Source(), seed); }

Result<void> Rail::PostOnce() {
  for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
    if (auto done = Post(pair); !done) return done;
  }
  return {};
}

Result<std::uint64_t> Rail::Verify(std::uint64_t seed) const {
  if (const auto at = FindFirstDifference(Target(), seed)) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted what the peer sent on {}, found another byte at {} "
                                        "of {}",
                                        ready_.hca, *at, Half()),
                 .hint = "data was lost or damaged although the hardware reported success"});
  }
  return Half();
}

Result<void> Rail::Ping(std::uint64_t value) {
  std::byte* own = pages_.bytes().data() + (ready_.mailbox - ToAddress(pages_.bytes().data()));
  std::memcpy(own + sizeof value, &value, sizeof value);
  ibv_sge from = {
      .addr = ToAddress(own + sizeof value), .length = sizeof value, .lkey = region_->lkey};
  ibv_send_wr work = {};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = peer_.mailbox;
  work.wr.rdma.rkey = peer_.key;
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(pairs_.front().get(), &work, &refused); error != 0) {
    return Fail(MakeVerbError(fmt::format("a ping posted on {}", ready_.hca), error));
  }
  ++pending_.front();
  ++in_flight_;
  return {};
}

std::uint64_t Rail::Mailbox() const {
  auto* at = pages_.bytes().data() + (ready_.mailbox - ToAddress(pages_.bytes().data()));
  // The device writes it behind the compiler's back.
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at))
      .load(std::memory_order_acquire);
}

}  // namespace reconciler::spark_verify
