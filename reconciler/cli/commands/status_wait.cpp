#include "reconciler/cli/commands/status_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <thread>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/waiting.h"
#include "reconciler/node/locks.h"

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

}  // namespace

Result<AwaitedFacts> AwaitNodes(const Cluster& cluster, const Selection& selection, int seconds,
                                NodePool& pool) {
  const auto end = WaitClock::now() + std::chrono::seconds(seconds);
  std::string said;
  for (;;) {
    ClusterFacts facts = GatherQuietly(cluster, selection, pool, Purpose::kVerification, {});
    const auto plan =
        MakePlan(cluster.spec, cluster.fabric, facts, plugins::GetAll(), selection.scope);
    if (!plan) return Fail(plan.error());
    const Locks locks = ReadLocksOfReached(cluster, selection, facts, pool);
    const Waiting waiting = FindWaiting(*plan, facts, locks);
    const auto left = std::chrono::ceil<std::chrono::seconds>(end - WaitClock::now());
    if (waiting.IsOver() || left.count() <= 0) {
      for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
      std::cerr << FormatErrors(locks.errors);
      if (!waiting.IsOver()) {
        std::cerr << fmt::format("waited for {} s: {}\n", seconds, FormatWaiting(waiting));
      }
      const int code = FindWaitingCode(waiting, facts);
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
