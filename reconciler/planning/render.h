#pragma once

#include <string>

#include "reconciler/model/plan.h"

namespace reconciler {

struct RenderOptions {
  bool colour = false;
  bool diffs = true;  // unified diffs below the files
};

// The plan for a person: per node one line per change with + ~ - !, the manifest line and the
// impact; then what is and is not touched. UTF-8, ends with a newline.
std::string RenderText(const Plan& plan, const RenderOptions& options = {});

// The same for a pull request comment.
std::string RenderMarkdown(const Plan& plan);

// "14 changes on 2 nodes, 1 blocked": the plan in one line.
std::string FormatSummaryLine(const Plan& plan);

}  // namespace reconciler
