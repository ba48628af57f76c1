#pragma once

#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler {

// What a code, or a key of the manifest written with dots ("fabric.mtu"), means, as text for a
// terminal. Entries of lists and maps need no name of their own: "nodes.address". The error names
// what is near.
Result<std::string> Explain(std::string_view name);

// A line per code: the code and what is seen.
std::string ListExplained();

// The rows of docs/diagnosis.md: a table per command that reports the codes.
std::string RenderCatalogue();

}  // namespace reconciler
