#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/value.h"

namespace reconciler {

// "the text 'x'", "the number 9000", "a list", "nothing".
std::string DescribeFound(const Value& value);

// What a schema accepts, by its enum, type and range: "direct, ring or switch", "an integer from 1
// to 65535", "true or false".
std::string DescribeWanted(const nlohmann::json& schema);

// "a", "a or b", "a, b or c".
std::string JoinWithOr(const std::vector<std::string>& words);

// The texts of a schema's enum; empty when it has none.
std::vector<std::string> ListChoices(const nlohmann::json& schema);

// What to do when `value` has none of the types that the schema names; empty when nothing is
// obvious. `key`: whose value it is; empty: it is no member of a map.
std::string FindTypeHint(std::string_view key, const Value& value, const nlohmann::json& schema);

// The number to write for a size with a unit, where the schema wants a number of KiB; else empty.
std::string FindSizeHint(const Value& value, const nlohmann::json& schema);

// Where `text` is a later version of the only choice, such as spark-reconcile/v2; else empty.
std::string FindVersionHint(std::string_view text, const std::vector<std::string>& choices);

// `text` with the letters that names of nodes and the like have: "spark-1" for "Spark_1".
std::string ProposeName(std::string_view text);

// Whether `value` has the schema's type, or one of its types; true when the schema names none.
bool HasType(const Value& value, const nlohmann::json& schema);

}  // namespace reconciler
