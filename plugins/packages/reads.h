#pragma once

#include <vector>

#include "plugins/packages/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::packages {

// What dpkg has of the packages, and what apt would do about those that do not hold. Precondition:
// there is at least one.
RunProbe MakePackagesProbe(const std::vector<PackageSpec>& packages);
void StorePackages(const ProbeReply& reply, NodeFacts& facts);

// Versions of the driver, CUDA, Docker and the container toolkit.
RunProbe MakeToolsProbe();
void StoreTools(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::packages
