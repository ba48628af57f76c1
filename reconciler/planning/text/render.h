#pragma once

#include <cstddef>
#include <string>

#include "reconciler/model/plan.h"

namespace reconciler {

struct RenderOptions {
  bool colour = false;
  bool diffs = true;        // unified diffs below the files
  std::size_t columns = 0;  // of a line, at least 60; 0: no limit
  // What drifted stands first, below a heading of its own, where anything did.
  bool drift_first = false;
};

// The plan for a person: changes that read the same on several nodes, then those of each node; one
// line per change with + ~ - > !, the manifest line, why it is needed, and the impact. What the
// signs mean, and what is and is not touched. UTF-8, ends with a newline.
std::string RenderText(const Plan& plan, const RenderOptions& options = {});

// The same for a pull request comment.
std::string RenderMarkdown(const Plan& plan);

// "14 changes on 2 nodes, 1 blocked": the plan in one line.
std::string FormatSummaryLine(const Plan& plan);

// Warnings that `remaining`, the plan after an apply, has and `planned` had not. Empty, or ends
// with a newline.
std::string RenderNewWarnings(const Plan& planned, const Plan& remaining);

}  // namespace reconciler
