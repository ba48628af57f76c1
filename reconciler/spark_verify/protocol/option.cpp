#include "reconciler/spark_verify/protocol/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/usage_error.h"

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kMostShown = 120;  // bytes

template <class Number>
Option MakeNumberOption(std::string name, Number& field, Number low, Number high) {
  return {.name = std::move(name),
          .wanted = fmt::format("from {} to {}", low, high),
          .read =
              [&field, low, high](const nlohmann::json& json) {
                if (!json.is_number_unsigned()) return false;
                const auto value = json.get<std::uint64_t>();
                if (value < static_cast<std::uint64_t>(low)) return false;
                if (value > static_cast<std::uint64_t>(high)) return false;
                field = static_cast<Number>(value);
                return true;
              },
          .write = [&field](nlohmann::json& json) { json = field; }};
}

}  // namespace

Option MakeOption(std::string name, bool& field) {
  return {.name = std::move(name),
          .wanted = "true or false",
          .read =
              [&field](const nlohmann::json& json) {
                if (json.is_boolean()) field = json.get<bool>();
                return json.is_boolean();
              },
          .write = [&field](nlohmann::json& json) { json = field; }};
}

Option MakeOption(std::string name, std::string& field) {
  return {.name = std::move(name),
          .wanted = "as text",
          .read =
              [&field](const nlohmann::json& json) {
                if (json.is_string()) field = json.get<std::string>();
                return json.is_string();
              },
          .write = [&field](nlohmann::json& json) { json = field; }};
}

Option MakeOption(std::string name, int& field, int low, int high) {
  return MakeNumberOption(std::move(name), field, low, high);
}

Option MakeOption(std::string name, std::size_t& field, std::size_t low, std::size_t high) {
  return MakeNumberOption(std::move(name), field, low, high);
}

Result<void> ParseOptions(std::string_view text, const std::vector<Option>& options) {
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) {
    return MakeUsageError(
        fmt::format("wanted one JSON object of options, found '{}'", text.substr(0, kMostShown)));
  }
  for (const auto& [name, value] : object.items()) {
    const auto option =
        std::find_if(options.begin(), options.end(),
                     [&wanted = name](const Option& one) { return one.name == wanted; });
    if (option == options.end()) return MakeUsageError(fmt::format("unknown option '{}'", name));
    if (!option->read(value)) {
      return MakeUsageError(fmt::format("wanted {} {}, found {}", name, option->wanted,
                                        value.dump().substr(0, kMostShown)));
    }
  }
  return {};
}

std::string FormatOptions(const std::vector<Option>& options) {
  nlohmann::json object = nlohmann::json::object();
  for (const Option& option : options) option.write(object[option.name]);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace reconciler::spark_verify
