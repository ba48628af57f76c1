#pragma once

#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// The report as Markdown, for issues and pull requests: the verdict, the findings, the bandwidths,
// and how many checks of each level passed.
std::string RenderMarkdown(const Report& report);

}  // namespace reconciler
