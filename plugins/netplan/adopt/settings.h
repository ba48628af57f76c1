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

}  // namespace reconciler::plugins::netplan
