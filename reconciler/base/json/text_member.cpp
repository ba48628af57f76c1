#include "reconciler/base/json/text_member.h"

#include <nlohmann/json.hpp>

namespace reconciler {

std::string ReadTextMember(const nlohmann::json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace reconciler
