#include "reconciler/model/size.h"

#include <charconv>

namespace reconciler {

std::optional<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > std::uint64_t{1} << 32) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == "KiB") return number << 10;
  if (unit == "MiB") return number << 20;
  if (unit == "GiB") return number << 30;
  return std::nullopt;
}

}  // namespace reconciler
