#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace reconciler {

// The number in base 10, or in `base`, that `text` begins with, taken off its front. nullopt, and
// nothing taken, when it begins with none (blanks and '+' are none) or with one that does not fit
// the type.
template <class Number>
std::optional<Number> ConsumeNumber(std::string_view& text, int base = 10) {
  Number number = 0;
  std::from_chars_result result;
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), number);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), number, base);
  }
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return number;
}

// All of `text` as a number; nullopt when anything else stands behind it, too. Whatever a node says
// goes through here.
template <class Number>
std::optional<Number> ParseNumber(std::string_view text, int base = 10) {
  const std::optional<Number> number = ConsumeNumber<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

}  // namespace reconciler
