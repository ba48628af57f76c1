#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reconciler::spark_verify {

// One line of the protocol. Bytes that are no UTF-8 become U+FFFD: an odd device name must not end
// the program.
inline std::string ToLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// The other way; throws an exception of the library or std::range_error. A fraction, or a number
// with more digits than an integer can have, is refused from 2^31 on: read as an integer it would
// be no value that C++ defines. No line of ours has one.
inline nlohmann::ordered_json ParseLine(std::string_view line) {
  using Json = nlohmann::ordered_json;
  return Json::parse(line, [](int, Json::parse_event_t event, Json& parsed) {
    const bool is_value = event == Json::parse_event_t::value && parsed.is_number_float();
    if (is_value && !(std::abs(parsed.get<double>()) < 2147483648.0)) {
      throw std::range_error("a number is out of range");
    }
    return true;
  });
}

}  // namespace reconciler::spark_verify
