#pragma once

#include <string>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// The segments with two ports of which no end is changed alone. Not those where one end is no
// interface at all and the other has no address, while their nodes have another rail: nothing can
// be cut off there.
std::vector<Segment> ListJointCables(const Fabric& fabric, const ClusterFacts& facts);

// Links that the plan would change at one end only, because the other end is not in the plan,
// cannot be read or must not be changed: MTU and addresses must change on both. Of a cable always;
// of a switch only where the port is in use, since bringing one more port up harms no one there,
// and so of a link that is pruned. For all nodes of which the same holds at once.
std::vector<Diagnostic> DiagnoseHalfCables(const Plan& plan, const Fabric& fabric,
                                           const ClusterFacts& facts);

// The same, one line each, for which an apply is refused. `now`: all that differs now. An end that
// differs and that `plan` leaves alone, as a saved one does with what was not in it, does not hold.
std::vector<std::string> FindHalfCables(const Plan& plan, const Plan& now, const Fabric& fabric,
                                        const ClusterFacts& facts);

// The ports of the fabric that are blocked, in the fabric's order: there is no use in measuring it.
std::vector<const Change*> ListBlockedPorts(const Plan& plan, const Fabric& fabric);

}  // namespace reconciler
