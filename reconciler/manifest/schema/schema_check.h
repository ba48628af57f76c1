#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reconciler/model/value.h"
#include "reconciler/yaml/manifest_errors.h"

namespace reconciler {

// The embedded cluster schema, parsed once, with each reference within it replaced by what it
// refers to.
const nlohmann::json& GetClusterSchema();

// Everything in `document` that the schema (draft-07) refuses, each at its own place. valijson
// decides what that is; this file finds the places and the words.
void CheckSchema(const Value& document, const nlohmann::json& schema, ManifestErrors& errors);

// Puts the schema's defaults where the document says nothing, each standing at its parent.
void FillDefaults(Value& document, const nlohmann::json& schema);

}  // namespace reconciler
