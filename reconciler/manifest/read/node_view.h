#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/value.h"

namespace reconciler {

// One entry of `nodes` as far as it is well formed, so that cross checks can speak of a document
// that the schema refuses elsewhere. Places of what is absent are the entry's own.
struct NodeView {
  const Value* entry = nullptr;
  std::string name = {};
  Position name_position = {};
  std::optional<std::int64_t> id = std::nullopt;  // explicit, else the number that the name ends in
  bool id_is_explicit = false;
  Position id_position = {};  // of the name when the id comes from it
  std::string address = {};
  Position address_position = {};
};

// Entries without a name are left out.
std::vector<NodeView> ViewNodes(const Value& document);

// Whether an entry of `nodes` holds nothing. The schema refuses it; what it will be is not known,
// nor how many nodes there are.
bool HasEmptyEntry(const Value& document);

// nullptr: none of them has that name. The first one, where two have it: that is reported
// elsewhere.
const NodeView* FindNode(const std::vector<NodeView>& nodes, std::string_view name);

// The names of these nodes, in order.
std::vector<std::string> ListNodeNames(const std::vector<NodeView>& nodes);

// The number that the name ends in: 12 for "spark-12". One that is too large for any subnet comes
// out as 2^32.
std::optional<std::int64_t> ReadTrailingNumber(std::string_view name);

}  // namespace reconciler
