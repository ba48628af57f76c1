#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler {

// What a code, or a key of the manifest written with dots ("fabric.mtu"), means, as text for a
// terminal. Entries of lists and maps need no name of their own: "nodes.address". The error names
// what is near. `columns`: of a line, at least 60; 0: no limit but that of a text for reading.
Result<std::string> Explain(std::string_view name, std::size_t columns = 0);

// A line per code: the code and what is seen; more lines where `columns` are too few.
std::string ListExplained(std::size_t columns = 0);

// The same for a program, valid against schema/explain.schema.json. No name: all codes.
Result<nlohmann::ordered_json> ExplainAsJson(std::string_view name);

// The rows of docs/diagnosis.md: a table per command that reports the codes.
std::string RenderCatalogue();

}  // namespace reconciler
