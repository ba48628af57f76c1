#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

// One member of the JSON object that the program is started with, tied to the field that it is for.
struct Option {
  std::string name = {};
  std::string wanted = {};  // as a message says it: "from 1 to 64", "true or false"
  std::function<bool(const nlohmann::json&)> read = {};  // false: it is not what is wanted
  std::function<void(nlohmann::json&)> write = {};
};

Option MakeOption(std::string name, bool& field);
Option MakeOption(std::string name, std::string& field);
Option MakeOption(std::string name, int& field, int low, int high);
Option MakeOption(std::string name, std::size_t& field, std::size_t low, std::size_t high);

// Sets the fields that `text`, one JSON object, names; the others stay. Everything must be known.
Result<void> ParseOptions(std::string_view text, const std::vector<Option>& options);

// One line that ParseOptions reads back as the same.
std::string FormatOptions(const std::vector<Option>& options);

}  // namespace reconciler::spark_verify
