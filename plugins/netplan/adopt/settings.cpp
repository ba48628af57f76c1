#include "plugins/netplan/adopt/settings.h"

#include <set>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {

std::vector<Setting> ReadSettings(std::string_view text) {
  std::vector<Setting> settings;
  std::string section;
  for (const std::string& one : SplitLines(text)) {
    const std::string_view line = Trim(one);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    settings.push_back({section, std::string(Trim(line.substr(0, equals))),
                        std::string(Trim(line.substr(equals + 1)))});
  }
  return settings;
}

bool IsYes(std::string_view value) {
  static const std::set<std::string> kYes = {"1", "yes", "y", "true", "t", "on"};
  return kYes.contains(ToLower(value));
}

}  // namespace reconciler::plugins::netplan
