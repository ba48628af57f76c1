#pragma once

#include "reconciler/verify/nccl/evidence/values.h"
#include "reconciler/verify/report/cause.h"

namespace reconciler {

// Why a run did not come to its end. `firewalls`: nodes on which ufw is enabled.
Cause ExplainRunError(const NcclRunError& run_error, const NcclRun& run,
                      const std::vector<NodeName>& firewalls = {});

}  // namespace reconciler
