#include "reconciler/manifest/edit_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/manifest/edit_fabric.h"
#include "reconciler/manifest/edit_sections.h"
#include "reconciler/manifest/line_editor.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/manifest/starter.h"
#include "reconciler/yaml/manifest_errors.h"
#include "reconciler/yaml/yaml_scalar.h"

namespace reconciler {
namespace {

using Edited = tl::expected<EditedManifest, Error>;

Edited Refuse(const ClusterSpec& spec, Position where, std::string message, std::string hint = {}) {
  return tl::unexpected(Error{.kind = ErrorKind::kManifest,
                              .message = std::move(message),
                              .where = SourceMark{spec.file, where},
                              .hint = std::move(hint)});
}

// The number of a node that has none of its own, or whose own is taken.
int FindFreeId(const ClusterSpec& spec) {
  std::set<int> taken;
  for (const NodeSpec& node : spec.nodes) taken.insert(node.id);
  int id = 1;
  while (taken.contains(id)) ++id;
  return id;
}

// Another node has the number, or a subnet has no place for it.
bool IsTaken(const ClusterSpec& spec, std::int64_t id) {
  const bool is_too_large =
      std::any_of(spec.fabric.subnets.begin(), spec.fabric.subnets.end(),
                  [id](const Ipv4Prefix& subnet) { return id > subnet.HostCount(); });
  return is_too_large || std::any_of(spec.nodes.begin(), spec.nodes.end(),
                                     [id](const NodeSpec& node) { return node.id == id; });
}

// The number of a new node: that of its name, where the fabric has a place for it.
int ChooseId(const ClusterSpec& spec, const NodeName& name, bool& is_of_name) {
  const auto number = ReadTrailingNumber(name);
  is_of_name = number && *number >= 1 && !IsTaken(spec, *number);
  return is_of_name ? static_cast<int>(*number) : FindFreeId(spec);
}

// The first comment of a starter says how many nodes there are, and how they are cabled.
void PutHead(LineEditor& editor, const ClusterSpec& spec, Topology topology, std::size_t nodes) {
  for (std::size_t number = 0; number < editor.Count(); ++number) {
    const std::string line = editor.At(number);
    if (!line.starts_with('#')) return;
    const std::string ending = line.ends_with('\r') ? "\r" : "";
    const std::string text = line.substr(0, line.size() - ending.size());
    if (!IsStarterHead(text, spec.fabric.topology, spec.nodes.size())) continue;
    return editor.Replace(number, FormatStarterHead(topology, nodes) + ending);
  }
}

// What the topology is with one more node.
Topology FindNextTopology(Topology topology, bool to_switch) {
  switch (topology) {
    case Topology::kDirect:
      return to_switch ? Topology::kSwitch : Topology::kRing;
    case Topology::kRing:
      return Topology::kSwitch;
    case Topology::kSwitch:
    case Topology::kLeafSpine:
    case Topology::kLinks:
      break;
  }
  return topology;
}

// What becomes of the fabric with one more node.
Result<FabricEdit> AddToFabric(LineEditor& editor, const ClusterSpec& spec, const NewNode& node,
                               int id) {
  switch (spec.fabric.topology) {
    case Topology::kDirect:
      return node.to_switch ? PutSwitch(editor, spec, {node.name, id, node.address})
                            : PutRing(editor, spec, {node.name, id, node.address});
    case Topology::kRing:
      if (node.to_switch) return PutSwitch(editor, spec, {node.name, id, node.address});
      return Fail({.kind = ErrorKind::kManifest,
                   .message = "a ring has no place for one more node",
                   .where = spec.Mark(spec.fabric.topology_position),
                   .hint = "cable all nodes to a switch, and give --switch"});
    case Topology::kSwitch: {
      const Value* fabric = spec.settings.Find("fabric");
      const std::string cage = fabric == nullptr ? "" : fabric->GetText("cage");
      return FabricEdit{
          .cables = {fmt::format("{} {} to the switch", node.name, cage.empty() ? "p1" : cage)}};
    }
    case Topology::kLeafSpine:
    case Topology::kLinks:
      break;
  }
  return FabricEdit{};
}

// What the schema says of this text as the `key` of a node.
std::optional<Error> FindFault(const std::string& key, const std::string& text) {
  const nlohmann::json& node = GetClusterSchema().at("properties").at("nodes").at("items");
  ManifestErrors found("");
  CheckSchema(Value{text}, node.at("properties").at(key), found);
  if (found.Empty()) return std::nullopt;
  Error error = found.TakeErrors().front();
  return Error{.kind = ErrorKind::kUsage,
               .message = fmt::format("the new node's {}: {}", key, error.message),
               .hint = std::move(error.hint)};
}

}  // namespace

Edited AddNode(std::string_view text, const ClusterSpec& spec, const NewNode& node) {
  if (auto fault = FindFault("name", node.name)) return tl::unexpected(*std::move(fault));
  if (auto fault = FindFault("address", node.address)) return tl::unexpected(*std::move(fault));
  if (const NodeSpec* there = spec.FindNode(node.name)) {
    return Refuse(spec, there->position, fmt::format("{} is a node already", node.name),
                  "give the new one a name of its own");
  }
  LineEditor editor(text);
  const auto last = FindEntryLines(editor, spec.nodes.back().position);
  if (!last) {
    return Refuse(spec, spec.nodes.back().position,
                  "wanted each node on lines of its own that begin with '- '",
                  "add the node by hand");
  }
  bool is_of_name = false;
  const int id = ChooseId(spec, node.name, is_of_name);
  Result<FabricEdit> fabric = AddToFabric(editor, spec, node, id);
  if (!fabric) return tl::unexpected(fabric.error());
  if (!is_of_name) {
    fabric->remarks.push_back(fmt::format("{} has host number {} on the fabric", node.name, id));
  }
  PutHead(editor, spec, FindNextTopology(spec.fabric.topology, node.to_switch),
          spec.nodes.size() + 1);
  editor.InsertBefore(last->end,
                      fmt::format("{}- {{name: {}, address: {}{}}}", std::string(last->dash, ' '),
                                  FormatScalar(node.name), FormatScalar(node.address),
                                  is_of_name ? "" : fmt::format(", id: {}", id)));
  return EditedManifest{editor.Join(), std::move(fabric->remarks), std::move(fabric->cables)};
}

Edited RemoveNode(std::string_view text, const ClusterSpec& spec, const NodeName& name) {
  const NodeSpec* node = spec.FindNode(name);
  if (node == nullptr) {
    std::vector<std::string> known;
    for (const NodeSpec& one : spec.nodes) known.push_back(one.name);
    return Refuse(spec, spec.nodes.front().position, fmt::format("no node is named '{}'", name),
                  "known: " + Join(known, ", "));
  }
  LineEditor editor(text);
  const auto own = FindEntryLines(editor, node->position);
  if (!own) {
    return Refuse(spec, node->position, "wanted each node on lines of its own that begin with '- '",
                  "remove the node by hand");
  }
  if (const auto removed = RemoveFromSections(editor, spec, name); !removed) {
    return tl::unexpected(removed.error());
  }
  const Result<std::string> old_name = RemoveFromMoved(editor, spec, name);
  if (!old_name) return tl::unexpected(old_name.error());
  FabricEdit fabric;
  if (spec.fabric.topology == Topology::kRing && spec.nodes.size() == 3) {
    auto pair = PutPair(editor, spec, name);
    if (!pair) return tl::unexpected(pair.error());
    fabric = std::move(*pair);
  }
  const bool is_pair = spec.fabric.topology == Topology::kRing;
  PutHead(editor, spec, is_pair ? Topology::kDirect : spec.fabric.topology, spec.nodes.size() - 1);
  for (std::size_t line = own->begin; line < own->end; ++line) editor.Remove(line);
  if (!old_name->empty()) {
    fabric.remarks.push_back(
        fmt::format("`moved` no longer says that {} was renamed to {}", *old_name, name));
  }
  return EditedManifest{editor.Join(), std::move(fabric.remarks), std::move(fabric.cables)};
}

}  // namespace reconciler
