#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace reconciler::cli {

// What a JSON document of a command begins with: its format, the program's version, and the time
// (RFC 3339, UTC).
nlohmann::ordered_json BeginDocument(std::string_view format);

// A document that another layer made, with the version and the time behind its format.
nlohmann::ordered_json AddHead(nlohmann::ordered_json document);
// The same as text.
std::string FormatDocument(nlohmann::ordered_json document);

// One line of a stream of documents: the time has milliseconds.
nlohmann::ordered_json BeginLine(std::string_view format);

}  // namespace reconciler::cli
