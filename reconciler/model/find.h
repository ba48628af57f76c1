#pragma once

#include <string_view>

#include "reconciler/model/fabric.h"
#include "reconciler/model/plan.h"

// Where a node or a node's port stands in a list. A node of the manifest: ClusterSpec::FindNode.
namespace reconciler {

// nullptr: it has none there.
const RailPort* FindPort(const Segment& segment, const NodeName& node);
const RailPort* FindPort(const Fabric& fabric, const NodeName& node, int rail);

const PlanNode* FindNode(const Plan& plan, const NodeName& node);  // nullptr: not planned for

}  // namespace reconciler
