#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace reconciler {

// valijson's verdict with strong types: nothing when the document is valid, else its words for the
// deepest problem. The one file that includes valijson.
std::optional<std::string> JudgeBySchema(const nlohmann::json& document,
                                         const nlohmann::json& schema);

}  // namespace reconciler
