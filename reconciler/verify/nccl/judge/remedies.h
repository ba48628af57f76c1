#pragma once

#include "reconciler/model/fabric.h"
#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

// Why a run did not come to its end. `firewalls`: nodes whose firewall may drop what comes.
// `fabric`: whose addresses the GIDs in NCCL's messages are.
Cause ExplainRunError(const NcclRunError& run_error, const NcclRun& run,
                      const std::vector<NodeName>& firewalls = {}, const Fabric& fabric = {});

}  // namespace reconciler
