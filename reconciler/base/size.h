#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reconciler {

// Bytes of "512KiB", "32MiB", "1GiB"; nullopt for anything else.
std::optional<std::uint64_t> ParseSize(std::string_view text);

}  // namespace reconciler
