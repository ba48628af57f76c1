#pragma once

#include <tl/expected.hpp>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// The manifest's topology as segments, interfaces and addresses. Addresses depend on a node's id,
// the subnets and the cables, never on list order, MACs or who answered: adding or removing a node
// renumbers no node.
tl::expected<Fabric, Errors> ExpandFabric(const ClusterSpec& cluster);

}  // namespace reconciler
