#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/gather/verbs_facts.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/verify/report/section.h"

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

std::string FormatLedgerLine(const NodeFacts& facts) {
  if (const Ledger* ledger = Known(facts.ledger)) {
    return fmt::format("  generation {} of cluster {} · {} managed\n", ledger->generation,
                       MakePrintable(ledger->cluster),
                       FormatPlural(ledger->entries.size(), "thing", "things"));
  }
  if (const auto* unknown = std::get_if<Unknown>(&facts.ledger)) {
    return fmt::format("  {} cannot be read: {}\n", kLedgerFile, MakePrintable(unknown->why));
  }
  return "  nothing was applied yet\n";
}

std::string FormatNode(const NodeSpec& node, const NodeFacts& facts) {
  std::string text = fmt::format("{}  {}", MakePrintable(node.name), MakePrintable(node.address));
  if (const HostFact* host = Known(facts.host)) {
    text += fmt::format("  {} · kernel {} · {}", MakePrintable(host->os),
                        MakePrintable(host->kernel), MakePrintable(host->arch));
  }
  text += '\n' + FormatLedgerLine(facts);
  if (const std::string line = FormatApplyState(facts); !line.empty()) {
    text += "  " + MakePrintable(line) + '\n';
  }
  for (const auto& [name, link] : facts.links) {
    if (name != "lo") text += FormatLinkLine(name, link);
  }
  for (const auto& [name, hca] : facts.hcas) text += FormatHcaLine(name, hca);
  return text;
}

int RunStatus(const Selection& selection, const std::string& format, bool verbs,
              const Context& context) {
  auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial);
  if (verbs) SetVerifyLevel(cluster->spec, "rdma");
  ClusterFacts facts = GatherWithProgress(*cluster, selection, pool);
  if (verbs) {
    AddVerbsFacts(facts, SelectNodes(cluster->spec, selection.scope.nodes), pool, FindOwnFolder());
  }
  const int exit_code = facts.unreachable.empty() ? kFine : kNodeUnreadable;
  if (format == "json") {
    std::cout << Dump(ToJson(HideForeignContent(std::move(facts))));
  } else {
    for (const NodeSpec* node : SelectNodes(cluster->spec, selection.scope.nodes)) {
      const auto found = facts.nodes.find(node->name);
      std::cout << (found != facts.nodes.end()
                        ? FormatNode(*node, found->second)
                        : fmt::format("{}  {}  not reached\n", node->name, node->address));
    }
  }
  return exit_code;
}

}  // namespace

void AddStatus(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("status", "Show the facts of the nodes");
  auto selection = std::make_shared<Selection>();
  auto format = std::make_shared<std::string>("text");
  AddManifest(*command, *selection);
  AddNodes(*command, *selection);
  command->add_option("--format", *format, "text, or every fact as JSON")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  auto verbs = std::make_shared<bool>(false);
  command->add_flag("--verbs", *verbs, "Read RDMA devices too; copies spark-verify to the nodes");
  command->callback([&context, selection, format, verbs] {
    context.exit_code = RunStatus(*selection, *format, *verbs, context);
  });
}

}  // namespace reconciler::cli
