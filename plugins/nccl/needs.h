#pragma once

#include "plugins/nccl/lint.h"
#include "plugins/nccl/section.h"
#include "reconciler/model/environment.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::nccl {

// What NCCL must be set to because of the cabling, and why.
Environment ListNeeds(const ClusterSpec& cluster, const Fabric& fabric);

// The same as seen by the lint: also what no one has to set, but may not set to something else.
LintContext MakeLintContext(const Section& section, const ClusterSpec& cluster,
                            const Fabric& fabric);

}  // namespace reconciler::plugins::nccl
