#pragma once

#include <string_view>

namespace reconciler {

// The JSON Schema (draft-07) of that name: "cluster", "facts", "plan", "report". Empty: no such.
std::string_view FindEmbeddedSchema(std::string_view name);

// The example of that name from manifests/: "pair", "ring-3", "switch-4". Empty: no such.
std::string_view FindEmbeddedManifest(std::string_view name);

}  // namespace reconciler
