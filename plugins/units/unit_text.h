#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reconciler::plugins::units {

// What systemd would ignore in a unit file, or in a drop-in.
struct UnitTextFault {
  std::size_t line = 0;  // from 1
  std::string wanted = {};
  std::string found = {};  // without the value of a setting, which may be a secret
  std::string meant = {};  // the section that is misspelt; empty: none is near
};

// The first one. `example`: the section that the unit's type suggests, such as "Service".
std::optional<UnitTextFault> FindUnitTextFault(std::string_view text, const std::string& example);

// What the text sets last; nullopt: it does not set it. `section`: without its brackets.
std::optional<std::string> FindUnitSetting(std::string_view text, std::string_view section,
                                           std::string_view key);

// As systemd reads it; false where it is none.
bool ReadUnitFlag(std::string_view value);

}  // namespace reconciler::plugins::units
