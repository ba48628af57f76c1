#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/node/lock.h"

namespace reconciler {

struct Locks {
  std::map<NodeName, NodeLock> nodes = {};
  Errors errors = {};  // of the nodes whose lock could not be read, by name
};

// Of all nodes at the same time.
Locks ReadLocks(const std::vector<const NodeSpec*>& nodes, NodePool& pool);

// Seconds that a holder must be silent beyond the limit of its last request before its lock may be
// broken: by then the node's guard has reverted the apply.
inline constexpr int kSilentHolderS = 120;

enum class BreakOutcome {
  kFree,    // no one held it
  kKept,    // its holder may be running
  kBroken,  // its holder has ended
  kFailed,
};

struct BreakResult {
  NodeName node = {};
  BreakOutcome outcome = BreakOutcome::kFree;
  std::string reason = {};                    // kBroken: what shows that the holder has ended
  std::optional<Error> error = std::nullopt;  // kFailed
};

// Breaks those of `locks` whose holder has surely ended, one result per lock, by name. It stops at
// the first one that cannot be broken, which is the last result then.
std::vector<BreakResult> BreakLocks(const ClusterSpec& cluster, const Locks& locks, NodePool& pool);

}  // namespace reconciler
