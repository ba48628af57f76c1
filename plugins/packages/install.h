#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconciler/model/action.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
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
// For a prune: what others need by now stays, and of what came along what someone has installed by
// hand since. A newer version stays.
PruneCommands MakePrune(const Installation& installation);

// A prune as this version makes it, whichever version wrote its commands into the ledger, without
// what the manifest lists by now. Its `detail` goes on with what the prune does.
void RenewPrune(const std::set<std::string>& listed, Change& change);
}  // namespace reconciler::plugins::packages
