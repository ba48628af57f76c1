#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reconciler/base/error.h"

namespace reconciler {

struct Member;

// A YAML document with the place where each value stands. Plugins read their own section of the
// manifest from it, so that a new section needs no new struct outside its plugin.
//
// Invariants of a loaded manifest: it passed the schema, keys are unique within a map, and
// properties with a default in the schema are present (positioned at their parent).
struct Value {
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<Value>,
               std::vector<Member>>
      data;  // null first: a Value of its own is null
  Position position = {};
  // Of a number or a flag: how the file has it ("9e3"), where that is short and not ScalarText().
  std::string written = {};

  const Value* Find(std::string_view key) const;  // nullptr: no map, or no such key
  // The text of that member; "" when there is none, or it is no text.
  std::string GetText(std::string_view key) const;
  const Value* At(std::initializer_list<std::string_view> path) const;

  bool IsNull() const { return std::holds_alternative<std::nullptr_t>(data); }
  bool IsMap() const { return std::holds_alternative<std::vector<Member>>(data); }
  bool IsList() const { return std::holds_alternative<std::vector<Value>>(data); }
  const std::string* AsString() const { return std::get_if<std::string>(&data); }
  const bool* AsBool() const { return std::get_if<bool>(&data); }
  const std::int64_t* AsInteger() const { return std::get_if<std::int64_t>(&data); }
  const std::vector<Value>& List() const;      // empty when it is no list
  const std::vector<Member>& Members() const;  // empty when it is no map
  std::string ScalarText() const;              // "9000", "true", "text"; empty for null and trees
  std::string WrittenText() const;             // the same for a message: as the file has it
};

struct Member {
  std::string key;
  Position key_position = {};
  Value value;
};

}  // namespace reconciler
