#include "reconciler/spark_verify/nccl/test_data.h"

#include <algorithm>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

constexpr int kExact = 256;  // whole numbers up to here are exact in bfloat16

// splitmix64's last step: neighbours and ranks have nothing in common.
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int ComputeValue(int rank, std::size_t i, int ranks) {
  const auto place = static_cast<std::uint64_t>(rank) * kTile + i + 1;
  return static_cast<int>(Mix(place * 0x9e3779b97f4a7c15u) %
                          static_cast<std::uint64_t>(kExact / ranks));
}

// A bfloat16 is the upper half of a float.
void Store(std::byte* at, DataType type, int value) {
  const auto number = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  if (type == DataType::kFloat) {
    std::memcpy(at, &bits, sizeof bits);
  } else {
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at, &upper, sizeof upper);
  }
}

// Whole 16 bytes per block where there are that many, as nccl-tests has it: less is slower.
std::size_t ComputeBlockCount(DataType type, std::size_t bytes, int blocks) {
  const std::size_t each = GetElementSize(type);
  std::size_t count = bytes / static_cast<std::size_t>(blocks) / each;
  if (count * each >= 16 && blocks > 1) count -= count % (16 / each);
  return std::max<std::size_t>(count, 1);
}

}  // namespace

std::vector<std::byte> MakeTile(DataType type, int source, int ranks) {
  const std::size_t each = GetElementSize(type);
  std::vector<std::byte> tile(kTile * each);
  for (std::size_t i = 0; i < kTile; ++i) {
    int value = 0;
    const int first = source == kSumOfAll ? 0 : source;
    const int last = source == kSumOfAll ? ranks - 1 : source;
    for (int rank = first; rank <= last; ++rank) value += ComputeValue(rank, i, ranks);
    Store(tile.data() + i * each, type, value);
  }
  return tile;
}

std::size_t CountWrong(std::span<const std::byte> bytes, DataType type,
                       std::span<const std::byte> tile, std::size_t from) {
  const std::size_t each = GetElementSize(type);
  std::size_t wrong = 0;
  std::size_t place = from % kTile * each;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t run = std::min(bytes.size() - at, tile.size() - place);
    const std::byte* found = bytes.data() + at;
    const std::byte* wanted = tile.data() + place;
    if (std::memcmp(found, wanted, run) != 0) {
      for (std::size_t i = 0; i < run; i += each) {
        wrong += std::memcmp(found + i, wanted + i, each) != 0 ? 1 : 0;
      }
    }
    at += run;
    place = 0;
  }
  return wrong;
}

bool HasInPlace(Collective collective) {
  return collective != Collective::kAllToAll && collective != Collective::kSendRecv;
}

Layout MakeLayout(Collective collective, DataType type, std::size_t bytes, int rank, int ranks,
                  bool in_place) {
  const auto own = static_cast<std::size_t>(rank);
  const auto all = static_cast<std::size_t>(ranks);
  const bool whole = collective == Collective::kAllReduce || collective == Collective::kSendRecv;
  const std::size_t count = ComputeBlockCount(type, bytes, whole ? 1 : ranks);
  Layout layout{.count = count,
                .bytes = count * (whole ? 1 : all) * GetElementSize(type),
                .send_count = count};
  switch (collective) {
    case Collective::kAllReduce:
      layout.results = {{.at = 0, .count = count, .source = kSumOfAll}};
      break;
    case Collective::kAllGather:
      if (in_place) layout.send_at = own * count;
      for (int from = 0; from < ranks; ++from) {
        layout.results.push_back(
            {.at = static_cast<std::size_t>(from) * count, .count = count, .source = from});
      }
      break;
    case Collective::kReduceScatter:
      layout.send_count = count * all;
      if (in_place) layout.recv_at = own * count;
      layout.results = {
          {.at = layout.recv_at, .count = count, .source = kSumOfAll, .from = own * count}};
      break;
    case Collective::kAllToAll:
      layout.send_count = count * all;
      for (int from = 0; from < ranks; ++from) {
        layout.results.push_back({.at = static_cast<std::size_t>(from) * count,
                                  .count = count,
                                  .source = from,
                                  .from = own * count});
      }
      break;
    case Collective::kSendRecv:
      layout.results = {{.at = 0, .count = count, .source = (rank + ranks - 1) % ranks}};
      break;
  }
  return layout;
}

}  // namespace reconciler::spark_verify
