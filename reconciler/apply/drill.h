#pragma once

#include <string>
#include <vector>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/node/node_pool.h"

namespace reconciler {

struct DrillReport {
  std::vector<std::string> checked = {};  // what was changed and is as before, as text
  Errors errors = {};  // what is not, or why it could not be proved; kTransport: not reached
  std::vector<std::string> ended = {};  // earlier applies that were ended first, one line each
  double reverted_after_s = 0;          // from the last sign of life to the end of the revert
  bool began = false;                   // the node's lock was held; otherwise nothing was changed
  bool reverted = false;
};

// What a node may take for the revert itself, once its limit has passed.
inline constexpr Milliseconds kRevertSlack{60000};

// Proves on one node that an apply whose controller vanishes is reverted: in the same way as
// an apply, a file that exists is overwritten, one is made in a folder that does not exist, one is
// put on trial, and a live value is set that no one reads (net.ipv4.conf.lo.tag, a number for an
// administrator's own use). Then nothing more is heard from here; new logins watch what the node
// does. Takes the guard's limit and a few seconds. A node that is not seen to revert is read until
// the limit and `slack` have passed, and once more then; a reading may last as long as a login and
// 20 s. Nothing else on the node is touched.
DrillReport Drill(const NodeSpec& node, NodePool& pool, const GuardTimes& times,
                  const std::string& lease, Milliseconds slack = kRevertSlack);

}  // namespace reconciler
