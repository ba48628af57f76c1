#include "plugins/units/unit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reconciler/base/text.h"

namespace reconciler::plugins::units {
namespace {

const std::vector<std::string>& ListSections() {
  static const std::vector<std::string> kSections = {"Automount", "Install", "Mount",  "Path",
                                                     "Service",   "Slice",   "Socket", "Swap",
                                                     "Timer",     "Unit"};
  return kSections;
}

// systemd leaves sections whose names begin with X- to other programs.
bool IsSection(const std::string& name) {
  const std::vector<std::string>& known = ListSections();
  return name.starts_with("X-") || std::find(known.begin(), known.end(), name) != known.end();
}

std::string HideValue(std::string_view line) {
  return MakePrintable(line.substr(0, std::min(line.find('='), std::size_t{60})));
}

std::optional<UnitTextFault> JudgeHeader(std::string_view line, std::size_t number,
                                         const std::string& example) {
  const bool closed = line.ends_with(']');
  const std::string name(line.substr(1, line.size() - (closed ? 2 : 1)));
  if (closed && IsSection(name)) return std::nullopt;
  return UnitTextFault{number, fmt::format("a section such as [{}]", example),
                       MakePrintable(line.substr(0, 60)),
                       FindClosestMatch(name.substr(0, 60), ListSections()).value_or("")};
}

}  // namespace

std::optional<UnitTextFault> FindUnitTextFault(std::string_view text, const std::string& example) {
  bool in_section = false;
  bool continued = false;  // the line before ends in a backslash
  std::size_t number = 0;
  for (const std::string& whole : SplitLines(text)) {
    ++number;
    const std::string_view line = Trim(whole);
    if (line.starts_with('#') || line.starts_with(';') || (line.empty() && !continued)) continue;
    const bool is_rest = std::exchange(continued, whole.ends_with('\\'));
    if (is_rest) continue;
    if (line.starts_with('[')) {
      if (auto fault = JudgeHeader(line, number, example)) return fault;
      in_section = true;
    } else if (!in_section) {
      return UnitTextFault{number, fmt::format("a section such as [{}]", example), HideValue(line)};
    } else if (line.find('=') == std::string_view::npos) {
      return UnitTextFault{number, "NAME=VALUE", HideValue(line)};
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindUnitSetting(std::string_view text, std::string_view section,
                                           std::string_view key) {
  std::optional<std::string> value;
  std::string_view name;
  bool continued = false;
  for (const std::string& whole : SplitLines(text)) {
    const std::string_view line = Trim(whole);
    if (line.starts_with('#') || line.starts_with(';')) continue;
    const bool is_rest = std::exchange(continued, whole.ends_with('\\'));
    if (is_rest || line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (line.starts_with('[')) {
      name = line.ends_with(']') && line.substr(1, line.size() - 2) == section ? section : "";
    } else if (name == section && Trim(line.substr(0, equals)) == key &&
               equals != std::string_view::npos) {
      value = Trim(line.substr(equals + 1));
    }
  }
  return value;
}

bool ReadUnitFlag(std::string_view value) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "yes", "y", "true", "t", "on"};
  return std::find(kTrue.begin(), kTrue.end(), ToLower(value)) != kTrue.end();
}

}  // namespace reconciler::plugins::units
