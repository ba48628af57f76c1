#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace reconciler {

// The string member `key` of an object; empty where `object` is no object or has no such string.
std::string ReadTextMember(const nlohmann::json& object, std::string_view key);

}  // namespace reconciler
