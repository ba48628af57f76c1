#include "reconciler/spark_verify/write/pattern.h"

#include <algorithm>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// splitmix64: every word depends on the seed and its place alone.
std::uint64_t ComputeWord(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void Fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += kWord) {
    const std::uint64_t word = ComputeWord(seed, at / kWord);
    std::memcpy(bytes.data() + at, &word, std::min(kWord, bytes.size() - at));
  }
}

std::optional<std::size_t> FindFirstDifference(std::span<const std::byte> bytes,
                                               std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += kWord) {
    const std::uint64_t word = ComputeWord(seed, at / kWord);
    const std::size_t count = std::min(kWord, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, &word, count) == 0) continue;
    const auto* expected = reinterpret_cast<const std::byte*>(&word);
    return at + static_cast<std::size_t>(
                    std::mismatch(expected, expected + count, bytes.data() + at).first - expected);
  }
  return std::nullopt;
}

}  // namespace reconciler::spark_verify
