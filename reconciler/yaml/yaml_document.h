#pragma once

#include <string>
#include <string_view>

#include "reconciler/base/result.h"
#include "reconciler/model/value.h"

namespace reconciler {

// One YAML document as a Value with positions; an empty text is null. Made for hostile text: at
// most 1 MiB, 64 levels and 100 000 values with all aliases expanded; valid UTF-8 without control
// characters; unique keys that are text. The error is kManifest, stands at the first problem and
// carries its source line.
Result<Value> ParseYaml(std::string_view text, const std::string& file);

}  // namespace reconciler
