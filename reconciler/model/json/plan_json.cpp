#include <fmt/format.h>

#include <set>

#include "reconciler/base/json/json_text.h"
#include "reconciler/base/text.h"
#include "reconciler/model/json/json.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kPlanFormat = "spark-reconcile/plan/3";
constexpr std::string_view kSeverities[] = {"blocks", "warns", "informs"};
constexpr std::string_view kChangeKinds[] = {"add", "modify", "remove", "adopt", "blocked"};

constexpr std::string_view kCauses[] = {
    "unknown", "first-apply",         "new",         "manifest-changed", "desired-changed",
    "drifted", "drifted-and-changed", "not-required"};

ordered_json ListToJson(const std::vector<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const std::string& text : texts) list.push_back(EncodeText(text));
  return list;
}

std::vector<std::string> ReadList(const JsonReader& reader) {
  std::vector<std::string> texts;
  reader.ForEachItem([&](const JsonReader& item) { texts.push_back(item.Text()); });
  return texts;
}

SourceMark ReadWhere(const JsonReader& where) {
  return {where.At("file").Text(),
          {static_cast<int>(where.At("line").Integer()),
           static_cast<int>(where.At("column").Integer())}};
}

ordered_json WhereToJson(const SourceMark& where) {
  return {{"file", EncodeText(where.file)},
          {"line", where.position.line},
          {"column", where.position.column}};
}

Diagnostic ReadDiagnostic(const JsonReader& reader) {
  return {.severity = ReadEnum<Severity>(reader.At("severity"), kSeverities),
          .code = reader.At("code").Text(),
          .message = reader.At("message").Text(),
          .next_step = reader.At("next_step").Text(),
          .where = ReadWhere(reader.At("where")),
          .subject = reader.At("subject").Text(),
          .plugin = reader.At("plugin").Text(),
          .change = reader.At("change").Text(),
          .nodes = ReadList(reader.At("nodes"))};
}

ordered_json DiagnosticToJson(const Diagnostic& diagnostic) {
  return {{"severity", kSeverities[static_cast<int>(diagnostic.severity)]},
          {"code", EncodeText(diagnostic.code)},
          {"nodes", ListToJson(diagnostic.nodes)},
          {"plugin", EncodeText(diagnostic.plugin)},
          {"subject", EncodeText(diagnostic.subject)},
          {"change", EncodeText(diagnostic.change)},
          {"message", EncodeText(diagnostic.message)},
          {"next_step", EncodeText(diagnostic.next_step)},
          {"where", WhereToJson(diagnostic.where)}};
}

std::optional<std::string> ReadOptionalText(const JsonReader& reader, const std::string& key) {
  return reader.Has(key) ? std::optional(reader.At(key).Text()) : std::nullopt;
}

void Write(const ChangeCause& cause, JsonText& json) {
  json.BeginObject();
  json.Word("kind", kCauses[static_cast<int>(cause.kind)]);
  json.Number("generation", cause.generation);
  if (cause.applied) json.Text("applied", *cause.applied);
  json.EndObject();
}

void Write(const SourceMark& where, JsonText& json) {
  json.BeginObject();
  json.Text("file", where.file);
  json.Number("line", where.position.line);
  json.Number("column", where.position.column);
  json.EndObject();
}

void Write(const std::optional<FileState>& before, JsonText& json) {
  if (before) return WriteJson(*before, json);
  json.BeginObject();
  json.Bool("absent", true);
  json.EndObject();
}

void Write(const PruneCommands& commands, JsonText& json) {
  json.BeginObject();
  json.Key("before");
  WriteJson(commands.before, json);
  json.Key("after");
  WriteJson(commands.after, json);
  if (commands.adds) json.Bool("adds", true);
  json.EndObject();
}

PruneCommands ReadPruneCommands(const JsonReader& reader) {
  return {.before = ReadCommands(reader.At("before")),
          .after = ReadCommands(reader.At("after")),
          .adds = reader.Has("adds") && reader.At("adds").Bool()};
}

ChangeCause ReadCause(const JsonReader& reader) {
  return {.kind = ReadEnum<CauseKind>(reader.At("kind"), kCauses),
          .generation = static_cast<int>(reader.At("generation").Integer()),
          .applied = ReadOptionalText(reader, "applied")};
}

Change ReadChange(const JsonReader& reader) {
  Change change;
  change.change = ReadEnum<ChangeKind>(reader.At("change"), kChangeKinds);
  change.node = reader.At("node").Text();
  change.plugin = reader.At("plugin").Text();
  change.kind = reader.At("kind").Text();
  change.name = reader.At("name").Text();
  change.is_link = reader.Has("is_link") && reader.At("is_link").Bool();
  change.detail = reader.At("detail").Text();
  change.code = reader.At("code").Text();
  change.owner = {.name = reader.At("owner").Text(),
                  .claims = ReadList(reader.At("claims")),
                  .settings_lost = ReadList(reader.At("settings_lost"))};
  change.diff = reader.At("diff").Text();
  change.impact = ReadImpact(reader.At("impact"));
  change.interrupts = reader.At("interrupts").Text();
  change.deferred = reader.At("deferred").Bool();
  change.where = ReadWhere(reader.At("where"));
  change.fingerprint = reader.At("fingerprint").Text();
  change.actions = ReadActions(reader.At("actions"));
  change.revert = ReadActions(reader.At("revert"));
  change.triggers = ReadCommands(reader.At("triggers"));
  if (const JsonReader before = reader.At("before"); !before.Has("absent")) {
    change.before = ReadFileState(before);
  }
  change.prune_commands = ReadPruneCommands(reader.At("prune_commands"));
  change.prune = reader.At("prune").Bool();
  change.desired = ReadOptionalText(reader, "desired");
  change.cause = ReadCause(reader.At("cause"));
  return change;
}

ordered_json StageToJson(const Stage& stage) {
  ordered_json changes = ordered_json::array();
  for (const Change& change : stage.changes) changes.push_back(ToJson(change));
  ordered_json held = ordered_json::array();
  for (const Change& change : stage.held) held.push_back(ToJson(change));
  return {{"plugins", stage.plugins}, {"changes", changes}, {"held", held}};
}

Stage ReadStage(const JsonReader& reader) {
  Stage stage;
  reader.At("plugins").ForEachItem(
      [&](const JsonReader& item) { stage.plugins.push_back(item.Text()); });
  reader.At("changes").ForEachItem(
      [&](const JsonReader& item) { stage.changes.push_back(ReadChange(item)); });
  if (reader.Has("held")) {
    reader.At("held").ForEachItem(
        [&](const JsonReader& item) { stage.held.push_back(ReadChange(item)); });
  }
  return stage;
}

}  // namespace

std::string FormatJson(const Change& change) {
  JsonText json;
  json.BeginObject();
  json.Word("change", kChangeKinds[static_cast<int>(change.change)]);
  json.Key("cause");
  Write(change.cause, json);
  json.Text("node", change.node);
  json.Text("plugin", change.plugin);
  json.Text("kind", change.kind);
  json.Text("name", change.name);
  json.Bool("is_link", change.is_link);
  json.Text("detail", change.detail);
  json.Text("code", change.code);
  json.Text("owner", change.owner.name);
  json.Texts("claims", change.owner.claims);
  json.Texts("settings_lost", change.owner.settings_lost);
  json.Text("diff", change.diff);
  json.Word("impact", ImpactToJson(change.impact));
  json.Text("interrupts", change.interrupts);
  json.Bool("deferred", change.deferred);
  json.Key("where");
  Write(change.where, json);
  json.Word("fingerprint", change.fingerprint);
  json.Key("actions");
  WriteJson(change.actions, json);
  json.Key("revert");
  WriteJson(change.revert, json);
  json.Key("triggers");
  WriteJson(change.triggers, json);
  json.Key("before");
  Write(change.before, json);
  json.Key("prune_commands");
  Write(change.prune_commands, json);
  json.Bool("prune", change.prune);
  if (change.desired) json.Text("desired", *change.desired);
  json.EndObject();
  return json.Take();
}

ordered_json ToJson(const Change& change) { return ordered_json::parse(FormatJson(change)); }

ordered_json ToJson(const Plan& plan) {
  ordered_json nodes = ordered_json::array();
  for (const PlanNode& node : plan.nodes) {
    nodes.push_back({{"name", EncodeText(node.name)},
                     {"address", EncodeText(node.address)},
                     {"session_interface", EncodeText(node.session_interface)},
                     {"generation", node.generation},
                     {"unreachable", EncodeText(node.unreachable)},
                     {"dropped", ListToJson(node.dropped)}});
  }
  ordered_json diagnostics = ordered_json::array();
  for (const Diagnostic& one : plan.diagnostics) diagnostics.push_back(DiagnosticToJson(one));
  ordered_json stages = ordered_json::array();
  for (const Stage& stage : plan.stages) stages.push_back(StageToJson(stage));
  return {{"format", kPlanFormat},
          {"id", plan.id},
          {"cluster", EncodeText(plan.cluster)},
          {"summary", EncodeText(plan.summary)},
          {"manifest", EncodeText(plan.manifest)},
          {"spec_digest", plan.spec_digest},
          {"only", plan.only},
          {"overwrite_edited", plan.overwrite_edited},
          {"allow_half_cables", plan.allow_half_cables},
          {"uninstall", plan.uninstall},
          {"changes", plan.ChangeCount()},
          {"blocked", plan.BlockedCount()},
          {"nodes", nodes},
          {"diagnostics", diagnostics},
          {"stages", stages}};
}

Result<Plan> ParsePlan(std::string_view json) {
  return ReadDocument<Plan>(json, [](const JsonReader& reader) {
    Plan plan;
    const JsonReader format = reader.At("format");
    if (format.Text() != kPlanFormat) {
      const bool is_plan = format.Text().starts_with("spark-reconcile/plan/");
      format.Fail("wanted \"" + std::string(kPlanFormat) + "\", found \"" + format.Text() + "\"",
                  is_plan ? "another version of the program made it; plan again: spark-reconcile "
                            "plan --out FILE"
                          : "");
    }
    plan.id = reader.At("id").Text();
    plan.cluster = reader.At("cluster").Text();
    plan.summary = reader.At("summary").Text();
    plan.manifest = reader.At("manifest").Text();
    plan.spec_digest = reader.At("spec_digest").Text();
    plan.only = ReadList(reader.At("only"));
    plan.overwrite_edited = reader.At("overwrite_edited").Bool();
    plan.allow_half_cables = reader.At("allow_half_cables").Bool();
    plan.uninstall = reader.At("uninstall").Bool();
    reader.At("nodes").ForEachItem([&](const JsonReader& node) {
      plan.nodes.push_back({.name = node.At("name").Text(),
                            .address = node.At("address").Text(),
                            .session_interface = node.At("session_interface").Text(),
                            .generation = static_cast<int>(node.At("generation").Integer()),
                            .unreachable = node.At("unreachable").Text(),
                            .dropped = ReadList(node.At("dropped"))});
    });
    reader.At("diagnostics").ForEachItem([&](const JsonReader& one) {
      plan.diagnostics.push_back(ReadDiagnostic(one));
    });
    std::set<std::string> ids;
    reader.At("stages").ForEachItem([&](const JsonReader& stage) {
      plan.stages.push_back(ReadStage(stage));
      for (const Change& change : plan.stages.back().changes) {
        if (ids.insert(change.Id()).second) continue;
        stage.Fail(fmt::format("wanted each change once, found {} {} of {} again",
                               MakePrintable(change.kind), MakePrintable(change.name),
                               MakePrintable(change.node)),
                   "make a new plan with `plan --out`");
      }
    });
    return plan;
  });
}

}  // namespace reconciler
