#pragma once

#include <vector>

#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/nccl/judge/judge.h"

namespace reconciler {

// Why NCCL does not use the rails: by the variables that its ranks have, and by their logs.
// Precondition of both: some path has it.
Cause ExplainSockets(const NcclEvidence& evidence, const std::vector<RankPath>& paths);
Cause ExplainIdleRail(const NcclRun& run, const std::vector<RankPath>& paths, int rail);

}  // namespace reconciler
