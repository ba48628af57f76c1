#include "reconciler/catalogue/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/catalogue/catalogue.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/planning/layout.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostColumns = 100;  // longer lines are hard to read

// `text` behind a label, its words in lines that begin below each other. A word that is wider than
// `columns` stays whole, as addresses of pages must.
std::string FormatField(std::string_view label, std::string_view text, std::size_t columns) {
  constexpr std::size_t kIndent = 12;
  if (text.empty()) return {};
  std::string lines = fmt::format("  {:<{}}", label, kIndent - 2);
  std::size_t at = kIndent;
  for (const std::string& word : Split(text, ' ')) {
    if (at > kIndent && at + 1 + word.size() > columns) {
      lines += "\n" + std::string(kIndent, ' ');
      at = kIndent;
    } else if (at > kIndent) {
      lines += ' ';
      ++at;
    }
    lines += word;
    at += word.size();
  }
  return lines + "\n";
}

std::size_t LimitColumns(std::size_t columns) {
  return columns == 0 ? kMostColumns : std::min(columns, kMostColumns);
}

std::string RenderEntry(const CatalogueEntry& entry, std::size_t columns) {
  const std::string head =
      fmt::format("{} ({}; reported by {}, since {})\n", entry.code, Join(entry.severity, ", "),
                  Join(entry.reported_by, ", "), entry.since);
  std::string text = WrapLines(head, columns);
  text += FormatField("seen", entry.symptom, columns);
  text += FormatField("detected", entry.detected, columns);
  text += FormatField("cause", entry.cause, columns);
  text += FormatField("next step", entry.next_step, columns);
  text += FormatField("impact", entry.impact, columns);
  text += FormatField("related", Join(entry.related, ", "), columns);
  for (const std::string& source : entry.sources) text += FormatField("source", source, columns);
  return text;
}

// "auto, link, rdma or nccl"; "a whole number, 1 to 9000"; "a map".
std::string DescribeKind(const Json& schema) {
  if (schema.contains("anyOf")) {
    std::vector<std::string> kinds;
    for (const Json& branch : schema["anyOf"]) kinds.push_back(DescribeKind(branch));
    return Join(kinds, ", or ");
  }
  if (schema.contains("enum")) {
    std::vector<std::string> values;
    for (const Json& value : schema["enum"]) {
      values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    return "one of " + Join(values, ", ");
  }
  std::vector<std::string> kinds;
  const Json type = schema.value("type", Json());
  for (const Json& one : type.is_array() ? type : Json::array({type})) {
    if (one == "object") kinds.emplace_back("a map");
    if (one == "array") kinds.emplace_back("a list");
    if (one == "string") kinds.emplace_back("text");
    if (one == "boolean") kinds.emplace_back("true or false");
    if (one == "integer") kinds.emplace_back("a whole number");
    if (one == "number") kinds.emplace_back("a number");
    if (one == "null") kinds.emplace_back("nothing");
  }
  std::string text = Join(kinds, " or ");
  if (schema.contains("minimum") && schema.contains("maximum")) {
    text += fmt::format(", {} to {}", schema["minimum"].dump(), schema["maximum"].dump());
  }
  return text;
}

// The parts of a schema that say what may lie below it: of a list its entries, of a map with free
// names its values, and each alternative.
std::vector<const Json*> ListContainers(const Json& schema) {
  std::vector<const Json*> containers = {&schema};
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& one = *containers[i];
    for (const char* key : {"items", "additionalProperties"}) {
      if (one.contains(key) && one[key].is_object()) containers.push_back(&one[key]);
    }
    if (!one.contains("anyOf")) continue;
    for (const Json& branch : one["anyOf"]) containers.push_back(&branch);
  }
  return containers;
}

std::vector<std::string> ListKeys(const Json& schema) {
  std::vector<std::string> keys;
  for (const Json* container : ListContainers(schema)) {
    if (!container->contains("properties")) continue;
    for (const auto& [key, child] : (*container)["properties"].items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

const Json* FindKey(const Json& schema, const std::string& key) {
  for (const Json* container : ListContainers(schema)) {
    if (container->contains("properties") && (*container)["properties"].contains(key)) {
      return &(*container)["properties"][key];
    }
  }
  return nullptr;
}

std::string RenderKey(std::string_view name, const Json& schema, std::size_t columns) {
  std::string text = fmt::format("{} (key of the manifest)\n", name);
  text += FormatField("meaning", schema.value("description", ""), columns);
  text += FormatField("value", DescribeKind(schema), columns);
  if (schema.contains("default") && !schema["default"].is_object()) {
    const Json& value = schema["default"];
    text += FormatField("default", value.is_string() ? value.get<std::string>() : value.dump(),
                        columns);
  }
  text += FormatField("keys", Join(ListKeys(schema), ", "), columns);
  return text;
}

Error MakeUnknownName(std::string_view name, const std::vector<std::string>& keys) {
  std::vector<std::string> known = ListCodes();
  known.insert(known.end(), keys.begin(), keys.end());
  return {.kind = ErrorKind::kUsage,
          .message = fmt::format("wanted a code or a key of the manifest, found {}{}", Quoted(name),
                                 FormatGuess(name, known)),
          .hint =
              "`spark-reconcile explain` lists all codes; docs/manifest.md has all keys, written "
              "with dots: fabric.mtu"};
}

// docs/manifest.md writes "nodes[].name" for a key of the entries of a list.
std::string RemoveListMarks(std::string_view name) {
  std::string plain(name);
  for (std::size_t at = 0; (at = plain.find("[]", at)) != std::string::npos;) plain.erase(at, 2);
  return plain;
}

Result<const Json*> FindKeySchema(std::string_view name) {
  const Json* schema = &GetClusterSchema();
  std::string above;
  for (const std::string& key : Split(RemoveListMarks(name), '.')) {
    if (key == "NAME" && !above.empty())
      continue;  // a key of one's own, as docs/manifest.md has it
    const Json* below = FindKey(*schema, key);
    if (below == nullptr) {
      std::vector<std::string> near = ListKeys(*schema);
      for (std::string& one : near) one = above + one;
      return Fail(MakeUnknownName(name, near));
    }
    schema = below;
    above += key + ".";
  }
  return schema;
}

Result<std::string> ExplainKey(std::string_view name, std::size_t columns) {
  const auto schema = FindKeySchema(name);
  if (!schema) return Fail(schema.error());
  return RenderKey(name, **schema, columns);
}

nlohmann::ordered_json EntryToJson(const CatalogueEntry& entry) {
  nlohmann::ordered_json json = {{"code", entry.code},           {"reported_by", entry.reported_by},
                                 {"severity", entry.severity},   {"symptom", entry.symptom},
                                 {"detected", entry.detected},   {"cause", entry.cause},
                                 {"next_step", entry.next_step}, {"impact", entry.impact}};
  if (!entry.overrides.empty()) json["overrides"] = entry.overrides;
  json["sources"] = entry.sources;
  json["since"] = entry.since;
  json["related"] = entry.related;
  return json;
}

nlohmann::ordered_json KeyToJson(std::string_view name, const Json& schema) {
  nlohmann::ordered_json json = {
      {"key", name}, {"meaning", schema.value("description", "")}, {"value", DescribeKind(schema)}};
  if (schema.contains("default")) json["default"] = schema["default"];
  json["keys"] = ListKeys(schema);
  return json;
}

std::string EscapeCell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

bool IsReportedBy(const CatalogueEntry& entry, std::string_view command) {
  return std::find(entry.reported_by.begin(), entry.reported_by.end(), command) !=
         entry.reported_by.end();
}

}  // namespace

Result<std::string> Explain(std::string_view name, std::size_t columns) {
  const std::size_t limit = LimitColumns(columns);
  for (const std::string& code : ListCodes()) {
    if (code == name) return RenderEntry(GetCatalogueEntry(code), limit);
  }
  return ExplainKey(name, limit);
}

Result<nlohmann::ordered_json> ExplainAsJson(std::string_view name) {
  nlohmann::ordered_json codes = nlohmann::ordered_json::array();
  nlohmann::ordered_json keys = nlohmann::ordered_json::array();
  for (const std::string& code : ListCodes()) {
    if (name.empty() || code == name) codes.push_back(EntryToJson(GetCatalogueEntry(code)));
  }
  if (codes.empty()) {
    const auto schema = FindKeySchema(name);
    if (!schema) return Fail(schema.error());
    keys.push_back(KeyToJson(name, **schema));
  }
  return nlohmann::ordered_json{{"format", "spark-reconcile/explain/1"},
                                {"codes", std::move(codes)},
                                {"keys", std::move(keys)}};
}

std::string ListExplained(std::size_t columns) {
  std::size_t width = 0;
  for (const std::string& code : ListCodes()) width = std::max(width, code.size());
  std::string text;
  for (const std::string& code : ListCodes()) {
    const std::string line =
        fmt::format("{:<{}}  {}", code, width, GetCatalogueEntry(code).symptom);
    text += Join(WrapTo(line, columns, std::string(width + 2, ' ')), "\n") + "\n";
  }
  return text;
}

std::string RenderCatalogue() {
  std::string text;
  for (const auto& [command, heading] :
       {std::pair("validate", "Codes of errors of the manifest"),
        std::pair("plan", "Codes of plan, drift, apply, uninstall and validate"),
        std::pair("verify", "Codes of verify")}) {
    text += fmt::format(
        "## {}\n\n| Code | Severity | Seen | Detected | Cause | Next step | Impact |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n",
        heading);
    for (const std::string& code : ListCodes()) {
      const CatalogueEntry entry = GetCatalogueEntry(code);
      if (!IsReportedBy(entry, command)) continue;
      // What holds of a valid manifest too is in the table of plan.
      if (command == std::string_view("validate") && IsReportedBy(entry, "plan")) continue;
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", code,
                          Join(entry.severity, ", "), EscapeCell(entry.symptom),
                          EscapeCell(entry.detected), EscapeCell(entry.cause),
                          EscapeCell(entry.next_step), EscapeCell(entry.impact));
    }
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace reconciler
