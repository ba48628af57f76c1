#include "reconciler/manifest/schema/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/base/number.h"
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

// Whether a list between brackets may hold it without quotes.
bool IsPlainEntry(const std::string& text, const nlohmann::json& schema) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
  if (text.empty() || text.front() == '-') return false;
  if (text.find_first_not_of(kPlain) != std::string::npos) return false;
  const auto plain = ResolvePlainScalar(text);
  return plain && HasType(Value{*plain}, schema);
}

// "A, B" as [A, B]; with … for the entries that a list of this kind must have besides.
std::string FormatAsList(const std::string& text, const nlohmann::json& schema) {
  static const nlohmann::json kAny = nlohmann::json::object();
  const auto items = schema.find("items");
  std::vector<std::string> entries;
  for (const std::string& part : Split(text, ',')) {
    const std::string entry(Trim(part));
    const bool plain = IsPlainEntry(entry, items == schema.end() ? kAny : *items);
    entries.push_back(plain ? entry : Quoted(entry));
  }
  const std::size_t least = schema.value("minItems", std::size_t{0});
  while (entries.size() < least) entries.emplace_back("…");
  return "[" + Join(entries, ", ") + "]";
}

// The map that one value alone in its place probably means.
std::string FormatAsMap(const Value& value, const nlohmann::json& schema) {
  std::string form = schema.value("singleValue", "");  // "{key: VALUE, …}"
  const std::string text = value.ScalarText();
  const std::size_t place = form.find("VALUE");
  if (place == std::string::npos || !IsPlainEntry(text, nlohmann::json::object())) return {};
  const auto key = schema["properties"].find(form.substr(1, form.find(':') - 1));
  if (key == schema["properties"].end() || !HasType(value, *key)) return {};
  return form.replace(place, 5, text);
}

std::string FindBoolean(std::string_view text) {
  const std::string word = ToLower(text);
  if (word == "yes" || word == "on" || word == "y" || word == "true") return "true";
  if (word == "no" || word == "off" || word == "n" || word == "false") return "false";
  return {};
}

// KiB of "64G", "64GB" and "64 GiB"; nullopt for all else.
std::optional<std::int64_t> ParseKib(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseNumber<std::int64_t>(std::string(text.substr(0, end)));
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  std::string unit = ToLower(Trim(text.substr(end)));
  if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
  if (unit.ends_with('b')) unit.pop_back();
  const std::size_t power =
      unit.size() == 1 ? std::string_view("kmgt").find(unit[0]) : std::string_view::npos;
  if (!number || *number > kMost || power == std::string_view::npos) return std::nullopt;
  return *number << (10 * power);
}

// What to write in place of true or false. The schema may list it by the ends of keys; a key that
// it does not list has no such value.
std::string FindBooleanHint(std::string_view key, const nlohmann::json& schema) {
  const auto hints = schema.find("booleanHints");
  if (hints == schema.end()) return "write 1 or 0";
  for (const auto& [hint, ends] : hints->items()) {
    for (const nlohmann::json& end : ends) {
      if (key.ends_with(end.get_ref<const std::string&>())) return hint;
    }
  }
  return {};
}

// A list of things with a name is easily written as a map with the names as keys.
std::string FormatFirstEntry(const Value& map, const nlohmann::json& schema) {
  const nlohmann::json items = schema.value("items", nlohmann::json::object());
  const bool is_named = items.value("properties", nlohmann::json::object()).contains("name");
  if (map.Members().empty() || !is_named) return {};
  const Value* name = map.Find("name");  // then it is one entry, and the '-' is missing
  return fmt::format("write it as a list: - {{name: {}, …}}",
                     MakePrintable(name == nullptr ? map.Members().front().key
                                                   : std::string_view(name->ScalarText())));
}

}  // namespace

std::string DescribeFound(const Value& value) {
  if (value.IsNull()) return "nothing";
  if (value.IsMap()) return "a map";
  if (value.IsList()) return "a list";
  if (const auto* text = value.AsString()) return "the text " + Quoted(*text);
  return IsNumber(value) ? "the number " + value.WrittenText() : value.WrittenText();
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

std::string FindTypeHint(std::string_view key, const Value& value, const nlohmann::json& schema) {
  const std::vector<std::string> types = ListTypes(schema);
  const auto wants = [&](std::string_view type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  if (value.IsNull()) return schema.value("emptyHint", "");
  if (wants("number") && value.AsBool() != nullptr) return FindBooleanHint(key, schema);
  if (std::string form = FormatAsMap(value, schema); !form.empty()) return "write it as " + form;
  if (wants("array") && value.IsMap()) return FormatFirstEntry(value, schema);
  const std::string* text = value.AsString();
  if (text == nullptr) return {};
  if (const std::string word = FindBoolean(*text); wants("boolean") && !word.empty()) {
    return "write " + word;
  }
  const auto plain = ResolvePlainScalar(*text);
  if (plain && !std::holds_alternative<std::string>(*plain) &&
      HasType(Value{*plain, value.position}, schema)) {
    return "write it without quotes";
  }
  if (wants("array")) return "write it as a list: " + FormatAsList(*text, schema);
  return {};
}

std::string FindSizeHint(const Value& value, const nlohmann::json& schema) {
  const std::string* text = value.AsString();
  const auto branches = schema.find("anyOf");
  if (text == nullptr || branches == schema.end()) return {};
  for (const nlohmann::json& branch : *branches) {
    const auto kib = branch.value("unit", "") == "KiB" ? ParseKib(*text) : std::nullopt;
    if (!kib || *kib < branch["minimum"] || *kib > branch["maximum"]) continue;
    return fmt::format("write {}, which is in KiB", *kib);
  }
  return {};
}

std::string FindVersionHint(std::string_view text, const std::vector<std::string>& choices) {
  const std::size_t end = text.rfind("/v");
  if (choices.size() != 1 || end == std::string_view::npos) return {};
  const std::string_view known = choices.front();
  if (known.substr(0, known.rfind("/v")) != text.substr(0, end)) return {};
  const auto wanted = ParseNumber<int>(std::string(text.substr(end + 2)));
  const auto newest = ParseNumber<int>(std::string(known.substr(known.rfind("/v") + 2)));
  if (!wanted || !newest || *wanted <= *newest) return {};
  return fmt::format("this program is too old for v{}", *wanted);
}

std::string ProposeName(std::string_view text) {
  std::string name = ToLower(text);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == ' '; }, '-');
  return name;
}

bool HasType(const Value& value, const nlohmann::json& schema) {
  const std::vector<std::string> types = ListTypes(schema);
  return types.empty() || std::any_of(types.begin(), types.end(),
                                      [&](const std::string& type) { return IsType(value, type); });
}

}  // namespace reconciler
