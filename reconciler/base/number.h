#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace reconciler {

// All of `text` as a number in base 10, or in `base`; nullopt when it is empty, holds anything else
// (blanks and
// '+' included) or does not fit the type. Whatever a node says goes through here.
template <class Integer>
std::optional<Integer> ParseNumber(std::string_view text, int base = 10) {
  Integer number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace reconciler
