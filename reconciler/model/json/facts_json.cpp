#include "reconciler/model/json/fields_json.h"
#include "reconciler/model/json/json.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "spark-reconcile/facts/2";
// Definitions that no struct of facts describes: documents of other kinds have them too.
constexpr std::string_view kByHand[] = {"absent", "unknown", "unsupported", "file",
                                        "run",    "action",  "ledger"};

std::string MakeKey(const std::string& key) { return EncodeText(key).get<std::string>(); }

NodeFacts ReadNode(const NodeName& name, const JsonReader& reader) {
  NodeFacts facts = FieldCodec<NodeFacts>::Read(reader);
  facts.node = name;
  return facts;
}

}  // namespace

ordered_json ToJson(const ClusterFacts& facts) {
  ordered_json nodes = ordered_json::object();
  for (const auto& [name, node] : facts.nodes)
    nodes[MakeKey(name)] = FieldCodec<NodeFacts>::ToJson(node);
  ordered_json unreachable = ordered_json::object();
  for (const auto& [name, error] : facts.unreachable) {
    unreachable[MakeKey(name)] = {{"message", EncodeText(error.message)},
                                  {"hint", EncodeText(error.hint)}};
  }
  return {{"format", kFormat}, {"nodes", nodes}, {"unreachable", unreachable}};
}

Result<ClusterFacts> ParseFacts(std::string_view json) {
  return ReadDocument<ClusterFacts>(json, [](const JsonReader& reader) {
    ClusterFacts facts;
    const JsonReader format = reader.At("format");
    if (format.Text() != kFormat) {
      format.Fail(fmt::format("wanted \"{}\", found \"{}\"", kFormat, format.Text()));
    }
    reader.At("nodes").ForEachMember([&](const std::string& key, const JsonReader& value) {
      facts.nodes[key] = ReadNode(key, value);
    });
    reader.At("unreachable").ForEachMember([&](const std::string& key, const JsonReader& value) {
      facts.unreachable[key] = {.kind = ErrorKind::kTransport,
                                .message = value.At("message").Text(),
                                .hint = value.At("hint").Text()};
    });
    return facts;
  });
}

ordered_json UpdateFactsSchema(ordered_json schema) {
  ordered_json definitions = ordered_json::object();
  for (const std::string_view name : kByHand) {
    definitions[std::string(name)] = schema["definitions"][std::string(name)];
  }
  FieldCodec<NodeFacts>::MakeSchema("", definitions);
  schema["properties"]["format"]["const"] = kFormat;
  schema["definitions"] = std::move(definitions);
  return schema;
}

}  // namespace reconciler
