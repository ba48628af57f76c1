#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tl/expected.hpp>

#include "reconciler/cluster/cluster.h"

namespace reconciler {

// What `validate` found about that file: a document valid against schema/validation.schema.json.
nlohmann::ordered_json ToJson(const std::string& manifest,
                              const tl::expected<Cluster, Errors>& cluster);

}  // namespace reconciler
