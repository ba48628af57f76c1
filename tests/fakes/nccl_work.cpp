#include <cstdlib>
#include <cstring>

#include "tests/fakes/nccl_comm.h"
#include "tests/fakes/nccl_sums.h"
#include "tests/fakes/settings.h"

// How the fake's communicators do their work: what is moved and what is added up.

namespace fakes {

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

// Everybody gets its block of all and adds them up; for all_reduce everybody then gets all blocks.
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
