#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/observe/observe_cabling.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

struct CablingOptions {
  Selection selection = {};
  std::string format = "text";
};

std::string FormatText(const CablingReport& report) {
  std::size_t width = 0;  // in characters: each line holds one dash of three bytes
  for (const CableVerdict& verdict : report.cables) {
    width = std::max(width, DescribeCable(verdict.cable).size() - 2);
  }
  std::string text;
  for (const CableVerdict& verdict : report.cables) {
    const std::string words = DescribeCable(verdict.cable);
    text += fmt::format("{:<9}  {}{}  {}\n", ToString(verdict.state), words,
                        std::string(width - (words.size() - 2), ' '), verdict.detail);
  }
  for (const std::string& line : report.wrong) text += line + '\n';
  return text;
}

nlohmann::ordered_json FormatJson(const CablingReport& report) {
  nlohmann::ordered_json cables = nlohmann::ordered_json::array();
  for (const CableVerdict& verdict : report.cables) {
    nlohmann::ordered_json ends = nlohmann::ordered_json::array();
    for (const CageId& end : verdict.cable.ends) ends.push_back(end.node + "." + end.cage);
    cables.push_back({{"kind", verdict.cable.is_switch ? "switch" : "cable"},
                      {"ends", std::move(ends)},
                      {"state", ToString(verdict.state)},
                      {"detail", verdict.detail}});
  }
  nlohmann::ordered_json document = BeginDocument("spark-reconcile/cabling/1");
  document["cables"] = std::move(cables);
  document["wrong"] = report.wrong;
  return document;
}

struct FoundCabling {
  CablingViews views = {};
  CablingReport report = {};
};

// By what ports are called on the nodes, which facts show.
FoundCabling FindCabling(const Cluster& cluster, const std::vector<const NodeSpec*>& nodes,
                         NodePool& pool) {
  ClusterFacts facts = Gather(cluster.spec, cluster.fabric, plugins::GetAll(), nodes, pool);
  std::vector<const NodeSpec*> read;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(read),
               [&](const NodeSpec* node) { return facts.nodes.contains(node->name); });
  const LocatedCluster located(cluster.spec, cluster.fabric, facts);
  FoundCabling found{.views = ObserveCabling(located.spec(), read, pool)};
  for (auto& [name, error] : facts.unreachable) found.views[name].failure = std::move(error);
  found.report = JudgeCabling(located.spec(), found.views);
  return found;
}

int RunCabling(const CablingOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const auto [views, report] =
      FindCabling(*cluster, SelectNodes(cluster->spec, options.selection.scope.nodes), pool);
  std::cout << (options.format == "json" ? Dump(FormatJson(report))
                                         : WrapLines(FormatText(report), context.ColumnsOnStdout()))
            << std::flush;
  bool all_read = true;
  for (const auto& [node, view] : views) {
    if (view.failure) std::cerr << FormatError(*view.failure);
    all_read &= !view.failure;
  }
  if (!report.wrong.empty()) return kVerifyFailed;
  if (!all_read) return kNodeUnreadable;
  const bool known = std::all_of(
      report.cables.begin(), report.cables.end(),
      [](const CableVerdict& verdict) { return verdict.state == CableState::kConfirmed; });
  return known ? kFine : kNotMeasured;
}

}  // namespace

void AddCabling(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("cabling", "Show which port is at the other end of every cable");
  auto options = std::make_shared<CablingOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection);
  command->add_option("--format", options->format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunCabling(*options, context); });
}

}  // namespace reconciler::cli
