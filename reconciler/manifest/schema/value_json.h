#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reconciler/model/value.h"

namespace reconciler {

// Keys sorted, so that equal content gives equal bytes. Precondition: numbers are finite (ParseYaml
// holds no others).
nlohmann::json ToJson(const Value& value);

// Every part stands at `position`. Precondition: unsigned numbers fit into 63 bits.
Value FromJson(const nlohmann::json& json, Position position);

}  // namespace reconciler
