#pragma once

#include "reconciler/cli/context.h"

namespace reconciler::cli {

// Before an apply writes anything: asks the nodes who is at the other end of every cable, and says
// on stderr what is wrong and what is not known. True when a wrong cable stops the apply. A scope
// without links asks nobody: a wrong cable is no reason to leave a key as it is.
bool StopForCabling(const Cluster& cluster, const PlanScope& scope,
                    const std::vector<const NodeSpec*>& nodes, NodePool& pool, bool allow_wrong);

// The same question while an apply is on trial: ports that were down before it have a link now.
std::vector<std::string> FindWrongCables(const Cluster& cluster,
                                         const std::vector<const NodeSpec*>& nodes, NodePool& pool);

}  // namespace reconciler::cli
