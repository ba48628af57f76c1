#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/model/json/json.h"
#include "reconciler/node/locks.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/unfinished.h"

namespace reconciler::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LockOptions {
  Selection selection = {};
  std::string format = "text";
};

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

Json LockToJson(const NodeName& node, const NodeLock& lock) {
  Json json = {{"name", node}, {"held", lock.held}};
  if (!lock.held) return json;
  json["holder"] = MakePrintable(lock.lease);
  if (lock.overdue_s) json["overdue_s"] = *lock.overdue_s;
  return json;
}

// A document of the nodes whose lock was read, in the manifest's order.
void PrintJson(const Cluster& cluster, const std::map<NodeName, Json>& nodes) {
  Json document = BeginDocument("spark-reconcile/lock/1");
  document["nodes"] = Json::array();
  for (const NodeSpec& node : cluster.spec.nodes) {
    const auto found = nodes.find(node.name);
    if (found != nodes.end()) document["nodes"].push_back(found->second);
  }
  std::cout << Dump(document);
}

// The applies that a node has neither committed nor reverted, where none is running there.
std::vector<std::string> ListUndecided(const ClusterFacts& facts, const NodeName& node,
                                       const NodeLock& lock) {
  const auto found = facts.nodes.find(node);
  if (lock.held || found == facts.nodes.end()) return {};
  return found->second.apply.undecided;
}

int RunList(const LockOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const Locks locks = ReadAllLocks(*cluster, options.selection, pool);
  // Without a plugin: only what we left there ourselves.
  const ClusterFacts facts =
      Gather(cluster->spec, cluster->fabric, {},
             SelectNodes(cluster->spec, options.selection.scope.nodes), pool, nullptr);
  const std::size_t columns = context.ColumnsOnStdout();
  std::map<NodeName, Json> nodes;
  for (const auto& [node, lock] : locks.nodes) {
    const std::vector<std::string> undecided = ListUndecided(facts, node, lock);
    nodes[node] = LockToJson(node, lock);
    nodes[node]["unfinished"] = undecided;
    if (options.format == "json") continue;
    std::cout << WrapLines(FormatLock(node, lock), columns);
    for (const std::string& id : undecided) {
      std::cout << WrapLines(fmt::format("{}  {}\n", node, FormatUnfinished(id)), columns);
    }
  }
  if (options.format == "json") PrintJson(*cluster, nodes);
  return locks.errors.empty() ? kFine : kNodeUnreadable;
}

std::string_view GetJsonName(BreakOutcome outcome) {
  switch (outcome) {
    case BreakOutcome::kFree:
      return "free";
    case BreakOutcome::kKept:
      return "kept";
    case BreakOutcome::kBroken:
      return "broken";
    case BreakOutcome::kFailed:
      return "failed";
  }
  return "";
}

Json BreakToJson(const BreakResult& result, const NodeLock& lock) {
  Json json = LockToJson(result.node, lock);
  json["outcome"] = GetJsonName(result.outcome);
  if (!result.reason.empty()) json["reason"] = MakePrintable(result.reason);
  if (result.error) json["reason"] = MakePrintable(result.error->message);
  return json;
}

std::string FormatBreak(const BreakResult& result, const NodeLock& lock) {
  switch (result.outcome) {
    case BreakOutcome::kFree:
      return FormatLock(result.node, lock);
    case BreakOutcome::kBroken:
      return fmt::format("{}  broken: {} is gone, {}\n", result.node, MakePrintable(lock.lease),
                         result.reason);
    case BreakOutcome::kKept:
    case BreakOutcome::kFailed:
      return "";  // an error, on stderr
  }
  return "";
}

// Says on stderr why a node's lock is not broken; the exit code that the command ends with, given
// `code`.
int JudgeBreak(const BreakResult& result, const NodeLock& lock, int code) {
  switch (result.outcome) {
    case BreakOutcome::kFree:
    case BreakOutcome::kBroken:
      return code;
    case BreakOutcome::kKept:
      std::cerr << fmt::format(
          "{}: not broken: {} may be running\n"
          "  hint: end that process, or wait until it has been silent for {} s longer than its "
          "last request could take\n",
          result.node, MakePrintable(lock.lease), kSilentHolderS);
      return code == kMixed ? code : kLocked;
    case BreakOutcome::kFailed:
      return PrintError(*result.error, kMixed);
  }
  return code;
}

// One lock that may be someone's is exit 9, one that could not be broken is exit 5.
int RunBreak(const LockOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const Locks locks = ReadAllLocks(*cluster, options.selection, pool);
  int code = locks.errors.empty() ? kFine : kNodeUnreadable;
  std::map<NodeName, Json> nodes;
  for (const auto& [node, lock] : locks.nodes) {
    nodes[node] = LockToJson(node, lock);
    nodes[node]["outcome"] = "not-tried";
  }
  for (const BreakResult& result : BreakLocks(cluster->spec, locks, pool)) {
    const NodeLock& lock = locks.nodes.at(result.node);
    nodes[result.node] = BreakToJson(result, lock);
    if (options.format == "text") {
      std::cout << WrapLines(FormatBreak(result, lock), context.ColumnsOnStdout());
    }
    code = JudgeBreak(result, lock, code);
  }
  if (options.format == "json") PrintJson(*cluster, nodes);
  return code;
}

}  // namespace

void AddLock(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("lock", "See who holds the nodes, and break a dead lock");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc,
                       int (*run)(const LockOptions&, const Context&)) {
    CLI::App* verb = command->add_subcommand(name, doc);
    auto options = std::make_shared<LockOptions>();
    AddManifest(*verb, options->selection);
    AddNodes(*verb, options->selection);
    verb->add_option("--format", options->format, "How to print it")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    verb->callback([&context, options, run] { context.exit_code = run(*options, context); });
  };
  add("list", "Show each node's lock and its holder", RunList);
  add("break", "Break locks whose holder is proven to be gone", RunBreak);
}

}  // namespace reconciler::cli
