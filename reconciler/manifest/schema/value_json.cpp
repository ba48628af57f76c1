#include "reconciler/manifest/schema/value_json.h"

#include <nlohmann/json.hpp>

namespace reconciler {

nlohmann::json ToJson(const Value& value) {
  if (value.IsMap()) {
    nlohmann::json object = nlohmann::json::object();
    for (const Member& member : value.Members()) object[member.key] = ToJson(member.value);
    return object;
  }
  if (value.IsList()) {
    nlohmann::json array = nlohmann::json::array();
    for (const Value& entry : value.List()) array.push_back(ToJson(entry));
    return array;
  }
  if (const auto* text = value.AsString()) return *text;
  if (const auto* flag = value.AsBool()) return *flag;
  if (const auto* integer = value.AsInteger()) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return nullptr;
}

Value FromJson(const nlohmann::json& json, Position position) {
  if (json.is_object()) {
    std::vector<Member> members;
    for (const auto& [key, child] : json.items()) {
      members.push_back(Member{key, position, FromJson(child, position)});
    }
    return Value{std::move(members), position};
  }
  if (json.is_array()) {
    std::vector<Value> entries;
    for (const auto& child : json) entries.push_back(FromJson(child, position));
    return Value{std::move(entries), position};
  }
  if (json.is_string()) return Value{json.get<std::string>(), position};
  if (json.is_boolean()) return Value{json.get<bool>(), position};
  if (json.is_number_integer()) return Value{json.get<std::int64_t>(), position};
  if (json.is_number_float()) return Value{json.get<double>(), position};
  return Value{nullptr, position};
}

}  // namespace reconciler
