#include "reconciler/cli/waiting.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/text/status_table.h"

namespace reconciler::cli {

Waiting FindWaiting(const Plan& plan, const ClusterFacts& facts, const Locks& locks) {
  Waiting waiting{.reached_none = facts.nodes.empty()};
  for (const PlanNode& node : plan.nodes) {
    const NodeState state = FindNodeState(plan, facts, node.name);
    if (state == NodeState::kUnreachable) continue;
    const auto lock = locks.nodes.find(node.name);
    const bool is_read = lock != locks.nodes.end();
    if ((is_read && lock->second.held) || state == NodeState::kUnfinished) {
      waiting.in_apply.push_back(node.name);
    } else if (!is_read) {
      waiting.unread.push_back(node.name);
    } else if (state != NodeState::kInSync && state != NodeState::kOverridden) {
      waiting.differing.push_back(node.name);
    }
  }
  return waiting;
}

std::string FormatWaiting(const Waiting& waiting) {
  std::vector<std::string> parts;
  if (!waiting.in_apply.empty()) {
    parts.push_back("an apply is not over on " + MakePrintable(Join(waiting.in_apply, ", ")));
  }
  if (!waiting.unread.empty()) {
    parts.push_back(fmt::format("the {} of {} cannot be read",
                                waiting.unread.size() == 1 ? "lock" : "locks",
                                MakePrintable(Join(waiting.unread, ", "))));
  }
  if (!waiting.differing.empty()) {
    parts.push_back(fmt::format("{} {} from the manifest",
                                MakePrintable(Join(waiting.differing, ", ")),
                                waiting.differing.size() == 1 ? "differs" : "differ"));
  }
  if (waiting.reached_none) parts.emplace_back("no node was reached");
  return Join(parts, "; ");
}

int FindWaitingCode(const Waiting& waiting, const ClusterFacts& facts) {
  if (!waiting.in_apply.empty()) return kLocked;
  if (!waiting.unread.empty()) return kNodeUnreadable;
  if (!waiting.differing.empty()) return kPending;
  return facts.unreachable.empty() ? kFine : kNodeUnreadable;
}

}  // namespace reconciler::cli
