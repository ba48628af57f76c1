#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "reconciler/model/value.h"

namespace reconciler {

// What a plain (unquoted) scalar means by YAML 1.2's core schema: null, true, 12, 0x1f, 0o17, 1.5,
// and text for all else ("yes", "1GiB" and "192.168.1.21" are text). The error says in one clause
// why a number cannot be held.
tl::expected<decltype(Value::data), std::string> ResolvePlainScalar(std::string_view text);

// `text` as a scalar that is read as this text, also between brackets and braces: as it is where
// that is so, and in double quotes otherwise.
std::string FormatScalar(std::string_view text);

}  // namespace reconciler
