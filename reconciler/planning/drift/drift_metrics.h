#pragma once

#include <cstdint>
#include <string>

#include "reconciler/model/plan.h"

namespace reconciler {

// A run of `drift` in Prometheus' text format. Nothing is known of the changes of a node that was
// not read, so that it has no lines for them. `ended_s`: seconds since 1970 (UTC).
std::string FormatDriftMetrics(const Plan& plan, int exit_code, std::int64_t ended_s);

}  // namespace reconciler
