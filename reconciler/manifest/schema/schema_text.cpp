#include "reconciler/manifest/schema/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/yaml/message_text.h"
#include "reconciler/yaml/yaml_scalar.h"

namespace reconciler {
namespace {

std::vector<std::string> ListTypes(const nlohmann::json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return {};
  if (type->is_string()) return {type->get<std::string>()};
  return type->get<std::vector<std::string>>();
}

bool IsNumber(const Value& value) {
  return value.AsInteger() != nullptr || std::holds_alternative<double>(value.data);
}

bool IsType(const Value& value, const std::string& type) {
  if (type == "object") return value.IsMap();
  if (type == "array") return value.IsList();
  if (type == "string") return value.AsString() != nullptr;
  if (type == "integer") return value.AsInteger() != nullptr;
  if (type == "number") return IsNumber(value);
  if (type == "boolean") return value.AsBool() != nullptr;
  return type == "null" && value.IsNull();
}

std::string DescribeType(const std::string& type) {
  if (type == "object") return "a map";
  if (type == "array") return "a list";
  if (type == "string") return "text";
  if (type == "integer") return "an integer";
  if (type == "number") return "a number";
  if (type == "boolean") return "true or false";
  return "nothing";
}

std::string DescribeRange(const nlohmann::json& schema) {
  const auto minimum = schema.find("minimum");
  const auto maximum = schema.find("maximum");
  std::string words;
  if (minimum != schema.end()) words += " from " + minimum->dump();
  if (maximum != schema.end()) words += " to " + maximum->dump();
  return words;
}

}  // namespace

std::string DescribeFound(const Value& value) {
  if (value.IsNull()) return "nothing";
  if (value.IsMap()) return "a map";
  if (value.IsList()) return "a list";
  if (const auto* text = value.AsString()) return "the text " + Quoted(*text);
  return IsNumber(value) ? "the number " + value.ScalarText() : value.ScalarText();
}

std::string JoinWithOr(const std::vector<std::string>& words) {
  if (words.size() < 2) return Join(words, "");
  return Join({words.begin(), words.end() - 1}, ", ") + " or " + words.back();
}

std::vector<std::string> ListChoices(const nlohmann::json& schema) {
  const auto choices = schema.find("enum");
  return choices == schema.end() ? std::vector<std::string>()
                                 : choices->get<std::vector<std::string>>();
}

std::string DescribeWanted(const nlohmann::json& schema) {
  std::vector<std::string> words;
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    for (const auto& branch : *any) words.push_back(DescribeWanted(branch));
    return JoinWithOr(words);
  }
  if (schema.contains("enum")) return JoinWithOr(ListChoices(schema));
  for (const std::string& type : ListTypes(schema)) words.push_back(DescribeType(type));
  return JoinWithOr(words) + DescribeRange(schema);
}

std::string FindTypeHint(const Value& value, const nlohmann::json& schema) {
  const std::vector<std::string> types = ListTypes(schema);
  const auto wants = [&](std::string_view type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  if (wants("number") && value.AsBool() != nullptr) return "write 1 or 0";
  if (wants("string") && (IsNumber(value) || value.AsBool() != nullptr)) return "put it in quotes";
  const std::string* text = value.AsString();
  if (text == nullptr) return {};
  const auto plain = ResolvePlainScalar(*text);
  if (plain && !std::holds_alternative<std::string>(*plain) &&
      HasType(Value{*plain, value.position}, schema)) {
    return "write it without quotes";
  }
  if (wants("array")) return fmt::format("write it as a list: [{}]", Quoted(*text));
  return {};
}

bool HasType(const Value& value, const nlohmann::json& schema) {
  const std::vector<std::string> types = ListTypes(schema);
  return types.empty() || std::any_of(types.begin(), types.end(),
                                      [&](const std::string& type) { return IsType(value, type); });
}

}  // namespace reconciler
