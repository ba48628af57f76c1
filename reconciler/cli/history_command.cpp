#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/engine/history.h"
#include "reconciler/model/json.h"
#include "reconciler/transport/dial.h"

namespace reconciler::cli {
namespace {

using Ledgers = std::map<NodeName, std::vector<Generation>>;

// A member of a ledger's document; "?" where somebody damaged it.
std::string Member(const nlohmann::json& document, const char* key) {
  const auto found = document.is_object() ? document.find(key) : document.end();
  if (!document.is_object() || found == document.end()) return "?";
  return found->is_string() ? Printable(found->get<std::string>()) : found->dump();
}

void PrintText(const Cluster& cluster, const Ledgers& ledgers) {
  for (const NodeSpec& node : cluster.spec.nodes) {
    const auto found = ledgers.find(node.name);
    if (found == ledgers.end()) continue;
    std::cout << node.name << (found->second.empty() ? "  nothing was applied yet\n" : "\n");
    for (const Generation& generation : found->second) {
      const auto document =
          nlohmann::json::parse(generation.document, nullptr, /*allow_exceptions=*/false);
      std::cout << fmt::format("  {:>4}  {}  by {}  {} changes  manifest {} ({})\n",
                               generation.number, Member(document, "time"), Member(document, "by"),
                               Member(document, "changes"), Member(document, "manifest"),
                               Member(document, "manifest_digest").substr(0, 12));
    }
  }
}

void PrintJson(const Ledgers& ledgers) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::object();
  for (const auto& [node, generations] : ledgers) {
    nodes[node] = nlohmann::ordered_json::array();
    for (const Generation& generation : generations) {
      auto document = nlohmann::ordered_json::parse(generation.document, nullptr, false);
      if (document.is_discarded()) document = nullptr;
      nodes[node].push_back({{"generation", generation.number}, {"applied", document}});
    }
  }
  std::cout << Dump({{"format", "spark-reconcile/history/1"}, {"nodes", nodes}});
}

int RunHistory(const Selection& selection, const std::string& format) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(DialNode);
  Ledgers ledgers;
  Errors errors;
  std::mutex mutex;
  ForEachNode(SelectNodes(cluster->spec, selection.scope.nodes), [&](const NodeSpec& node) {
    auto history = ReadHistory(node, pool);
    const std::lock_guard lock(mutex);
    if (history) {
      ledgers[node.name] = std::move(*history);
    } else {
      errors.push_back(std::move(history).error());
    }
  });
  std::cerr << FormatErrors(errors);
  if (format == "json") {
    PrintJson(ledgers);
  } else {
    PrintText(*cluster, ledgers);
  }
  return errors.empty() ? kFine : kNodeUnreadable;
}

}  // namespace

void AddHistory(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("history", "Show what was applied to each node, when and by whom");
  auto selection = std::make_shared<Selection>();
  auto format = std::make_shared<std::string>("text");
  AddManifest(*command, *selection);
  command->add_option("--node", selection->scope.nodes, "Only this node")->allow_extra_args(false);
  command->add_option("--format", *format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback(
      [&context, selection, format] { context.exit_code = RunHistory(*selection, *format); });
}

}  // namespace reconciler::cli
