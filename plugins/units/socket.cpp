#include "plugins/units/socket.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/common/commands/one_line.h"
#include "plugins/units/start_socket.sh.h"
#include "plugins/units/unit_text.h"

namespace reconciler::plugins::units {
namespace {

constexpr std::string_view kStartSh = FindLastLine(kStartSocketSh);
constexpr std::string_view kSuffix = ".socket";
constexpr std::array<std::string_view, 3> kVerbs = {"start", "restart", "try-restart"};
constexpr int kJobs = 4;  // a stop and three starts, each of which may take as long as one job

}  // namespace

std::string NameSocketService(const UnitSpec& unit) {
  if (!unit.name.ends_with(kSuffix)) return {};
  if (ReadUnitFlag(FindSetting(unit, "Socket", "Accept").value_or("no"))) return {};
  if (auto named = FindSetting(unit, "Socket", "Service"); named && !named->empty()) return *named;
  return unit.name.substr(0, unit.name.size() - kSuffix.size()) + ".service";
}

RunCommand StartAroundService(RunCommand command) {
  constexpr std::size_t kFewest = 3;  // systemctl VERB UNIT
  const std::vector<std::string>& argv = command.argv;
  if (argv.size() < kFewest || argv.front() != "systemctl" || !argv.back().ends_with(kSuffix) ||
      std::find(kVerbs.begin(), kVerbs.end(), argv[1]) == kVerbs.end()) {
    return command;
  }
  command.argv = {"sh", "-c", std::string(kStartSh), "sh", argv[1], argv.back()};
  command.time_limit_s *= kJobs;
  return command;
}

}  // namespace reconciler::plugins::units
