#include "reconciler/manifest/schema/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/manifest/schema/schema_text.h"
#include "reconciler/manifest/schema/value_json.h"
#include "reconciler/yaml/lookalike.h"
#include "reconciler/yaml/message_text.h"
#include "reconciler/yaml/source_text.h"
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

// A value of the manifest, once with its places and once as valijson reads it; and its schema.
struct Part {
  const Value& value;
  const json& data;
  const json& schema;
  Place place = {};
  std::string_view key = {};  // of a member of a map
};

// Says what is wrong with what valijson refuses. valijson decides: about a part that it accepts
// nothing is said, and the keyword that refuses is looked up.
class Explainer {
 public:
  explicit Explainer(ManifestErrors& errors) : errors_(errors) {}

  void Check(const Part& part) {
    if (judge_.Accepts(part.data, part.schema)) return;
    const std::size_t before = errors_.Count();
    Explain(part);
    if (errors_.Count() > before) return;
    errors_.Add("manifest-wrong-value", part.value.position,
                fmt::format("{}the schema refuses it: {}", part.place.DescribeSubject(),
                            MakePrintable(JudgeBySchema(part.data, part.schema).value_or(""))));
  }

 private:
  bool Breaks(const Part& part, const char* keyword) {
    return judge_.Breaks(part.data, part.schema, keyword);
  }

  void Explain(const Part& part) {
    if (part.schema.contains("anyOf")) return ExplainAnyOf(part);
    if (Breaks(part, "type")) {
      std::string hint = FindTypeHint(part.key, part.value, part.schema);
      // Where the schema lists keys that have such a hint, no other takes true, quoted or not.
      const bool may_be_text = hint.empty() && !part.schema.contains("booleanHints");
      if (may_be_text && FitsInQuotes(part)) hint = "put it in quotes";
      const bool has_form = may_be_text && hint.empty() && !part.value.ScalarText().empty() &&
                            part.schema.contains("patternErrorMessage");
      const std::string wanted = has_form ? part.schema["patternErrorMessage"].get<std::string>()
                                          : DescribeWanted(part.schema);
      return AddWanted(part, wanted, DescribeFound(part.value), std::move(hint));
    }
    if (Breaks(part, "enum")) return ExplainChoice(part);
    if (Breaks(part, "minimum") || Breaks(part, "maximum")) {
      return AddWanted(part, DescribeWanted(part.schema), part.value.WrittenText());
    }
    if (const std::string fault = FindTextFault(part.data, part.schema); !fault.empty()) {
      return AddWanted(part, fault, Quoted(part.value.ScalarText()), FindNameHint(part));
    }
    if (part.value.IsList()) CheckList(part);
    if (part.value.IsMap()) CheckMap(part);
  }

  // Of a number or a word such as true.
  bool FitsInQuotes(const Part& part) {
    const std::string text = part.value.WrittenText();
    return !text.empty() && part.value.AsString() == nullptr &&
           judge_.Accepts(json(text), part.schema);
  }

  // The same name as it may be written.
  std::string FindNameHint(const Part& part) {
    constexpr std::string_view kName = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?";  // of nodes and the like
    if (!part.schema.value("pattern", "").starts_with(kName)) return {};
    const std::string name = ProposeName(part.value.ScalarText());
    return judge_.Accepts(json(name), part.schema) ? "write " + name : "";
  }

  void AddWanted(const Part& part, std::string_view wanted, std::string_view found,
                 std::string hint = {}) {
    const std::string lookalike = FormatLookalikeHint(part.value.ScalarText());
    if (!lookalike.empty()) hint = lookalike;
    errors_.Add("manifest-wrong-value", part.value.position,
                fmt::format("{}wanted {}, found {}", part.place.DescribeSubject(), wanted, found),
                std::move(hint));
  }

  void ExplainAnyOf(const Part& part) {
    const json& branches = part.schema["anyOf"];
    // What is wrong inside a map is reported by the branch that is one, and so is text without the
    // form that it must have.
    for (const json& branch : branches) {
      const bool has_words = part.value.IsMap() || branch.contains("patternErrorMessage");
      if (has_words && HasType(part.value, branch)) {
        return Check({part.value, part.data, branch, part.place});
      }
    }
    std::string guess;
    for (const json& branch : branches) {
      if (guess.empty() && part.value.AsString())
        guess = FormatGuess(*part.value.AsString(), ListChoices(branch));
    }
    AddWanted(part, DescribeWanted(part.schema), DescribeFound(part.value) + guess,
              FindSizeHint(part.value, part.schema));
  }

  void ExplainChoice(const Part& part) {
    const std::vector<std::string> choices = ListChoices(part.schema);
    const std::string text = part.value.ScalarText();
    const std::string hint = FindVersionHint(text, choices);
    const bool guesses = hint.empty() && !FindLookalike(text);
    const std::string guess = guesses ? FormatGuess(text, choices) : "";
    AddWanted(part, JoinWithOr(choices), Quoted(text) + guess, hint);
  }

  // What a text should have been; empty when it is, and for what is no text. Lengths come first:
  // std::regex recurses once per byte.
  std::string FindTextFault(const json& text, const json& schema) {
    if (judge_.Breaks(text, schema, "maxLength")) {
      return fmt::format("at most {} characters", schema["maxLength"].get<std::size_t>());
    }
    if (!judge_.Breaks(text, schema, "pattern")) return {};
    return schema.value("patternErrorMessage",
                        "text that matches " + schema["pattern"].get<std::string>());
  }

  void CheckList(const Part& part) {
    const std::size_t size = part.value.List().size();
    const bool few = Breaks(part, "minItems");
    if (few || Breaks(part, "maxItems")) {
      const std::size_t bound = part.schema[few ? "minItems" : "maxItems"].get<std::size_t>();
      const bool exact = part.schema.value("minItems", 0u) == part.schema.value("maxItems", ~0u);
      AddWanted(part,
                fmt::format("{}{}",
                            exact ? ""
                            : few ? "at least "
                                  : "at most ",
                            FormatPlural(bound, "entry", "entries")),
                std::to_string(size));
    } else if (part.schema.value("uniqueItems", false)) {
      CheckTwice(part);
    }
    const auto items = part.schema.find("items");
    if (items == part.schema.end()) return;
    for (std::size_t i = 0; i < size; ++i) {
      const Value& entry = part.value.List()[i];
      Check({entry, part.data[i], *items, MakeEntryPlace(entry, *items, i + 1, part.place)});
    }
  }

  void CheckTwice(const Part& list) {
    std::set<json> seen;
    for (std::size_t i = 0; i < list.data.size(); ++i) {
      if (seen.insert(list.data[i]).second) continue;
      const Value& entry = list.value.List()[i];
      errors_.Add("manifest-listed-twice", entry.position,
                  fmt::format("{}{} is listed twice", list.place.DescribeSubject(),
                              Quoted(entry.ScalarText())));
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

  void CheckMap(const Part& part) {
    static const json kNone = json::object();
    const auto found = part.schema.find("properties");
    const json& properties = found == part.schema.end() ? kNone : *found;
    std::vector<std::string> known;
    for (const auto& property : properties.items()) known.push_back(property.key());
    std::vector<std::string> misspelt;  // keys that an unknown key probably means
    for (const Member& member : part.value.Members()) {
      const json& data = part.data[member.key];
      const Place inner = MakeMemberPlace(member.key, part.place);
      if (properties.contains(member.key)) {
        Check({member.value, data, properties[member.key], inner, member.key});
      } else if (const auto other = part.schema.find("additionalProperties");
                 other != part.schema.end() && other->is_object()) {
        CheckKey(member, part);
        Check({member.value, data, *other, inner, member.key});
      } else if (other != part.schema.end()) {
        AddUnknownKey(member, known, part.place, misspelt);
      }
    }
    for (const json& key : part.schema.value("required", json::array())) {
      const auto& name = key.get_ref<const std::string&>();
      if (part.value.Find(name) != nullptr) continue;
      if (std::find(misspelt.begin(), misspelt.end(), name) != misspelt.end()) continue;
      errors_.Add("manifest-missing-key", part.value.position,
                  fmt::format("missing key '{}'{}", name, part.place.DescribePlace()),
                  FindMissingHint(name, properties[name]));
    }
  }

  static Place MakeMemberPlace(const std::string& key, const Place& parent) {
    return {Quoted(key) + parent.DescribePlace(),
            parent.container.empty() ? MakePrintable(key)
                                     : MakePrintable(key) + " of " + parent.container};
  }

  void CheckKey(const Member& member, const Part& map) {
    const auto names = map.schema.find("propertyNames");
    if (names == map.schema.end()) return;
    const std::string fault = FindTextFault(member.key, *names);
    if (fault.empty() || AddFalseBlank(member, map.place)) return;
    errors_.Add(
        "manifest-wrong-value", member.key_position,
        fmt::format("wanted {}{}, found {}", fault, map.place.DescribePlace(), Quoted(member.key)),
        FormatLookalikeHint(member.key));
  }

  // A key with a false blank in it is most often a key and its value. False: it has none.
  bool AddFalseBlank(const Member& member, const Place& place) {
    const auto found = FindLookalike(member.key);
    if (!found || !found->is_space) return false;
    Position position = member.key_position;
    position.column += found->column;
    errors_.Add("manifest-unknown-key", position,
                fmt::format("wanted a blank, found {}, in the key {}{}", found->name,
                            Quoted(member.key), place.DescribePlace()),
                "type an ordinary blank there");
    return true;
  }

  void AddUnknownKey(const Member& member, const std::vector<std::string>& known,
                     const Place& place, std::vector<std::string>& misspelt) {
    misspelt.push_back(FindMeantKey(member.key, known));
    if (AddFalseBlank(member, place)) return;
    const std::string lookalike = FormatLookalikeHint(member.key);
    const std::string guess = lookalike.empty() ? FormatGuess(member.key, known) : "";
    errors_.Add("manifest-unknown-key", member.key_position,
                fmt::format("unknown key {}{}{}", Quoted(member.key), place.DescribePlace(), guess),
                lookalike.empty() ? FindKeyHint(member.key, known) : lookalike);
  }

  ManifestErrors& errors_;
  SchemaJudge judge_;
};

void RemoveDefaults(json& schema) {
  if (schema.is_object()) schema.erase("default");
  for (json& part : schema) {
    if (part.is_structured()) RemoveDefaults(part);
  }
}

// Puts what `#/properties/NAME` refers to in the place of the reference, with the description that
// stands beside it. Defaults stay out: what such a part leaves out, the other one says.
void ResolveReferences(json& schema, const json& root) {
  if (schema.is_object() && schema.contains("$ref")) {
    const auto pointer = schema["$ref"].get<std::string>().substr(1);
    json whole = root.at(json::json_pointer(pointer));
    RemoveDefaults(whole);
    whole["description"] = schema["description"];
    schema = std::move(whole);
    return;
  }
  for (json& part : schema) {
    if (part.is_structured()) ResolveReferences(part, root);
  }
}

}  // namespace

const json& GetClusterSchema() {
  static const json kSchema = [] {
    const json written = json::parse(FindEmbeddedSchema("cluster"));
    json whole = written;
    ResolveReferences(whole, written);
    return whole;
  }();
  return kSchema;
}

void CheckSchema(const Value& document, const json& schema, ManifestErrors& errors) {
  const json data = ToJson(document);
  Explainer(errors).Check({document, data, schema});
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
