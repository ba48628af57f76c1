#include "reconciler/model/value.h"

#include <fmt/format.h>

namespace reconciler {

const Value* Value::Find(std::string_view key) const {
  for (const Member& member : Members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string Value::GetText(std::string_view key) const {
  const Value* value = Find(key);
  return value != nullptr && value->AsString() != nullptr ? *value->AsString() : std::string();
}

const Value* Value::At(std::initializer_list<std::string_view> path) const {
  const Value* value = this;
  for (const std::string_view key : path) {
    value = value->Find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

const std::vector<Value>& Value::List() const {
  static const std::vector<Value> kNone;
  const auto* list = std::get_if<std::vector<Value>>(&data);
  return list != nullptr ? *list : kNone;
}

const std::vector<Member>& Value::Members() const {
  static const std::vector<Member> kNone;
  const auto* members = std::get_if<std::vector<Member>>(&data);
  return members != nullptr ? *members : kNone;
}

std::string Value::ScalarText() const {
  if (const auto* text = AsString()) return *text;
  if (const auto* flag = AsBool()) return *flag ? "true" : "false";
  if (const auto* integer = AsInteger()) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&data)) return fmt::format("{}", *number);
  return {};
}

std::string Value::WrittenText() const { return written.empty() ? ScalarText() : written; }

}  // namespace reconciler
