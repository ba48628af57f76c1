#include "reconciler/cli/commands/status_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <thread>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/text/status_table.h"

namespace reconciler::cli {
namespace {

using WaitClock = std::chrono::steady_clock;
constexpr std::chrono::seconds kBetweenReadings{2};

Locks ReadLocksOfReached(const Cluster& cluster, const Selection& selection,
                         const ClusterFacts& facts, NodePool& pool) {
  const auto nodes = SelectNodes(cluster.spec, selection.scope.nodes);
  std::vector<const NodeSpec*> reached;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(reached),
               [&](const NodeSpec* node) { return facts.nodes.contains(node->name); });
  return ReadLocks(reached, pool);
}

int FindCode(const Waiting& waiting, const ClusterFacts& facts) {
  if (!waiting.in_apply.empty()) return kLocked;
  if (!waiting.differing.empty()) return kPending;
  return facts.unreachable.empty() ? kFine : kNodeUnreadable;
}

}  // namespace

Waiting FindWaiting(const Plan& plan, const ClusterFacts& facts, const Locks& locks) {
  Waiting waiting{.reached_none = facts.nodes.empty()};
  for (const PlanNode& node : plan.nodes) {
    const NodeState state = FindNodeState(plan, facts, node.name);
    if (state == NodeState::kUnreachable) continue;
    const auto lock = locks.nodes.find(node.name);
    const bool is_held = lock != locks.nodes.end() && lock->second.held;
    if (is_held || state == NodeState::kUnfinished) {
      waiting.in_apply.push_back(node.name);
    } else if (state != NodeState::kInSync) {
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
  if (!waiting.differing.empty()) {
    parts.push_back(fmt::format("{} {} from the manifest",
                                MakePrintable(Join(waiting.differing, ", ")),
                                waiting.differing.size() == 1 ? "differs" : "differ"));
  }
  if (waiting.reached_none) parts.emplace_back("no node was reached");
  return Join(parts, "; ");
}

Result<AwaitedFacts> AwaitNodes(const Cluster& cluster, const Selection& selection, int seconds,
                                NodePool& pool) {
  const auto end = WaitClock::now() + std::chrono::seconds(seconds);
  std::string said;
  for (;;) {
    ClusterFacts facts = GatherQuietly(cluster, selection, pool, {});
    const auto plan =
        MakePlan(cluster.spec, cluster.fabric, facts, plugins::GetAll(), selection.scope);
    if (!plan) return Fail(plan.error());
    const Waiting waiting =
        FindWaiting(*plan, facts, ReadLocksOfReached(cluster, selection, facts, pool));
    const auto left = std::chrono::ceil<std::chrono::seconds>(end - WaitClock::now());
    if (waiting.IsOver() || left.count() <= 0) {
      for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
      if (!waiting.IsOver()) {
        std::cerr << fmt::format("waited for {} s: {}\n", seconds, FormatWaiting(waiting));
      }
      const int code = FindCode(waiting, facts);
      return AwaitedFacts{.facts = std::move(facts), .exit_code = code};
    }
    if (std::string text = FormatWaiting(waiting); text != said) {
      std::cerr << fmt::format("waiting, at most {} s: {}\n", left.count(), text);
      said = std::move(text);
    }
    std::this_thread::sleep_for(std::min<WaitClock::duration>(kBetweenReadings, left));
  }
}

}  // namespace reconciler::cli
