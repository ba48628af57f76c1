#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// Documents valid against schema/facts.schema.json and schema/plan.schema.json. Bytes that are not
// UTF-8 travel as "base64:…" text, so that every file comes back as it was.
nlohmann::ordered_json ToJson(const ClusterFacts& facts);
nlohmann::ordered_json ToJson(const Change& change);
nlohmann::ordered_json ToJson(const Plan& plan);
// What ToJson dumps without indentation, and faster.
std::string FormatJson(const Change& change);

// schema/facts.schema.json, with what the descriptions of the structs of facts say in place of what
// it says about them.
nlohmann::ordered_json UpdateFactsSchema(nlohmann::ordered_json schema);

// Errors are kInput and name the place in the document ("/nodes/spark-1/links/eth0/mtu").
Result<ClusterFacts> ParseFacts(std::string_view json);
Result<Plan> ParsePlan(std::string_view json);

// UTF-8, two blanks per level, a final newline; the same value gives the same bytes.
std::string Dump(const nlohmann::ordered_json& json);

}  // namespace reconciler
