#pragma once

#include <string_view>
#include <vector>

namespace reconciler {

// The JSON Schema (draft-07) of that name: "cluster", "diagnosis", "event", "facts", "plan",
// and so on. Empty: no such.
std::string_view FindEmbeddedSchema(std::string_view name);

// The names of all of them, sorted.
std::vector<std::string_view> ListEmbeddedSchemas();

// The example of that name from manifests/: "pair", "ring-3", "switch-4". Empty: no such.
std::string_view FindEmbeddedManifest(std::string_view name);

// What schema/diagnosis/ holds about that code, as YAML. Empty: no such code.
std::string_view FindEmbeddedDiagnosis(std::string_view code);

// Its `overrides`: "now" or "later". Empty: it says none, or there is no such code.
std::string_view FindEmbeddedOverride(std::string_view code);

// All codes of schema/diagnosis/, sorted.
std::vector<std::string_view> ListEmbeddedDiagnoses();

}  // namespace reconciler
