#include <map>
#include <utility>

#include "reconciler/model/json/fields_json.h"
#include "reconciler/model/json/json.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "spark-reconcile/facts/3";
// Definitions that no struct of facts describes: documents of other kinds have them too.
constexpr std::string_view kByHand[] = {"absent", "unknown", "unsupported", "file",
                                        "run",    "action",  "ledger"};

// Adds what an entry of a list says about a node; each node has one entry.
template <class T>
void AddNode(const JsonReader& entry, const NodeName& name, T value, std::map<NodeName, T>& all) {
  if (all.emplace(name, std::move(value)).second) return;
  entry.At("name").Fail("wanted each node once, found " + name + " twice");
}

}  // namespace

ordered_json ToJson(const ClusterFacts& facts) {
  ordered_json nodes = ordered_json::array();
  for (const auto& [name, node] : facts.nodes) {
    nodes.push_back(FieldCodec<NodeFacts>::ToJson(node));
    nodes.back()["name"] = EncodeText(name);
  }
  ordered_json unreachable = ordered_json::array();
  for (const auto& [name, error] : facts.unreachable) {
    unreachable.push_back({{"name", EncodeText(name)},
                           {"message", EncodeText(error.message)},
                           {"hint", EncodeText(error.hint)}});
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
    reader.At("nodes").ForEachItem([&](const JsonReader& entry) {
      NodeFacts node = FieldCodec<NodeFacts>::Read(entry);
      const NodeName name = node.node;
      AddNode(entry, name, std::move(node), facts.nodes);
    });
    reader.At("unreachable").ForEachItem([&](const JsonReader& entry) {
      Error error{.kind = ErrorKind::kTransport,
                  .message = entry.At("message").Text(),
                  .hint = entry.At("hint").Text()};
      AddNode(entry, entry.At("name").Text(), std::move(error), facts.unreachable);
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
