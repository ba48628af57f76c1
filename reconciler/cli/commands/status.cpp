#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/apply/history.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/commands/status_wait.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/gather/verbs_facts.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/text/status_table.h"

namespace reconciler::cli {
namespace {

std::string FormatLinkLine(const std::string& name, const LinkFact& link) {
  std::vector<std::string> addresses;
  for (const Ipv4Prefix& address : link.ipv4) addresses.push_back(ToString(address));
  const std::string speed =
      link.speed_mbps > 0 ? fmt::format(" · {} Gb/s", link.speed_mbps / 1000.0) : "";
  return fmt::format("  {:<14} {} · mtu {}{} · {}\n", MakePrintable(name),
                     link.carrier ? "up" : "no carrier", link.mtu, speed,
                     addresses.empty() ? "no address" : Join(addresses, ", "));
}

std::string FormatHcaLine(const std::string& name, const HcaFact& hca) {
  std::string text =
      fmt::format("  {:<14} {} on {} · {} Gb/s", MakePrintable(name), MakePrintable(hca.state),
                  MakePrintable(hca.netdev), hca.rate_mbps / 1000.0);
  if (hca.device.lanes > 0) {
    text += fmt::format(" · PCIe {} GT/s x{}", hca.device.mts / 1000.0, hca.device.lanes);
  }
  if (!hca.firmware.empty()) text += fmt::format(" · firmware {}", MakePrintable(hca.firmware));
  if (hca.verbs.active_mtu > 0) text += fmt::format(" · packets of {}", hca.verbs.active_mtu);
  return text + "\n";
}

std::string FormatNode(const NodeSpec& node, const NodeFacts& facts) {
  std::string text = fmt::format("\n{}  {}", MakePrintable(node.name), MakePrintable(node.address));
  if (const HostFact* host = Known(facts.host)) {
    text += fmt::format("  {} · kernel {} · {}", MakePrintable(host->os),
                        MakePrintable(host->kernel), MakePrintable(host->arch));
  }
  text += '\n';
  if (const Ledger* ledger = Known(facts.ledger)) {
    text +=
        fmt::format("  cluster {} · {} managed, last changed by generation {}\n",
                    MakePrintable(ledger->cluster),
                    FormatPlural(ledger->entries.size(), "thing", "things"), ledger->generation);
  }
  for (const auto& [name, link] : facts.links) {
    if (name != "lo") text += FormatLinkLine(name, link);
  }
  for (const auto& [name, hca] : facts.hcas) text += FormatHcaLine(name, hca);
  return text;
}

struct StatusOptions {
  Selection selection = {};
  std::string format = "text";
  bool details = false;
  bool verbs = false;
  int wait_s = 0;  // 0: no waiting
};

// Of the nodes that could be read. What cannot be read of a history is printed.
std::map<NodeName, LastApply> ReadLastApplies(const std::vector<const NodeSpec*>& nodes,
                                              const ClusterFacts& facts, NodePool& pool) {
  std::vector<const NodeSpec*> reached;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(reached),
               [&](const NodeSpec* node) { return facts.nodes.contains(node->name); });
  const Histories histories = ReadHistories(reached, pool);
  std::cerr << FormatErrors(histories.errors);
  std::map<NodeName, LastApply> applies;
  for (const auto& [node, generations] : histories.nodes) {
    if (generations.empty()) continue;
    const auto info = ParseGeneration(generations.back().document);
    if (!info) continue;  // `history` says that it is damaged
    applies[node] = {.time = info->time,
                     .by = info->by,
                     .verification = info->verification,
                     .generation = generations.back().number};
  }
  return applies;
}

int PrintStatus(const Cluster& cluster, const ClusterFacts& facts, const StatusOptions& options,
                NodePool& pool, const Context& context) {
  const auto plan =
      MakePlan(cluster.spec, cluster.fabric, facts, plugins::GetAll(), options.selection.scope);
  if (!plan) return PrintError(plan.error(), kUsageOrManifest);
  const std::vector<const NodeSpec*> nodes =
      SelectNodes(cluster.spec, options.selection.scope.nodes);
  const auto applies = ReadLastApplies(nodes, facts, pool);
  std::cout << RenderStatus(*plan, facts, applies, context.ColumnsOnStdout());
  if (options.details || options.verbs) {
    for (const NodeSpec* node : nodes) {
      const auto found = facts.nodes.find(node->name);
      if (found != facts.nodes.end()) std::cout << FormatNode(*node, found->second);
    }
  }
  return kFine;
}

Result<AwaitedFacts> ReadNodes(const Cluster& cluster, const StatusOptions& options,
                               NodePool& pool) {
  if (options.wait_s > 0) return AwaitNodes(cluster, options.selection, options.wait_s, pool);
  ClusterFacts facts = GatherWithProgress(cluster, options.selection, pool, Purpose::kVerification);
  const int code = facts.unreachable.empty() ? kFine : kNodeUnreadable;
  return AwaitedFacts{.facts = std::move(facts), .exit_code = code};
}

int RunStatus(const StatusOptions& options, const Context& context) {
  auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  if (options.verbs) SetVerifyLevel(cluster->spec, "rdma");
  auto read = ReadNodes(*cluster, options, pool);
  if (!read) return PrintError(read.error(), kUsageOrManifest);
  if (options.verbs) {
    AddVerbsFacts(read->facts, SelectNodes(cluster->spec, options.selection.scope.nodes), pool,
                  FindProgramFolder());
  }
  if (options.format == "text") {
    const int printed = PrintStatus(*cluster, read->facts, options, pool, context);
    return printed == kFine ? read->exit_code : printed;
  }
  std::cout << FormatDocument(ToJson(HideForeignContent(std::move(read->facts))));
  return read->exit_code;
}

}  // namespace

void AddStatus(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "status", "Show whether the nodes are as the manifest says, and what was applied to them");
  auto options = std::make_shared<StatusOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection);
  command->add_option("--format", options->format, "text, or every fact as JSON")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--details", options->details, "Show each node's links and RDMA devices too");
  command->add_flag("--verbs", options->verbs,
                    "The details with what RDMA devices say; copies spark-verify to the nodes");
  command
      ->add_option(
          "--wait", options->wait_s,
          "Seconds to wait until no apply is running or unfinished, and all nodes that are "
          "reached are in sync; then exit code 9 or 2")
      ->transform(InRange(1, 86400));
  command->callback([&context, options] { context.exit_code = RunStatus(*options, context); });
}

}  // namespace reconciler::cli
