#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts/health_facts.h"

namespace reconciler::plugins::health {

// What dmesg printed, "[ 1234.567890] TEXT", when the kernel had run for `uptime_s`. Lines of
// another form, or about something else, are left out. Oldest first.
std::vector<KernelEvent> ParseKernelLog(const std::vector<std::string>& lines, double uptime_s);

}  // namespace reconciler::plugins::health
