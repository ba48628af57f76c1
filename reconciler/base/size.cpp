#include "reconciler/base/size.h"

#include "reconciler/base/number.h"

namespace reconciler {

std::optional<std::uint64_t> ParseSize(std::string_view text) {
  const auto number = ConsumeNumber<std::uint64_t>(text);
  if (!number || *number > std::uint64_t{1} << 32) return std::nullopt;
  if (text == "KiB") return *number << 10;
  if (text == "MiB") return *number << 20;
  if (text == "GiB") return *number << 30;
  return std::nullopt;
}

}  // namespace reconciler
