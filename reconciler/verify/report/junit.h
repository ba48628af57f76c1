#pragma once

#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// The report as JUnit XML, which CI systems show: a test suite per level, a test case per check.
// What failed is a failure with its finding, what could not be measured an error, what was left out
// is skipped. A warning passes, with its text as output.
std::string RenderJunit(const Report& report);

}  // namespace reconciler
