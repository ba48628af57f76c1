#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kImpacts[] = {"none", "service-restart", "link-flap", "reboot"};

ordered_json TextsToJson(const std::vector<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const std::string& text : texts) list.push_back(EncodeText(text));
  return list;
}

ordered_json CommandToJson(const RunCommand& command) {
  return {{"run", TextsToJson(command.argv)},     {"time_limit_s", command.time_limit_s},
          {"user", EncodeText(command.user)},     {"id", EncodeText(command.id)},
          {"must_succeed", command.must_succeed}, {"at_boot", command.at_boot},
          {"sets", EncodeText(command.sets)},     {"makes", TextsToJson(command.makes)}};
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
  if (reader.Has("sets")) command.sets = reader.At("sets").Text();
  if (reader.Has("makes")) command.makes = ReadTexts(reader.At("makes"));
  return command;
}

ordered_json ActionToJson(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) {
    ordered_json json = {{"write", EncodeText(write->path)},
                         {"state", FileStateToJson(write->state)},
                         {"trial", EncodeText(write->trial.path)},
                         {"generator", TextsToJson(write->trial.generator)}};
    if (!write->state.mtime.empty()) json["mtime"] = write->state.mtime;
    return json;
  }
  if (const auto* remove = std::get_if<RemoveFile>(&action)) {
    return {{"remove", EncodeText(remove->path)},
            {"trial", EncodeText(remove->trial.path)},
            {"generator", TextsToJson(remove->trial.generator)}};
  }
  return CommandToJson(std::get<RunCommand>(action));
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

ordered_json ActionsToJson(const std::vector<Action>& actions) {
  ordered_json list = ordered_json::array();
  for (const Action& action : actions) list.push_back(ActionToJson(action));
  return list;
}

std::vector<Action> ReadActions(const JsonReader& reader) {
  std::vector<Action> actions;
  reader.ForEachItem([&](const JsonReader& item) { actions.push_back(ReadAction(item)); });
  return actions;
}

ordered_json CommandsToJson(const std::vector<RunCommand>& commands) {
  ordered_json list = ordered_json::array();
  for (const RunCommand& command : commands) list.push_back(CommandToJson(command));
  return list;
}

std::vector<RunCommand> ReadCommands(const JsonReader& reader) {
  std::vector<RunCommand> commands;
  reader.ForEachItem([&](const JsonReader& item) { commands.push_back(ReadCommand(item)); });
  return commands;
}

}  // namespace reconciler
