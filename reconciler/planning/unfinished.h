#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// An apply that was cut off: neither committed nor reverted yet on some node.

// "apply 1b65abcd of 2026-11-22 23:57 UTC", from its id (see MakeApplyId).
std::string NameApply(std::string_view apply_id);

// "apply 1b65abcd of 2026-11-22 23:57 UTC is unfinished; apply ends it first"
std::string FormatUnfinished(std::string_view apply_id);

// Each of them once, with its nodes: "spark-1, spark-2: apply … is unfinished; apply ends it
// first".
std::vector<std::string> ListUnfinished(const ClusterFacts& facts);

// The same in a plan, without nodes that another apply holds right now.
std::vector<Diagnostic> DiagnoseUnfinished(const ClusterFacts& facts,
                                           const std::vector<NodeName>& nodes);

}  // namespace reconciler
