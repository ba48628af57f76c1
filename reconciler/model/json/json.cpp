#include "reconciler/model/json/json.h"

#include "reconciler/base/json/json_text.h"
#include "reconciler/base/number.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {

std::string Dump(const nlohmann::ordered_json& json) { return json.dump(2) + "\n"; }

nlohmann::ordered_json FileStateToJson(const FileState& state) {
  JsonText json;
  WriteJson(state, json);
  return nlohmann::ordered_json::parse(json.Take());
}

FileState ReadFileState(const JsonReader& reader) {
  FileState state;
  state.content = reader.At("content").Text();
  const std::string mode = reader.At("mode").Text();
  const auto number = ParseNumber<unsigned>(mode, 8);
  if (!number || mode.size() > 5) {
    reader.At("mode").Fail("wanted an octal mode such as \"0644\", found \"" + mode + "\"");
  }
  state.mode = *number;
  state.owner = reader.At("owner").Text();
  state.group = reader.At("group").Text();
  return state;
}

}  // namespace reconciler
