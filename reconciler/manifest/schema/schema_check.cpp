#include "reconciler/manifest/schema/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "reconciler/base/text.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/manifest/schema/schema_text.h"
#include "reconciler/manifest/schema/value_json.h"
#include "reconciler/yaml/source_text.h"
#include "reconciler/yaml/wording.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

using nlohmann::json;

// How messages name a place: a key by "'mtu' in fabric", a container by "fabric". Both are empty
// for the whole document.
struct Place {
  std::string subject = {};
  std::string container = {};

  std::string DescribePlace() const { return container.empty() ? "" : " in " + container; }
  std::string DescribeSubject() const { return subject.empty() ? "" : subject + ": "; }
};

// The key that `key` was probably meant to be: a near one, or the part before a ':' that lacks its
// blank.
std::string FindMeantKey(const std::string& key, const std::vector<std::string>& known) {
  const std::string before_colon = key.substr(0, key.find(':'));
  if (std::find(known.begin(), known.end(), before_colon) != known.end()) return before_colon;
  return Guess(key, known).value_or("");
}

std::string FindKeyHint(const std::string& key, const std::vector<std::string>& known) {
  if (IsSecretKey(key)) {
    return "secrets never live in the manifest: use access.identity or ssh-agent";
  }
  if (key == "<<") return "YAML 1.2 has no merge keys: write the keys out";
  if (FindMeantKey(key, known).empty()) return "known keys: " + Join(known, ", ");
  return key.find(':') != std::string::npos ? "put a blank after ':'" : "";
}

// What a missing key is for: its one choice, or its description as a clause.
std::string FindMissingHint(const std::string& key, const json& property) {
  const std::vector<std::string> choices = ListChoices(property);
  if (choices.size() == 1) return fmt::format("write {}: {}", key, choices[0]);
  std::string words = property.value("description", "");
  if (words.empty()) return {};
  words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  words = words.substr(0, words.find(". "));
  if (words.ends_with('.')) words.pop_back();
  return key + ": " + words;
}

class Checker {
 public:
  explicit Checker(Problems& problems) : problems_(problems) {}

  void Check(const Value& value, const json& schema, const Place& place) {
    if (const auto any = schema.find("anyOf"); any != schema.end()) {
      return CheckAnyOf(value, schema, *any, place);
    }
    if (!HasType(value, schema)) {
      return problems_.Add(value.position, DescribeMismatch(DescribeWanted(schema), value, place),
                           FindTypeHint(value, schema));
    }
    if (const auto* text = value.AsString()) CheckText(value, *text, schema, place);
    if (const auto* integer = value.AsInteger()) CheckRange(value, *integer, schema, place);
    if (value.IsList()) CheckList(value, schema, place);
    if (value.IsMap()) CheckMap(value, schema, place);
  }

 private:
  static std::string DescribeMismatch(const std::string& words, const Value& found,
                                      const Place& place) {
    return fmt::format("{}wanted {}, found {}", place.DescribeSubject(), words,
                       DescribeFound(found));
  }

  void CheckAnyOf(const Value& value, const json& schema, const json& branches,
                  const Place& place) {
    for (const json& branch : branches) {
      Problems branch_problems("");
      Checker(branch_problems).Check(value, branch, place);
      if (branch_problems.Empty()) return;
    }
    // What is wrong inside a map is told by the branch that is one.
    for (const json& branch : branches) {
      if (value.IsMap() && HasType(value, branch)) return Check(value, branch, place);
    }
    std::string guess;
    for (const json& branch : branches) {
      if (guess.empty() && value.AsString())
        guess = FormatGuess(*value.AsString(), ListChoices(branch));
    }
    problems_.Add(value.position, DescribeMismatch(DescribeWanted(schema), value, place) + guess);
  }

  void CheckText(const Value& value, const std::string& text, const json& schema,
                 const Place& place) {
    if (schema.contains("enum")) {
      const std::vector<std::string> choices = ListChoices(schema);
      if (std::find(choices.begin(), choices.end(), text) != choices.end()) return;
      return problems_.Add(value.position, fmt::format("{}wanted {}, found {}{}",
                                                       place.DescribeSubject(), JoinWithOr(choices),
                                                       Quoted(text), FormatGuess(text, choices)));
    }
    if (const std::string fault = FindTextFault(text, schema); !fault.empty()) {
      problems_.Add(value.position, fmt::format("{}wanted {}, found {}", place.DescribeSubject(),
                                                fault, Quoted(text)));
    }
  }

  // What the text should have been; empty when it is. Lengths come first: std::regex recurses once
  // per byte.
  std::string FindTextFault(const std::string& text, const json& schema) {
    const std::size_t longest = schema.value("maxLength", std::string::npos);
    const auto length =
        static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        }));
    if (length > longest) return fmt::format("at most {} characters", longest);
    const auto pattern = schema.find("pattern");
    if (pattern == schema.end()) return {};
    const auto& name = pattern->get_ref<const std::string&>();
    const std::regex& regex = regexes_.try_emplace(name, name).first->second;
    if (std::regex_search(text, regex)) return {};
    return schema.value("patternErrorMessage", "text that matches " + name);
  }

  void CheckRange(const Value& value, std::int64_t number, const json& schema, const Place& place) {
    if (number < schema.value("minimum", number) || number > schema.value("maximum", number)) {
      problems_.Add(value.position, fmt::format("{}wanted {}, found {}", place.DescribeSubject(),
                                                DescribeWanted(schema), number));
    }
  }

  void CheckList(const Value& value, const json& schema, const Place& place) {
    const std::size_t size = value.List().size();
    const std::size_t fewest = schema.value("minItems", std::size_t{0});
    const std::size_t most = schema.value("maxItems", size);
    if (size < fewest || size > most) {
      const std::string_view bound = fewest == most ? "" : size < fewest ? "at least " : "at most ";
      problems_.Add(
          value.position,
          fmt::format("{}wanted {}{}, found {}", place.DescribeSubject(), bound,
                      FormatPlural(size < fewest ? fewest : most, "entry", "entries"), size));
    }
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < size; ++i) {
      const Value& entry = value.List()[i];
      Check(entry, *items, MakeEntryPlace(entry, *items, i + 1, place));
    }
  }

  static Place MakeEntryPlace(const Value& entry, const json& schema, std::size_t number,
                              const Place& list) {
    // A list in a list has a name of its own: "entry 2 of link 3".
    const bool own_name = schema.value("type", "") == "array" && schema.contains("title");
    const std::string by_number =
        own_name ? fmt::format("{} {}", schema["title"].get<std::string>(), number)
                 : fmt::format("entry {} of {}", number, list.subject);
    const Value* name = entry.Find("name");
    const bool named = name != nullptr && name->AsString() != nullptr && schema.contains("title");
    if (!named) return {by_number, by_number};
    const std::string by_name =
        schema["title"].get<std::string>() + ' ' + Quoted(*name->AsString());
    return {by_name, by_name};
  }

  void CheckMap(const Value& value, const json& schema, const Place& place) {
    static const json kNone = json::object();
    const auto found = schema.find("properties");
    const json& properties = found == schema.end() ? kNone : *found;
    std::vector<std::string> known;
    for (const auto& property : properties.items()) known.push_back(property.key());
    std::vector<std::string> misspelt;  // keys that an unknown key probably means
    for (const Member& member : value.Members()) {
      const Place inner = MakeMemberPlace(member.key, place);
      if (properties.contains(member.key)) {
        Check(member.value, properties[member.key], inner);
      } else if (const auto other = schema.find("additionalProperties");
                 other != schema.end() && other->is_object()) {
        CheckKey(member, schema, place);
        Check(member.value, *other, inner);
      } else if (other != schema.end()) {
        AddUnknownKey(member, known, place, misspelt);
      }
    }
    for (const json& key : schema.value("required", json::array())) {
      const auto& name = key.get_ref<const std::string&>();
      if (value.Find(name) != nullptr) continue;
      if (std::find(misspelt.begin(), misspelt.end(), name) != misspelt.end()) continue;
      problems_.Add(value.position, fmt::format("missing key '{}'{}", name, place.DescribePlace()),
                    FindMissingHint(name, properties[name]));
    }
  }

  static Place MakeMemberPlace(const std::string& key, const Place& parent) {
    return {Quoted(key) + parent.DescribePlace(),
            parent.container.empty() ? MakePrintable(key)
                                     : MakePrintable(key) + " of " + parent.container};
  }

  void CheckKey(const Member& member, const json& schema, const Place& place) {
    const auto names = schema.find("propertyNames");
    if (names == schema.end()) return;
    const std::string fault = FindTextFault(member.key, *names);
    if (fault.empty()) return;
    problems_.Add(member.key_position, fmt::format("wanted {}{}, found {}", fault,
                                                   place.DescribePlace(), Quoted(member.key)));
  }

  void AddUnknownKey(const Member& member, const std::vector<std::string>& known,
                     const Place& place, std::vector<std::string>& misspelt) {
    const std::string guess = FormatGuess(member.key, known);
    misspelt.push_back(FindMeantKey(member.key, known));
    problems_.Add(
        member.key_position,
        fmt::format("unknown key {}{}{}", Quoted(member.key), place.DescribePlace(), guess),
        FindKeyHint(member.key, known));
  }

  Problems& problems_;
  std::map<std::string, std::regex> regexes_;
};

}  // namespace

const json& GetClusterSchema() {
  static const json kSchema = json::parse(FindEmbeddedSchema("cluster"));
  return kSchema;
}

void CheckSchema(const Value& document, const json& schema, Problems& problems) {
  const std::size_t before = problems.Count();
  Checker(problems).Check(document, schema, {});
  if (problems.Count() > before) return;
  if (const auto words = JudgeBySchema(ToJson(document), schema)) {
    problems.Add(document.position, "the schema refuses this document: " + MakePrintable(*words));
  }
}

void FillDefaults(Value& document, const json& schema) {
  if (auto* entries = std::get_if<std::vector<Value>>(&document.data)) {
    if (!schema.contains("items")) return;
    for (Value& entry : *entries) FillDefaults(entry, schema["items"]);
  }
  auto* members = std::get_if<std::vector<Member>>(&document.data);
  if (members == nullptr) return;
  if (!schema.contains("properties")) {  // a map by names that the user chose
    const auto others = schema.find("additionalProperties");
    if (others == schema.end() || !others->is_object()) return;
    for (Member& member : *members) FillDefaults(member.value, *others);
    return;
  }
  for (const auto& [key, property] : schema["properties"].items()) {
    if (document.Find(key) == nullptr && property.contains("default")) {
      members->push_back(
          Member{key, document.position, FromJson(property["default"], document.position)});
    }
  }
  for (Member& member : *members) {
    const auto property = schema["properties"].find(member.key);
    if (property != schema["properties"].end()) FillDefaults(member.value, *property);
  }
}

}  // namespace reconciler
