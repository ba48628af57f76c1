#pragma once

#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// A report in Prometheus' text format: its exit code, time, checks and findings, and what was
// measured. A report without a time has no lines for it.
std::string FormatVerifyMetrics(const Report& report);

}  // namespace reconciler
