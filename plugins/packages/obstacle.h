#pragma once

#include <string>
#include <vector>

#include "plugins/packages/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins::packages {

// dpkg has all of it in place.
bool IsInstalled(const PackageFact& fact);

// Why apt must not bring the package, or could not; empty: nothing is in the way. `steps`: what of
// the simulation no earlier change does. `listed`: what the manifest names for the node.
Obstacle FindPackageObstacle(const PackageSpec& package, const PackageFact& fact,
                             const std::vector<PackageStep>& steps,
                             const std::vector<PackageSpec>& listed, const PackageFacts& facts);

}  // namespace reconciler::plugins::packages
