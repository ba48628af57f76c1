#pragma once

#include "reconciler/base/json/json_reader.h"
#include "reconciler/model/action.h"
#include "reconciler/model/facts.h"

namespace reconciler {

class JsonText;

// Pieces that facts and plans share.
void WriteJson(const FileState& state, JsonText& json);
nlohmann::ordered_json FileStateToJson(const FileState& state);
FileState ReadFileState(const JsonReader& reader);

void WriteJson(const std::vector<Action>& actions, JsonText& json);
void WriteJson(const std::vector<RunCommand>& commands, JsonText& json);
nlohmann::ordered_json ActionsToJson(const std::vector<Action>& actions);
std::vector<Action> ReadActions(const JsonReader& reader);
nlohmann::ordered_json CommandsToJson(const std::vector<RunCommand>& commands);
std::vector<RunCommand> ReadCommands(const JsonReader& reader);

nlohmann::ordered_json LedgerToJson(const Ledger& ledger);
Ledger ReadLedger(const JsonReader& reader);

std::string_view ImpactToJson(Impact impact);
Impact ReadImpact(const JsonReader& reader);

// One of `words`, whose places are the enum's values.
template <class Enum, std::size_t n>
Enum ReadEnum(const JsonReader& reader, const std::string_view (&words)[n]) {
  const std::string text = reader.Text();
  for (std::size_t i = 0; i < n; ++i) {
    if (text == words[i]) return static_cast<Enum>(i);
  }
  reader.Fail("unknown word \"" + text + "\"");
}

// {"absent": true}, {"unknown": why} or {"unsupported": why}; null when the fact is known.
template <class T>
nlohmann::ordered_json NotKnownToJson(const Observed<T>& observed) {
  if (const auto* unknown = std::get_if<Unknown>(&observed)) {
    return {{"unknown", EncodeText(unknown->why)}};
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&observed)) {
    return {{"unsupported", EncodeText(unsupported->why)}};
  }
  if (std::holds_alternative<Absent>(observed)) return {{"absent", true}};
  return nullptr;
}

template <class T, class Function>  // Function: T(const JsonReader&), for a known fact
Observed<T> ReadObserved(const JsonReader& reader, Function function) {
  if (reader.Has("unknown")) return Unknown{reader.At("unknown").Text()};
  if (reader.Has("unsupported")) return Unsupported{reader.At("unsupported").Text()};
  if (reader.Has("absent")) return Absent{};
  return function(reader);
}

}  // namespace reconciler
