#include "plugins/common/ports/ip.h"

namespace reconciler::plugins {

RunProbe MakeIpProbe() {
  return {
      .id = kIpAddresses, .argv = {"ip", "-d", "-j", "addr", "show"}, .time_limit_s = kIpLimitS};
}

}  // namespace reconciler::plugins
