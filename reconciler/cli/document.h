#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace reconciler::cli {

// What a JSON document of a command begins with: its format, the program's version, and the time
// (RFC 3339, UTC).
nlohmann::ordered_json BeginDocument(std::string_view format);

}  // namespace reconciler::cli
