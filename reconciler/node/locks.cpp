#include "reconciler/node/locks.h"

#include <mutex>

namespace reconciler {

Locks ReadLocks(const std::vector<const NodeSpec*>& nodes, NodePool& pool) {
  Locks locks;
  NodeErrors errors;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, pool.at_once(), [&](const NodeSpec& node) {
    auto lock = ReadLock(node, pool);
    const std::lock_guard guard(mutex);
    if (lock) {
      locks.nodes[node.name] = std::move(*lock);
    } else {
      errors[node.name] = std::move(lock).error();
    }
  });
  errors.merge(thrown);
  AppendErrors(std::move(errors), locks.errors);
  return locks;
}

std::vector<BreakResult> BreakLocks(const ClusterSpec& cluster, const Locks& locks,
                                    NodePool& pool) {
  std::vector<BreakResult> results;
  for (const auto& [name, lock] : locks.nodes) {
    BreakResult& result = results.emplace_back(BreakResult{.node = name});
    if (!lock.held) continue;
    const auto reason = ExplainEndedHolder(lock, kSilentHolderS);
    if (!reason) {
      result.outcome = BreakOutcome::kKept;
      continue;
    }
    const auto broken = BreakLock(*cluster.FindNode(name), pool, lock);
    if (!broken) {
      result.outcome = BreakOutcome::kFailed;
      result.error = broken.error();
      break;
    }
    result.outcome = BreakOutcome::kBroken;
    result.reason = *reason;
  }
  return results;
}

}  // namespace reconciler
