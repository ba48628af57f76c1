#include "reconciler/manifest/read/node_view.h"

#include <algorithm>

#include "reconciler/base/number.h"

namespace reconciler {
namespace {

constexpr std::int64_t kTooLarge = std::int64_t{1} << 32;  // for any subnet

}  // namespace

std::optional<std::int64_t> ReadTrailingNumber(std::string_view name) {
  const std::size_t last_other = name.find_last_not_of("0123456789");
  const std::string_view digits =
      last_other == std::string_view::npos ? name : name.substr(last_other + 1);
  if (digits.empty()) return std::nullopt;
  return std::min(ParseNumber<std::int64_t>(digits).value_or(kTooLarge), kTooLarge);
}

std::vector<NodeView> ViewNodes(const Value& document) {
  std::vector<NodeView> views;
  const Value* nodes = document.Find("nodes");
  if (nodes == nullptr) return views;
  for (const Value& entry : nodes->List()) {
    const Value* name = entry.Find("name");
    if (name == nullptr || name->AsString() == nullptr) continue;
    NodeView view{&entry, *name->AsString(), name->position};
    view.id_position = view.address_position = name->position;
    if (const Value* id = entry.Find("id")) {
      view.id_is_explicit = true;
      view.id_position = id->position;
      if (const auto* number = id->AsInteger(); number != nullptr && *number > 0) view.id = *number;
    } else {
      view.id = ReadTrailingNumber(view.name);
    }
    const Value* address = entry.Find("address");
    if (address != nullptr && address->AsString() != nullptr) {
      view.address = *address->AsString();
      view.address_position = address->position;
    }
    views.push_back(std::move(view));
  }
  return views;
}

bool HasEmptyEntry(const Value& document) {
  const Value* nodes = document.Find("nodes");
  return nodes != nullptr && std::any_of(nodes->List().begin(), nodes->List().end(),
                                         [](const Value& entry) { return entry.IsNull(); });
}

const NodeView* FindNode(const std::vector<NodeView>& nodes, std::string_view name) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeView& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

std::vector<std::string> ListNodeNames(const std::vector<NodeView>& nodes) {
  std::vector<std::string> names;
  for (const NodeView& node : nodes) names.push_back(node.name);
  return names;
}

}  // namespace reconciler
