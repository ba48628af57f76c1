#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <string>

#include "reconciler/base/number.h"

namespace reconciler {

// For Option::transform: refuses what is not a number from `low` to `high`, and writes it without
// the zeros before it, which CLI11 takes for base 8. The text of CLI::Range is another one in each
// release of CLI11.
template <typename Number>
CLI::Validator InRange(Number low, Number high) {
  const auto check = [low, high](std::string& value) {
    const auto number = ParseNumber<Number>(value);
    if (number && *number >= low && *number <= high) {
      value = fmt::format("{}", *number);
      return std::string();
    }
    return fmt::format("Value {} not in range {} to {}", value, low, high);
  };
  return {check,
          fmt::format("{} in [{} - {}]", std::integral<Number> ? "INT" : "FLOAT", low, high)};
}

}  // namespace reconciler
