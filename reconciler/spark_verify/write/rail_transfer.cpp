#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>

#include "reconciler/spark_verify/write/pattern.h"
#include "reconciler/spark_verify/write/rail.h"

namespace reconciler::spark_verify {
namespace {

std::string FindHint(ibv_wc_status status) {
  if (status == IBV_WC_RETRY_EXC_ERR) {
    return "nothing came back: link, peer, MTU, VLAN or a GID that moved";
  }
  if (status == IBV_WC_WR_FLUSH_ERR) return "the peer's device ended the connection";
  return "the two devices disagree about the connection";
}

}  // namespace

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
