#include <fmt/format.h>

#include "reconciler/base/json/json_text.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kImpacts[] = {"none", "service-restart", "link-flap", "reboot"};

void Write(const RunCommand& command, JsonText& json) {
  json.BeginObject();
  json.Texts("run", command.argv);
  json.Number("time_limit_s", command.time_limit_s);
  json.Text("user", command.user);
  json.Text("id", command.id);
  json.Bool("must_succeed", command.must_succeed);
  json.Bool("at_boot", command.at_boot);
  if (command.after_boot) json.Bool("after_boot", true);
  json.Text("sets", command.sets);
  json.Texts("makes", command.makes);
  if (command.without_reload) json.Bool("without_reload", true);
  json.EndObject();
}

std::vector<std::string> ReadTexts(const JsonReader& reader) {
  std::vector<std::string> texts;
  reader.ForEachItem([&](const JsonReader& text) { texts.push_back(text.Text()); });
  return texts;
}

RunCommand ReadCommand(const JsonReader& reader) {
  RunCommand command;
  command.argv = ReadTexts(reader.At("run"));
  command.time_limit_s = static_cast<int>(reader.At("time_limit_s").Integer());
  command.user = reader.At("user").Text();
  // Ledgers and plans of earlier versions are without these.
  if (reader.Has("id")) command.id = reader.At("id").Text();
  if (reader.Has("must_succeed")) command.must_succeed = reader.At("must_succeed").Bool();
  if (reader.Has("at_boot")) command.at_boot = reader.At("at_boot").Bool();
  if (reader.Has("after_boot")) command.after_boot = reader.At("after_boot").Bool();
  if (reader.Has("sets")) command.sets = reader.At("sets").Text();
  if (reader.Has("makes")) command.makes = ReadTexts(reader.At("makes"));
  if (reader.Has("without_reload")) command.without_reload = reader.At("without_reload").Bool();
  return command;
}

void Write(const WriteFile& write, JsonText& json) {
  json.BeginObject();
  json.Text("write", write.path);
  json.Key("state");
  WriteJson(write.state, json);
  json.Text("trial", write.trial.path);
  json.Texts("generator", write.trial.generator);
  if (!write.state.mtime.empty()) json.Word("mtime", write.state.mtime);
  json.EndObject();
}

void Write(const RemoveFile& remove, JsonText& json) {
  json.BeginObject();
  json.Text("remove", remove.path);
  json.Text("trial", remove.trial.path);
  json.Texts("generator", remove.trial.generator);
  json.EndObject();
}

template <class List>
ordered_json ToList(const List& list) {
  JsonText json;
  WriteJson(list, json);
  return ordered_json::parse(json.Take());
}

WriteFile ReadWrite(const JsonReader& reader) {
  WriteFile write{.path = reader.At("write").Text(), .state = ReadFileState(reader.At("state"))};
  if (!reader.Has("mtime")) return write;  // ledgers of earlier versions, and new text
  write.state.mtime = reader.At("mtime").Text();
  if (!IsMtime(write.state.mtime)) {
    reader.At("mtime").Fail(
        "wanted a time such as \"2026-11-21 09:15:02.123456789 +0000\", found \"" +
        write.state.mtime + "\"");
  }
  return write;
}

Action ReadAction(const JsonReader& reader) {
  Trial trial;
  // Ledgers and plans of earlier versions may be without these.
  if (reader.Has("trial")) trial.path = reader.At("trial").Text();
  if (reader.Has("generator")) trial.generator = ReadTexts(reader.At("generator"));
  if (reader.Has("write")) {
    WriteFile write = ReadWrite(reader);
    write.trial = std::move(trial);
    return write;
  }
  if (reader.Has("remove")) return RemoveFile{reader.At("remove").Text(), trial};
  return ReadCommand(reader);
}

}  // namespace

std::string_view ImpactToJson(Impact impact) { return kImpacts[static_cast<int>(impact)]; }

Impact ReadImpact(const JsonReader& reader) { return ReadEnum<Impact>(reader, kImpacts); }

void WriteJson(const FileState& state, JsonText& json) {
  json.BeginObject();
  json.Text("content", state.content);
  json.Word("mode", fmt::format("{:04o}", state.mode));
  json.Text("owner", state.owner);
  json.Text("group", state.group);
  json.EndObject();
}

void WriteJson(const std::vector<Action>& actions, JsonText& json) {
  json.BeginList();
  for (const Action& action : actions) {
    std::visit([&](const auto& one) { Write(one, json); }, action);
  }
  json.EndList();
}

void WriteJson(const std::vector<RunCommand>& commands, JsonText& json) {
  json.BeginList();
  for (const RunCommand& command : commands) Write(command, json);
  json.EndList();
}

ordered_json ActionsToJson(const std::vector<Action>& actions) { return ToList(actions); }

std::vector<Action> ReadActions(const JsonReader& reader) {
  std::vector<Action> actions;
  reader.ForEachItem([&](const JsonReader& item) { actions.push_back(ReadAction(item)); });
  return actions;
}

ordered_json CommandsToJson(const std::vector<RunCommand>& commands) { return ToList(commands); }

std::vector<RunCommand> ReadCommands(const JsonReader& reader) {
  std::vector<RunCommand> commands;
  reader.ForEachItem([&](const JsonReader& item) { commands.push_back(ReadCommand(item)); });
  return commands;
}

}  // namespace reconciler
