#include "reconciler/apply/history.h"

#include <fmt/format.h>

#include <charconv>
#include <mutex>

#include "reconciler/apply/list_generations.sh.h"
#include "reconciler/apply/record_verification.sh.h"
#include "reconciler/apply/write_ledger.sh.h"
#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/model/json/json.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/frames.h"

namespace reconciler {
namespace {

constexpr Milliseconds kScriptLimit{30000};
constexpr std::string_view kFormat = "spark-reconcile/generation/1";

}  // namespace

Result<std::vector<Generation>> ReadHistory(const NodeSpec& node, NodePool& pool) {
  const std::string nonce = MakeNonce();
  const std::string script = BuildScriptPreamble(nonce) + std::string(kListGenerationsSh);
  const auto reply = pool.Run(node, script, std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(reply.error());
  std::vector<Generation> history;
  for (Frame& frame : ParseFrames(*reply, nonce)) {
    int number = 0;
    const char* end = frame.label.data() + frame.label.size();
    if (std::from_chars(frame.label.data(), end, number).ptr != end) continue;  // "end"
    history.push_back({number, std::move(frame.out)});
  }
  return history;
}

std::string FormatGeneration(const GenerationInfo& info) {
  nlohmann::ordered_json json = {{"format", kFormat},
                                 {"plan", info.plan},
                                 {"cluster", EncodeText(info.cluster)},
                                 {"manifest", EncodeText(info.manifest)},
                                 {"manifest_digest", info.manifest_digest},
                                 {"time", info.time},
                                 {"by", EncodeText(info.by)},
                                 {"changes", info.changes}};
  if (!info.commit.empty()) {
    json["commit"] = EncodeText(info.commit);
    json["dirty"] = info.dirty;
  }
  if (!info.verification.empty()) json["verification"] = EncodeText(info.verification);
  if (info.rolled_back_to >= 0) json["rolled_back_to"] = info.rolled_back_to;
  json["manifest_text"] = EncodeText(info.manifest_text);
  return Dump(json);
}

Result<GenerationInfo> ParseGeneration(const std::string& document) {
  return ReadDocument<GenerationInfo>(document, [](const JsonReader& reader) {
    const JsonReader format = reader.At("format");
    if (format.Text() != kFormat) {
      format.Fail("wanted \"" + std::string(kFormat) + "\", found \"" + format.Text() + "\"");
    }
    const auto text = [&](const char* key) {
      return reader.Has(key) ? reader.At(key).Text() : std::string();
    };
    GenerationInfo info{.plan = reader.At("plan").Text(),
                        .cluster = reader.At("cluster").Text(),
                        .manifest = reader.At("manifest").Text(),
                        .manifest_digest = reader.At("manifest_digest").Text(),
                        .manifest_text = text("manifest_text"),
                        .time = reader.At("time").Text(),
                        .by = reader.At("by").Text(),
                        .commit = text("commit"),
                        .dirty = reader.Has("dirty") && reader.At("dirty").Bool(),
                        .verification = text("verification"),
                        .changes = static_cast<std::size_t>(reader.At("changes").Integer())};
    if (reader.Has("rolled_back_to")) {
      info.rolled_back_to = static_cast<int>(reader.At("rolled_back_to").Integer());
    }
    return info;
  });
}

std::string BuildRecordVerificationScript(int number, const std::string& document) {
  return AssignForShell({{"F", fmt::format("{}/generations/{}.json", kStateFolder, number)},
                         {"DOCUMENT", document}}) +
         std::string(kRecordVerificationSh);
}

std::string BuildWriteLedgerScript(const std::string& ledger, const std::string& owned) {
  return AssignForShell({{"D", kStateFolder}, {"OWNED", owned}, {"LEDGER", ledger}}) +
         std::string(kWriteLedgerSh);
}

std::string BuildRemoveStateScript() { return fmt::format("rm -rf -- {}\n", kStateFolder); }

Errors RunOnNodes(const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                  const std::string& what,
                  const std::function<std::string(const NodeName&)>& script) {
  Errors errors;
  std::mutex mutex;
  ForEachNode(nodes, [&](const NodeSpec& node) {
    const std::string text = script(node.name);
    if (text.empty()) return;
    const auto reply = pool.Run(node, BuildScriptPreamble(MakeNonce()) + text, kScriptLimit);
    if (reply && reply->exit_code == 0) return;
    const std::lock_guard lock(mutex);
    if (!reply) {
      errors.push_back(reply.error());
      return;
    }
    errors.push_back({.kind = ErrorKind::kApply,
                      .message = fmt::format("{}: exit {}: {}", what, reply->exit_code,
                                             MakePrintable(Trim(reply->err))),
                      .context = {node.name}});
  });
  return errors;
}

}  // namespace reconciler
