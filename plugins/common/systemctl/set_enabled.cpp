#include "plugins/common/systemctl/set_enabled.h"

namespace reconciler::plugins {

RunCommand SetEnabled(const std::string& unit, bool enabled) {
  return {.argv = {"systemctl", "--no-reload", enabled ? "enable" : "disable", "--", unit},
          .at_boot = true};
}

}  // namespace reconciler::plugins
