#pragma once

#include <memory>
#include <span>
#include <vector>

#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/spark_verify/protocol/options.h"
#include "reconciler/spark_verify/write/verbs.h"

namespace reconciler::spark_verify {

template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

// Pages of our own, not touched yet; registered memory must not share pages with anything else.
class Pages {
 public:
  static Result<Pages> Map(std::size_t bytes);
  Pages(Pages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Pages(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

inline std::uint64_t ToAddress(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

// One HCA with its queue pairs and memory: half of it is sent from, half of it is written into.
class Rail {
 public:
  static Result<std::unique_ptr<Rail>> Open(const Verbs& verbs, const RailOption& option,
                                            const WriteOptions& options);

  const RailReady& ready() const { return ready_; }
  // Ready to receive, then to send; lets the kernel resolve the peer's hardware address.
  Result<void> Connect(const RailReady& peer);
  int path_mtu() const { return path_mtu_; }

  // Keeps `depth` messages in flight per queue pair until `posting` is false.
  Result<void> Pump(bool posting);
  std::size_t in_flight() const { return in_flight_; }
  std::uint64_t completed() const { return completed_; }          // messages
  std::uint64_t written_bytes() const { return written_bytes_; }  // posted, small pings aside

  void FillSource(std::uint64_t seed);
  // One message per queue pair, so that everything at the peer is written once more.
  Result<void> PostOnce();
  // Bytes found right; an error names the first wrong one.
  Result<std::uint64_t> Verify(std::uint64_t seed) const;

  // One side of the ping-pong: writes `value` into the peer's mailbox; reads its own.
  Result<void> Ping(std::uint64_t value);
  std::uint64_t Mailbox() const;

 private:
  Rail(const Verbs& verbs, const WriteOptions& options, Pages pages, Owned<ibv_context> device)
      : verbs_(verbs), options_(options), pages_(std::move(pages)), device_(std::move(device)) {}
  Result<void> Prepare(const RailOption& option);
  Result<void> AddQueuePair();
  Result<void> ConnectPair(std::size_t pair);
  Result<void> Post(std::size_t pair);
  Result<std::size_t> Reap();
  std::span<std::byte> Source() const { return pages_.bytes().first(Half()); }
  std::span<std::byte> Target() const { return pages_.bytes().subspan(Half(), Half()); }
  std::size_t Half() const { return options_.queue_pairs * options_.size; }

  const Verbs& verbs_;
  const WriteOptions& options_;
  // Destroyed from the last to the first, as verbs want it.
  Pages pages_;
  Owned<ibv_context> device_;
  Owned<ibv_pd> domain_{nullptr, nullptr};
  Owned<ibv_mr> region_{nullptr, nullptr};
  Owned<ibv_cq> completions_{nullptr, nullptr};
  std::vector<Owned<ibv_qp>> pairs_ = {};
  std::vector<std::size_t> pending_ = {};  // per pair
  RailReady ready_ = {};
  RailReady peer_ = {};
  int path_mtu_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace reconciler::spark_verify
