#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// What is allowed, but not as one may expect: each with the reason. `fabric` needs its
// segments and wires.
std::vector<Diagnostic> DiagnoseFabric(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler
