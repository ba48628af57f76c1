#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler::plugins::netplan {

struct Setting {
  std::string section = {};
  std::string key = {};
  std::string value = {};
};

// Of the form that units of networkd and profiles of NetworkManager share: "[Section]", then lines
// "Key=value".
std::vector<Setting> ReadSettings(std::string_view text);

// Whether systemd reads the value as yes.
bool IsYes(std::string_view value);

}  // namespace reconciler::plugins::netplan
