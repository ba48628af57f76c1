#pragma once

#include "reconciler/verify/nccl/evidence/values.h"
#include "reconciler/verify/report/cause.h"

namespace reconciler {

// Whether the run could not be made, which says nothing about the fabric.
bool IsHarness(const NcclRunError& run_error);

// Why a run did not come to its end.
Cause ExplainRunError(const NcclRunError& run_error, const NcclRun& run);

}  // namespace reconciler
