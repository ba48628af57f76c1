#pragma once

#include "reconciler/base/error.h"

namespace reconciler::cli {

// What the program's exit status reports to a pipeline. Stable: scripts depend on it.
enum ExitCode : int {
  kFine = 0,
  kUsageOrManifest = 1,
  kPending = 2,  // changes or drift pending (drift, --detailed-exitcode, apply with blocked ones)
  kNodeUnreadable = 3,
  kReverted = 4,  // apply failed and every node was reverted
  kMixed = 5,     // apply failed and nodes are mixed: needs a person
  kVerifyFailed = 6,
  kNotMeasured = 7,
  kStalePlan = 8,
  kLocked = 9,
  kInterrupted = 130,
};

}  // namespace reconciler::cli
