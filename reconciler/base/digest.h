#pragma once

#include <string>
#include <string_view>

namespace reconciler {

// SHA-256 as 64 lower-case hex digits.
std::string ComputeSha256Hex(std::string_view bytes);

}  // namespace reconciler
