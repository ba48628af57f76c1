#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/model/action.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins::packages {

// What one change of a plan does: new packages and newer ones, each at one version.
struct Installation {
  std::string name = {};                    // the package that the manifest names
  std::vector<PackageStep> installed = {};  // in apt's order, what others need first
  std::vector<PackageStep> upgraded = {};

  bool Empty() const { return installed.empty() && upgraded.empty(); }
};

// apt installs these versions and removes nothing; what came along for another package's sake
// counts for apt as that. Waits for apt's lock with a limit.
std::vector<Action> ListInstallActions(const Installation& installation);
// The former versions, and without what was new. Each may run twice.
std::vector<Action> ListRevertActions(const Installation& installation);
// For a prune: what others need by now stays, but for the package itself, which fails then unless
// it came along with another one. A newer version stays.
PruneCommands MakePrune(const Installation& installation, bool came_along);

// In a command of a prune: the packages that stay.
void RemoveNames(const std::set<std::string>& names, RunCommand& command);

}  // namespace reconciler::plugins::packages
