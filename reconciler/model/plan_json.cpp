#include "reconciler/model/json.h"
#include "reconciler/model/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "spark-reconcile/plan/1";
constexpr std::string_view kChangeKinds[] = {"add", "modify", "remove", "blocked"};
constexpr std::string_view kImpacts[] = {"none", "service-restart", "link-flap", "reboot"};

template <class Enum, std::size_t n>
Enum ReadEnum(const JsonReader& reader, const std::string_view (&words)[n]) {
  const std::string text = reader.Text();
  for (std::size_t i = 0; i < n; ++i) {
    if (text == words[i]) return static_cast<Enum>(i);
  }
  reader.Fail("unknown word \"" + text + "\"");
}

ordered_json CommandToJson(const RunCommand& command) {
  ordered_json argv = ordered_json::array();
  for (const std::string& word : command.argv) argv.push_back(EncodeText(word));
  return {
      {"run", argv}, {"time_limit_s", command.time_limit_s}, {"user", EncodeText(command.user)}};
}

RunCommand ReadCommand(const JsonReader& reader) {
  RunCommand command;
  reader.At("run").ForEachItem(
      [&](const JsonReader& word) { command.argv.push_back(word.Text()); });
  command.time_limit_s = static_cast<int>(reader.At("time_limit_s").Integer());
  command.user = reader.At("user").Text();
  return command;
}

ordered_json ActionToJson(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) {
    return {{"write", EncodeText(write->path)}, {"state", FileStateToJson(write->state)}};
  }
  if (const auto* remove = std::get_if<RemoveFile>(&action)) {
    return {{"remove", EncodeText(remove->path)}};
  }
  return CommandToJson(std::get<RunCommand>(action));
}

Action ReadAction(const JsonReader& reader) {
  if (reader.Has("write")) {
    return WriteFile{reader.At("write").Text(), ReadFileState(reader.At("state"))};
  }
  if (reader.Has("remove")) return RemoveFile{reader.At("remove").Text()};
  return ReadCommand(reader);
}

ordered_json ActionsToJson(const std::vector<Action>& actions) {
  ordered_json list = ordered_json::array();
  for (const Action& action : actions) list.push_back(ActionToJson(action));
  return list;
}

Change ReadChange(const JsonReader& reader) {
  Change change;
  change.change = ReadEnum<ChangeKind>(reader.At("change"), kChangeKinds);
  change.node = reader.At("node").Text();
  change.plugin = reader.At("plugin").Text();
  change.kind = reader.At("kind").Text();
  change.name = reader.At("name").Text();
  change.detail = reader.At("detail").Text();
  change.diff = reader.At("diff").Text();
  change.impact = ReadEnum<Impact>(reader.At("impact"), kImpacts);
  change.interrupts = reader.At("interrupts").Text();
  change.deferred = reader.At("deferred").Bool();
  const JsonReader where = reader.At("where");
  change.where = {where.At("file").Text(),
                  {static_cast<int>(where.At("line").Integer()),
                   static_cast<int>(where.At("column").Integer())}};
  change.fingerprint = reader.At("fingerprint").Text();
  reader.At("actions").ForEachItem(
      [&](const JsonReader& item) { change.actions.push_back(ReadAction(item)); });
  reader.At("undo").ForEachItem(
      [&](const JsonReader& item) { change.undo.push_back(ReadAction(item)); });
  reader.At("triggers").ForEachItem([&](const JsonReader& item) {
    change.triggers.push_back(ReadCommand(item));
  });
  return change;
}

ordered_json StageToJson(const Stage& stage) {
  ordered_json changes = ordered_json::array();
  for (const Change& change : stage.changes) changes.push_back(ToJson(change));
  return {{"plugins", stage.plugins}, {"changes", changes}};
}

Stage ReadStage(const JsonReader& reader) {
  Stage stage;
  reader.At("plugins").ForEachItem(
      [&](const JsonReader& item) { stage.plugins.push_back(item.Text()); });
  reader.At("changes").ForEachItem(
      [&](const JsonReader& item) { stage.changes.push_back(ReadChange(item)); });
  return stage;
}

}  // namespace

ordered_json ToJson(const Change& change) {
  ordered_json triggers = ordered_json::array();
  for (const RunCommand& trigger : change.triggers) triggers.push_back(CommandToJson(trigger));
  return {{"change", kChangeKinds[static_cast<int>(change.change)]},
          {"node", EncodeText(change.node)},
          {"plugin", EncodeText(change.plugin)},
          {"kind", EncodeText(change.kind)},
          {"name", EncodeText(change.name)},
          {"detail", EncodeText(change.detail)},
          {"diff", EncodeText(change.diff)},
          {"impact", kImpacts[static_cast<int>(change.impact)]},
          {"interrupts", EncodeText(change.interrupts)},
          {"deferred", change.deferred},
          {"where",
           {{"file", EncodeText(change.where.file)},
            {"line", change.where.position.line},
            {"column", change.where.position.column}}},
          {"fingerprint", change.fingerprint},
          {"actions", ActionsToJson(change.actions)},
          {"undo", ActionsToJson(change.undo)},
          {"triggers", triggers}};
}

ordered_json ToJson(const Plan& plan) {
  ordered_json nodes = ordered_json::array();
  for (const PlanNode& node : plan.nodes) {
    nodes.push_back({{"name", EncodeText(node.name)},
                     {"address", EncodeText(node.address)},
                     {"session_interface", EncodeText(node.session_interface)},
                     {"unreachable", EncodeText(node.unreachable)}});
  }
  ordered_json stages = ordered_json::array();
  for (const Stage& stage : plan.stages) stages.push_back(StageToJson(stage));
  ordered_json notes = ordered_json::array();
  for (const std::string& note : plan.notes) notes.push_back(EncodeText(note));
  return {{"format", kFormat},
          {"id", plan.id},
          {"cluster", EncodeText(plan.cluster)},
          {"summary", EncodeText(plan.summary)},
          {"manifest", EncodeText(plan.manifest)},
          {"spec_digest", plan.spec_digest},
          {"only", plan.only},
          {"changes", plan.ChangeCount()},
          {"blocked", plan.BlockedCount()},
          {"nodes", nodes},
          {"notes", notes},
          {"stages", stages}};
}

Result<Plan> ParsePlan(std::string_view json) {
  return ReadDocument<Plan>(json, [](const JsonReader& reader) {
    Plan plan;
    const JsonReader format = reader.At("format");
    if (format.Text() != kFormat) {
      format.Fail("wanted \"" + std::string(kFormat) + "\", found \"" + format.Text() + "\"");
    }
    plan.id = reader.At("id").Text();
    plan.cluster = reader.At("cluster").Text();
    plan.summary = reader.At("summary").Text();
    plan.manifest = reader.At("manifest").Text();
    plan.spec_digest = reader.At("spec_digest").Text();
    reader.At("only").ForEachItem(
        [&](const JsonReader& name) { plan.only.push_back(name.Text()); });
    reader.At("nodes").ForEachItem([&](const JsonReader& node) {
      plan.nodes.push_back({.name = node.At("name").Text(),
                            .address = node.At("address").Text(),
                            .session_interface = node.At("session_interface").Text(),
                            .unreachable = node.At("unreachable").Text()});
    });
    reader.At("notes").ForEachItem(
        [&](const JsonReader& note) { plan.notes.push_back(note.Text()); });
    reader.At("stages").ForEachItem(
        [&](const JsonReader& stage) { plan.stages.push_back(ReadStage(stage)); });
    return plan;
  });
}

}  // namespace reconciler
