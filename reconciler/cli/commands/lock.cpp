#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/node/lock.h"
#include "reconciler/planning/unfinished.h"
#include "reconciler/transport/ssh/dial.h"

namespace reconciler::cli {
namespace {

// Seconds beyond a request's own limit: by then the node's guard has reverted the apply.
constexpr int kProofOfDeathS = 120;

struct Locks {
  std::map<NodeName, NodeLock> of = {};
  Errors errors = {};
};

Locks ReadAll(const Cluster& cluster, const Selection& selection, NodePool& pool) {
  Locks locks;
  std::mutex mutex;
  NodeErrors thrown =
      ForEachNode(SelectNodes(cluster.spec, selection.scope.nodes), [&](const NodeSpec& node) {
        auto lock = ReadLock(node, pool);
        const std::lock_guard guard(mutex);
        if (lock) {
          locks.of[node.name] = std::move(*lock);
        } else {
          locks.errors.push_back(std::move(lock).error());
        }
      });
  AppendErrors(std::move(thrown), locks.errors);
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

int RunList(const Selection& selection) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(DialNode);
  const Locks locks = ReadAll(*cluster, selection, pool);
  // Without a plugin: only what we left there ourselves.
  const ClusterFacts facts =
      Gather(cluster->spec, cluster->fabric, {}, SelectNodes(cluster->spec, selection.scope.nodes),
             pool, nullptr);
  for (const auto& [node, lock] : locks.of) {
    std::cout << FormatLock(node, lock);
    const auto found = facts.nodes.find(node);
    if (lock.held || found == facts.nodes.end()) continue;
    for (const std::string& id : found->second.apply.undecided) {
      std::cout << fmt::format("{}  {}\n", node, FormatUnfinished(id));
    }
  }
  return locks.errors.empty() ? kFine : kNodeUnreadable;
}

// Breaks what is proven to be no one's any more; one lock that may be someone's is exit 9.
int RunBreak(const Selection& selection) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(DialNode);
  const Locks locks = ReadAll(*cluster, selection, pool);
  int code = locks.errors.empty() ? kFine : kNodeUnreadable;
  for (const auto& [name, lock] : locks.of) {
    if (!lock.held) {
      std::cout << FormatLock(name, lock);
      continue;
    }
    const auto proof = FindProofOfDeath(lock, kProofOfDeathS);
    if (!proof) {
      std::cerr << fmt::format(
          "{}: not broken: {} may be running\n"
          "  hint: end that process, or wait until it has been silent for {} s longer than its "
          "last request could take\n",
          name, MakePrintable(lock.lease), kProofOfDeathS);
      code = kLocked;
      continue;
    }
    if (const auto broken = BreakLock(*cluster->spec.FindNode(name), pool, lock); !broken) {
      return PrintError(broken.error(), kMixed);
    }
    std::cout << fmt::format("{}  broken: {} is gone, {}\n", name, MakePrintable(lock.lease),
                             *proof);
  }
  return code;
}

}  // namespace

void AddLock(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("lock", "See who holds the nodes, and break a dead lock");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc, int (*run)(const Selection&)) {
    CLI::App* verb = command->add_subcommand(name, doc);
    auto selection = std::make_shared<Selection>();
    AddManifest(*verb, *selection);
    verb->add_option("--node", selection->scope.nodes, "Only this node")->allow_extra_args(false);
    verb->callback([&context, selection, run] { context.exit_code = run(*selection); });
  };
  add("list", "Show each node's lock and its holder", RunList);
  add("break", "Break locks whose holder is proven to be gone", RunBreak);
}

}  // namespace reconciler::cli
