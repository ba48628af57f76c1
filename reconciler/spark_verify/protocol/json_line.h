#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace reconciler::spark_verify {

// One line of the protocol. Bytes that are no UTF-8 become U+FFFD: an odd device name must not end
// the program.
inline std::string ToLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace reconciler::spark_verify
