#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fakes {

inline constexpr int kFloat32 = 7;
inline constexpr int kBfloat16 = 9;
inline constexpr int kMax = 2;

inline std::size_t GetElementSize(int type) { return type == kBfloat16 ? 2 : 4; }

inline float Load(int type, const char* at) {
  std::uint32_t bits = 0;
  if (type == kBfloat16) {
    std::uint16_t upper = 0;
    std::memcpy(&upper, at, sizeof upper);
    bits = static_cast<std::uint32_t>(upper) << 16;
  } else {
    std::memcpy(&bits, at, sizeof bits);
  }
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// To bfloat16 by rounding to the nearest, to even when two are as near.
inline void Store(int type, char* at, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (type == kBfloat16) {
    const bool number = !std::isnan(value);
    if (number) bits += 0x7fff + (bits >> 16 & 1);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at, &upper, sizeof upper);
  } else {
    std::memcpy(at, &bits, sizeof bits);
  }
}

// to = to ⊕ from, element by element.
inline void Combine(int type, int op, char* to, const char* from, std::size_t count) {
  const std::size_t each = GetElementSize(type);
  for (std::size_t i = 0; i < count; ++i, to += each, from += each) {
    const float a = Load(type, to);
    const float b = Load(type, from);
    Store(type, to, op == kMax ? std::max(a, b) : a + b);
  }
}

}  // namespace fakes
