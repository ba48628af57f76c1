#pragma once

#include <string>
#include <string_view>

#include "reconciler/apply/guard/guard_script.h"

namespace reconciler {

// The guard's `watch`, a shell script: decides about an apply whose controller makes no progress
// any more, and carries the decision out. Run by the timer; with `boot` by the unit of the early
// boot; with `ask` by the next apply, to which it says what was decided.
std::string BuildWatchScript(std::string_view apply_id, std::string_view journal,
                             const GuardTimes& times);

}  // namespace reconciler
