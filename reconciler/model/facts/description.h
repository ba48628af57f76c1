#pragma once

#include <string_view>
#include <tuple>

namespace reconciler {

enum class FieldRule {
  kNone,
  kLeftOut,        // a document leaves it out where it has its default value
  kMayBeNegative,  // a number; others are counts
};

// One member of a struct of facts: how JSON calls it, and what the schema says about it. A Fact is
// left out where nothing requires it.
template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  std::string_view text;
  FieldRule rule = FieldRule::kNone;
};
template <class Struct, class Member>
Field(std::string_view, Member Struct::*, std::string_view) -> Field<Struct, Member>;
template <class Struct, class Member>
Field(std::string_view, Member Struct::*, std::string_view, FieldRule) -> Field<Struct, Member>;

// All of a struct, in the order of the document. `Describe(const Struct*)` stands beside each
// struct of facts; JSON, its reading and the schema are made from it (model/json/fields_json.h),
// and a member that it leaves out does not compile there.
template <class Struct, class... Members>
struct Description {
  std::string_view name;  // of the definition in the schema
  std::string_view text;
  std::tuple<Field<Struct, Members>...> fields;
};

template <class Struct, class... Members>
constexpr Description<Struct, Members...> MakeDescription(std::string_view name,
                                                          std::string_view text,
                                                          Field<Struct, Members>... fields) {
  return {name, text, {fields...}};
}

}  // namespace reconciler
