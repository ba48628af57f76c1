#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reconciler/spark_verify/protocol/nccl_options.h"

namespace reconciler::spark_verify {

// What ranks send, and what must come out. Element i of a rank's data is a small whole number, so
// that sums over all ranks are exact in every type here, in whatever order they are made (bfloat16
// holds whole numbers up to 256). It depends on the rank and on i modulo a prime number, so that a
// block that landed elsewhere shows: blocks move in powers of two.
inline constexpr std::size_t kTile = 65521;  // elements until the values repeat

// Whose values: one rank's, or the sum over all.
inline constexpr int kSumOfAll = -1;

// A run of elements in a buffer and what it must hold: the values of `source` from its element
// `from` on. Counted in elements.
struct Segment {
  std::size_t at = 0;
  std::size_t count = 0;
  int source = 0;
  std::size_t from = 0;
  bool operator==(const Segment&) const = default;
};

// kTile elements as bytes.
std::vector<std::byte> MakeTile(DataType type, int source, int ranks);

// How many elements of `bytes` differ from the tile's, the first of them being the tile's element
// `from` modulo kTile.
std::size_t CountWrong(std::span<const std::byte> bytes, DataType type,
                       std::span<const std::byte> tile, std::size_t from);

// One rank's part in one test, in elements of both buffers. In place, both are the receive buffer.
struct Layout {
  std::size_t count = 0;       // as NCCL's call wants it: per block, or of the whole
  std::uint64_t bytes = 0;     // the size, rounded down to whole blocks
  std::size_t send_at = 0;     // where this rank's data begin
  std::size_t send_count = 0;  // elements that it puts in
  std::size_t recv_at = 0;
  std::vector<Segment> results = {};  // of the receive buffer
};

// False for alltoall and sendrecv.
bool HasInPlace(Collective collective);

// bytes: as NcclSize counts; at least one element per block is moved.
Layout MakeLayout(Collective collective, DataType type, std::size_t bytes, int rank, int ranks,
                  bool in_place);

}  // namespace reconciler::spark_verify
