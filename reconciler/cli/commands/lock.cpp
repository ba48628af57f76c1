#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/node/locks.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/unfinished.h"

namespace reconciler::cli {
namespace {

Locks ReadAllLocks(const Cluster& cluster, const Selection& selection, NodePool& pool) {
  Locks locks = ReadLocks(SelectNodes(cluster.spec, selection.scope.nodes), pool);
  std::cerr << FormatErrors(locks.errors);
  return locks;
}

std::string FormatLock(const NodeName& node, const NodeLock& lock) {
  if (!lock.held) return fmt::format("{}  free\n", node);
  const std::string since =
      !lock.overdue_s ? "running or not is unknown: its lease has no deadline"
      : *lock.overdue_s > 0
          ? fmt::format("silent for {} s longer than its last request could take", *lock.overdue_s)
          : fmt::format("running, or within its deadline for {} s more", -*lock.overdue_s);
  return fmt::format("{}  held by {} ({})\n", node, MakePrintable(lock.lease), since);
}

int RunList(const Selection& selection, const Context& context) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const Locks locks = ReadAllLocks(*cluster, selection, pool);
  // Without a plugin: only what we left there ourselves.
  const ClusterFacts facts =
      Gather(cluster->spec, cluster->fabric, {}, SelectNodes(cluster->spec, selection.scope.nodes),
             pool, nullptr);
  const std::size_t columns = context.ColumnsOnStdout();
  for (const auto& [node, lock] : locks.nodes) {
    std::cout << WrapLines(FormatLock(node, lock), columns);
    const auto found = facts.nodes.find(node);
    if (lock.held || found == facts.nodes.end()) continue;
    for (const std::string& id : found->second.apply.undecided) {
      std::cout << WrapLines(fmt::format("{}  {}\n", node, FormatUnfinished(id)), columns);
    }
  }
  return locks.errors.empty() ? kFine : kNodeUnreadable;
}

// Prints what became of one node's lock; the exit code that the command ends with, given `code`.
int PrintBreak(const BreakResult& result, const NodeLock& lock, int code) {
  const std::string holder = MakePrintable(lock.lease);
  switch (result.outcome) {
    case BreakOutcome::kFree:
      std::cout << FormatLock(result.node, lock);
      return code;
    case BreakOutcome::kKept:
      std::cerr << fmt::format(
          "{}: not broken: {} may be running\n"
          "  hint: end that process, or wait until it has been silent for {} s longer than its "
          "last request could take\n",
          result.node, holder, kSilentHolderS);
      return kLocked;
    case BreakOutcome::kBroken:
      std::cout << fmt::format("{}  broken: {} is gone, {}\n", result.node, holder, result.reason);
      return code;
    case BreakOutcome::kFailed:
      return PrintError(*result.error, kMixed);
  }
  return code;
}

// One lock that may be someone's is exit 9.
int RunBreak(const Selection& selection, const Context& context) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const Locks locks = ReadAllLocks(*cluster, selection, pool);
  int code = locks.errors.empty() ? kFine : kNodeUnreadable;
  for (const BreakResult& result : BreakLocks(cluster->spec, locks, pool)) {
    code = PrintBreak(result, locks.nodes.at(result.node), code);
  }
  return code;
}

}  // namespace

void AddLock(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("lock", "See who holds the nodes, and break a dead lock");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc,
                       int (*run)(const Selection&, const Context&)) {
    CLI::App* verb = command->add_subcommand(name, doc);
    auto selection = std::make_shared<Selection>();
    AddManifest(*verb, *selection);
    AddNodes(*verb, *selection);
    verb->callback([&context, selection, run] { context.exit_code = run(*selection, context); });
  };
  add("list", "Show each node's lock and its holder", RunList);
  add("break", "Break locks whose holder is proven to be gone", RunBreak);
}

}  // namespace reconciler::cli
