#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace reconciler::spark_verify {

// Bytes that a seed makes: a byte lost, doubled, moved or left from before shows.
void Fill(std::span<std::byte> bytes, std::uint64_t seed);
// The first place that differs.
std::optional<std::size_t> FindFirstDifference(std::span<const std::byte> bytes,
                                               std::uint64_t seed);

}  // namespace reconciler::spark_verify
