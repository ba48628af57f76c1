#pragma once

#include <string>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// Changes that the same nodes have in the same words.
struct ChangeGroup {
  std::vector<NodeName> nodes = {};         // in the plan's order
  std::vector<const Change*> changes = {};  // of the first of `nodes`, in the plan's order
};

// Every change of the plan, each in one group. Groups of more nodes stand first, then those of
// earlier nodes. Precondition: the plan outlives the groups.
std::vector<ChangeGroup> GroupChanges(const Plan& plan);

// What the line says after the name. Of several nodes: a node that names itself is "the same node".
std::string FormatDetail(const Change& change, bool several);

}  // namespace reconciler
