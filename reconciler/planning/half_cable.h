#pragma once

#include <string>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// Cables and switch rails in use of which the plan would change one end only, because the other end
// cannot be read or must not be changed: MTU and addresses must flip on both. One line each, with
// both nodes and the reason. A port that has no address of its rail yet is not in use: bringing it
// up harms no one.
std::vector<std::string> FindHalfCables(const Plan& plan, const Fabric& fabric,
                                        const ClusterFacts& facts);

}  // namespace reconciler
