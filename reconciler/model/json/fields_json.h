#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "reconciler/base/number.h"
#include "reconciler/model/json/json_parts.h"

namespace reconciler {

// JSON, its reading and the schema of whatever a description of facts holds, all from that
// description. Each specialization has ToJson, Read and MakeSchema; the latter adds the definitions
// that it refers to.
template <class T>
struct FieldCodec;

template <class T>
concept Described = requires {
  Describe(static_cast<const T*>(nullptr));
};
template <class T>
concept HasEnumNames = requires {
  ListEnumNames(static_cast<const T*>(nullptr));
};

// Stands for any value that a member is made from; never run.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): braces convert implicitly
};

template <class Struct, class... Members>
consteval std::size_t CountMembers() {
  if constexpr (requires { Struct{Members{}..., AnyMember{}}; }) {
    return CountMembers<Struct, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

inline nlohmann::ordered_json MakeReference(std::string_view text, std::string_view definition) {
  return {{"description", text}, {"$ref", fmt::format("#/definitions/{}", definition)}};
}

template <>
struct FieldCodec<bool> {
  static nlohmann::ordered_json ToJson(bool value) { return value; }
  static bool Read(const JsonReader& reader) { return reader.Bool(); }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"type", "boolean"}, {"description", text}};
  }
};

template <class T>
requires std::is_integral_v<T>
struct FieldCodec<T> {
  static nlohmann::ordered_json ToJson(T value) { return value; }
  static T Read(const JsonReader& reader) {
    const std::int64_t number = reader.Integer();
    if (!std::in_range<T>(number)) reader.Fail(fmt::format("{} is too large", number));
    return static_cast<T>(number);
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"type", "integer"}, {"description", text}, {"minimum", 0}};
  }
};

template <>
struct FieldCodec<std::string> {
  static nlohmann::ordered_json ToJson(const std::string& value) { return EncodeText(value); }
  static std::string Read(const JsonReader& reader) { return reader.Text(); }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"type", "string"}, {"description", text}};
  }
};

template <>
struct FieldCodec<Ipv4Prefix> {
  static nlohmann::ordered_json ToJson(const Ipv4Prefix& value) { return ToString(value); }
  static Ipv4Prefix Read(const JsonReader& reader) {
    const auto prefix = ParseIpv4Prefix(reader.Text());
    if (!prefix) {
      reader.Fail("wanted an address such as 192.168.177.1/24, found " + reader.Text());
    }
    return *prefix;
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"type", "string"}, {"description", text}};
  }
};

// "0700"
template <>
struct FieldCodec<FileMode> {
  static nlohmann::ordered_json ToJson(const FileMode& value) {
    return fmt::format("{:04o}", value.bits);
  }
  static FileMode Read(const JsonReader& reader) {
    const auto bits = ParseNumber<unsigned>(reader.Text(), 8);
    if (!bits) reader.Fail("wanted an octal mode, found " + reader.Text());
    return {*bits};
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"type", "string"}, {"description", text}, {"pattern", "^[0-7]{4,5}$"}};
  }
};

// A number of bytes, or "unlimited".
template <>
struct FieldCodec<MemoryLimit> {
  static nlohmann::ordered_json ToJson(const MemoryLimit& value) {
    if (value.IsUnlimited()) return "unlimited";
    return value.bytes;
  }
  static MemoryLimit Read(const JsonReader& reader) {
    if (!reader.IsText()) return {reader.Integer()};
    if (reader.Text() != "unlimited") {
      reader.Fail("wanted bytes or \"unlimited\", found \"" + reader.Text() + "\"");
    }
    return {MemoryLimit::kUnlimited};
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    const nlohmann::ordered_json bytes = {
        {"type", "integer"}, {"description", "Bytes."}, {"minimum", 0}};
    const nlohmann::ordered_json unlimited = {{"const", "unlimited"}, {"description", "No limit."}};
    return {{"description", text}, {"anyOf", {bytes, unlimited}}};
  }
};

template <>
struct FieldCodec<FileState> {
  static nlohmann::ordered_json ToJson(const FileState& value) { return FileStateToJson(value); }
  static FileState Read(const JsonReader& reader) { return ReadFileState(reader); }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return MakeReference(text, "file");
  }
};

template <>
struct FieldCodec<Ledger> {
  static nlohmann::ordered_json ToJson(const Ledger& value) { return LedgerToJson(value); }
  static Ledger Read(const JsonReader& reader) { return ReadLedger(reader); }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return MakeReference(text, "ledger");
  }
};

template <HasEnumNames T>
struct FieldCodec<T> {
  static constexpr auto kNames = ListEnumNames(static_cast<const T*>(nullptr));
  static nlohmann::ordered_json ToJson(T value) { return kNames[static_cast<std::size_t>(value)]; }
  static T Read(const JsonReader& reader) {
    const auto found = std::find(kNames.begin(), kNames.end(), reader.Text());
    if (found == kNames.end()) {
      reader.Fail(fmt::format("wanted {}, found \"{}\"", fmt::join(kNames, " or "), reader.Text()));
    }
    return static_cast<T>(found - kNames.begin());
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text, nlohmann::ordered_json&) {
    return {{"description", text}, {"enum", kNames}};
  }
};

template <class List>
struct ListCodec {
  using Item = typename List::value_type;
  static nlohmann::ordered_json ToJson(const List& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Item& value : values) list.push_back(FieldCodec<Item>::ToJson(value));
    return list;
  }
  static List Read(const JsonReader& reader) {
    List values;
    reader.ForEachItem(
        [&](const JsonReader& item) { values.insert(values.end(), FieldCodec<Item>::Read(item)); });
    return values;
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text,
                                           nlohmann::ordered_json& definitions) {
    return {{"type", "array"},
            {"description", text},
            {"items", FieldCodec<Item>::MakeSchema("One of them.", definitions)}};
  }
};
template <class T>
struct FieldCodec<std::vector<T>> : ListCodec<std::vector<T>> {};
template <class T>
struct FieldCodec<std::set<T>> : ListCodec<std::set<T>> {};

// Keys are text from nodes too (file names found by a pattern).
template <class T>
struct FieldCodec<std::map<std::string, T>> {
  static nlohmann::ordered_json ToJson(const std::map<std::string, T>& values) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& [key, value] : values) {
      object[EncodeText(key).template get<std::string>()] = FieldCodec<T>::ToJson(value);
    }
    return object;
  }
  static std::map<std::string, T> Read(const JsonReader& reader) {
    std::map<std::string, T> values;
    reader.ForEachMember([&](const std::string& key, const JsonReader& value) {
      values[key] = FieldCodec<T>::Read(value);
    });
    return values;
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text,
                                           nlohmann::ordered_json& definitions) {
    return {{"type", "object"},
            {"description", text},
            {"additionalProperties", FieldCodec<T>::MakeSchema("One of them.", definitions)}};
  }
};

template <class T>
struct FieldCodec<Observed<T>> {
  static nlohmann::ordered_json ToJson(const Observed<T>& value) {
    const T* known = Known(value);
    return known != nullptr ? FieldCodec<T>::ToJson(*known) : NotKnownToJson(value);
  }
  static Observed<T> Read(const JsonReader& reader) {
    return ReadObserved<T>(reader, FieldCodec<T>::Read);
  }
  static nlohmann::ordered_json MakeSchema(std::string_view text,
                                           nlohmann::ordered_json& definitions) {
    nlohmann::ordered_json any = nlohmann::ordered_json::array();
    any.push_back(FieldCodec<T>::MakeSchema("Known.", definitions));
    for (const char* name : {"absent", "unknown", "unsupported"}) {
      any.push_back({{"$ref", fmt::format("#/definitions/{}", name)}});
    }
    return {{"description", text}, {"anyOf", any}};
  }
};

template <class T>
struct FieldCodec<Fact<T>> {
  static nlohmann::ordered_json ToJson(const Fact<T>& value) {
    return FieldCodec<Observed<T>>::ToJson(*value);
  }
  static Fact<T> Read(const JsonReader& reader) { return FieldCodec<Observed<T>>::Read(reader); }
  static nlohmann::ordered_json MakeSchema(std::string_view text,
                                           nlohmann::ordered_json& definitions) {
    return FieldCodec<Observed<T>>::MakeSchema(text, definitions);
  }
};

template <class T>
inline constexpr bool kIsFact = false;
template <class T>
inline constexpr bool kIsFact<Fact<T>> = true;

template <Described T>
struct FieldCodec<T> {
  static constexpr auto kDescription = Describe(static_cast<const T*>(nullptr));
  static_assert(CountMembers<T>() == std::tuple_size_v<decltype(kDescription.fields)>,
                "a member of the struct has no description: it would be lost in JSON");

  static nlohmann::ordered_json ToJson(const T& value) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    ForEachField([&]<class Member>(const Field<T, Member>& field) {
      const Member& member = value.*field.member;
      if (MayBeLeftOut(field) && member == Member{}) return;
      object[std::string(field.name)] = FieldCodec<Member>::ToJson(member);
    });
    return object;
  }

  static T Read(const JsonReader& reader) {
    T value;
    ForEachField([&]<class Member>(const Field<T, Member>& field) {
      const std::string name(field.name);
      if (MayBeLeftOut(field) && !reader.Has(name)) return;
      value.*field.member = FieldCodec<Member>::Read(reader.At(name));
    });
    return value;
  }

  static nlohmann::ordered_json MakeSchema(std::string_view text,
                                           nlohmann::ordered_json& definitions) {
    const std::string name(kDescription.name);
    if (!definitions.contains(name)) definitions[name] = MakeDefinition(definitions);
    return MakeReference(text, name);
  }

 private:
  template <class Function>
  static void ForEachField(Function function) {
    std::apply([&](const auto&... field) { (function(field), ...); }, kDescription.fields);
  }

  template <class Member>
  static constexpr bool MayBeLeftOut(const Field<T, Member>& field) {
    return kIsFact<Member> || field.rule == FieldRule::kLeftOut;
  }

  static nlohmann::ordered_json MakeDefinition(nlohmann::ordered_json& definitions) {
    nlohmann::ordered_json required = nlohmann::ordered_json::array();
    nlohmann::ordered_json properties = nlohmann::ordered_json::object();
    ForEachField([&]<class Member>(const Field<T, Member>& field) {
      const std::string name(field.name);
      properties[name] = FieldCodec<Member>::MakeSchema(field.text, definitions);
      if (field.rule == FieldRule::kMayBeNegative) properties[name].erase("minimum");
      if (!MayBeLeftOut(field)) required.push_back(name);
    });
    nlohmann::ordered_json definition = {
        {"type", "object"}, {"description", kDescription.text}, {"additionalProperties", false}};
    if (!required.empty()) definition["required"] = required;
    definition["properties"] = properties;
    return definition;
  }
};

}  // namespace reconciler
