#include "plugins/common/commands/in_place.h"

#include <fmt/format.h>

#include <utility>

namespace reconciler::plugins {

RunProbe MakeInPlaceProbe(std::string id, std::string_view script,
                          const std::vector<std::string>& arguments, int limit_s) {
  RunProbe probe{.id = std::move(id), .argv = {"sh", "-c"}, .time_limit_s = limit_s};
  probe.argv.push_back(fmt::format("in_place() {{\n{}}}\nin_place \"$@\"", script));
  probe.argv.push_back("sh");
  probe.argv.insert(probe.argv.end(), arguments.begin(), arguments.end());
  return probe;
}

}  // namespace reconciler::plugins
