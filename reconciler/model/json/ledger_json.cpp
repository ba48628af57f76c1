#include <fmt/format.h>

#include <set>

#include "reconciler/model/json/json.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kLedgerFormat = "spark-reconcile/ledger/1";
constexpr std::string_view kAnyLedgerFormat = "spark-reconcile/ledger/";
constexpr std::string_view kFound = ", found \"";

ordered_json EntryToJson(const LedgerEntry& entry) {
  ordered_json json = {{"kind", EncodeText(entry.kind)},
                       {"name", EncodeText(entry.name)},
                       {"is_link", entry.is_link},
                       {"plugin", EncodeText(entry.plugin)},
                       {"generation", entry.generation},
                       {"original", ActionsToJson(entry.original)},
                       {"triggers", CommandsToJson(entry.triggers)},
                       {"again", CommandsToJson(entry.again)},
                       {"impact", ImpactToJson(entry.impact)},
                       {"digest", EncodeText(entry.digest)},
                       {"shared", entry.shared}};
  if (entry.applied) json["applied"] = EncodeText(*entry.applied);
  return json;
}

int ReadGeneration(const JsonReader& reader) {
  const std::int64_t number = reader.Integer();
  if (number < 0 || number > kLargestGeneration) {
    reader.Fail("wanted a generation's number, found " + std::to_string(number));
  }
  return static_cast<int>(number);
}

LedgerEntry ReadEntry(const JsonReader& reader) {
  LedgerEntry entry{.kind = reader.At("kind").Text(),
                    .name = reader.At("name").Text(),
                    .is_link = reader.Has("is_link") && reader.At("is_link").Bool(),
                    .plugin = reader.At("plugin").Text(),
                    .generation = ReadGeneration(reader.At("generation")),
                    .original = ReadActions(reader.At("original")),
                    .triggers = ReadCommands(reader.At("triggers")),
                    .again = ReadCommands(reader.At("again")),
                    .impact = ReadImpact(reader.At("impact")),
                    .digest = reader.At("digest").Text(),
                    .shared = reader.At("shared").Bool()};
  if (reader.Has("applied")) entry.applied = reader.At("applied").Text();
  std::size_t files = 0;
  for (const Action& action : entry.original) {
    const auto* write = std::get_if<WriteFile>(&action);
    const auto* remove = std::get_if<RemoveFile>(&action);
    if (write == nullptr && remove == nullptr) continue;
    const std::string& path = write != nullptr ? write->path : remove->path;
    if (path != entry.name || ++files > 1) {
      reader.At("original")
          .Fail("wanted at most one step on the file " + entry.name + ", found one on " + path);
    }
  }
  return entry;
}

}  // namespace

ordered_json LedgerToJson(const Ledger& ledger) {
  ordered_json nodes = ordered_json::array();
  for (const LedgerNode& node : ledger.nodes) {
    nodes.push_back(
        {{"name", EncodeText(node.name)}, {"id", node.id}, {"address", EncodeText(node.address)}});
  }
  ordered_json entries = ordered_json::array();
  for (const LedgerEntry& entry : ledger.entries) entries.push_back(EntryToJson(entry));
  return {{"format", kLedgerFormat},
          {"cluster", EncodeText(ledger.cluster)},
          {"generation", ledger.generation},
          {"manifest_digest", EncodeText(ledger.manifest_digest)},
          {"nodes", nodes},
          {"entries", entries}};
}

Ledger ReadLedger(const JsonReader& reader) {
  const JsonReader format = reader.At("format");
  if (format.Text() != kLedgerFormat) {
    format.Fail(fmt::format("wanted \"{}\"{}{}\"", kLedgerFormat, kFound, format.Text()));
  }
  Ledger ledger{.cluster = reader.At("cluster").Text(),
                .generation = ReadGeneration(reader.At("generation")),
                .manifest_digest = reader.At("manifest_digest").Text()};
  reader.At("nodes").ForEachItem([&](const JsonReader& node) {
    ledger.nodes.push_back({.name = node.At("name").Text(),
                            .id = static_cast<int>(node.At("id").Integer()),
                            .address = node.At("address").Text()});
  });
  std::set<std::string> seen;
  reader.At("entries").ForEachItem([&](const JsonReader& item) {
    ledger.entries.push_back(ReadEntry(item));
    const std::string id = ledger.entries.back().Id();
    if (!seen.insert(id).second) item.Fail("'" + id + "' stands there twice");
  });
  return ledger;
}

std::string FormatLedger(const Ledger& ledger) { return Dump(LedgerToJson(ledger)); }

bool IsOfOtherVersion(const Unknown& ledger) {
  return ledger.why.find(fmt::format("{}{}", kFound, kAnyLedgerFormat)) != std::string::npos;
}

Result<Ledger> ParseLedger(std::string_view json) { return ReadDocument<Ledger>(json, ReadLedger); }

}  // namespace reconciler
