#pragma once

#include "reconciler/verify/nccl/evidence/values.h"
#include "reconciler/verify/report/cause.h"

namespace reconciler {

// Whether the run could not be made, which says nothing about the fabric.
bool IsHarness(const NcclTrouble& trouble);

// Why a run did not come to its end.
Cause ExplainTrouble(const NcclTrouble& trouble, const NcclRun& run);

}  // namespace reconciler
