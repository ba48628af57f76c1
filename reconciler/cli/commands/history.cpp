#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/apply/history.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

// "passed", "rolled back to 1"; what is not known is left out.
std::string DescribeGeneration(const GenerationInfo& info) {
  std::vector<std::string> words = {FormatPlural(info.changes, "change", "changes")};
  if (!info.commit.empty()) {
    words.push_back("commit " + info.commit.substr(0, 12) + (info.dirty ? " and edits" : ""));
  }
  words.push_back(info.verification.empty() ? "not verified" : "verify " + info.verification);
  if (info.rolled_back_to >= 0) {
    words.push_back(fmt::format("rolled back to {}", info.rolled_back_to));
  }
  return MakePrintable(Join(words, ", "));
}

std::string FormatGeneration(const Generation& generation, std::size_t columns) {
  const auto info = ParseGeneration(generation.document);
  const std::string line =
      info ? fmt::format("  {:>4}  {}  by {}  {}  {} ({})", generation.number,
                         MakePrintable(info->time), MakePrintable(info->by),
                         DescribeGeneration(*info), MakePrintable(info->manifest),
                         info->manifest_digest.substr(0, 12))
           : fmt::format("  {:>4}  damaged: {}", generation.number,
                         MakePrintable(info.error().message));
  return Join(WrapTo(line, columns, "        "), "\n") + "\n";
}

void PrintText(const Cluster& cluster, const Histories& histories, std::size_t columns) {
  for (const NodeSpec& node : cluster.spec.nodes) {
    const auto found = histories.nodes.find(node.name);
    if (found == histories.nodes.end()) continue;
    std::cout << node.name << (found->second.empty() ? "  nothing was applied yet\n" : "\n");
    for (const Generation& generation : found->second) {
      std::cout << FormatGeneration(generation, columns);
    }
  }
}

// The nodes that were read, in the manifest's order.
void PrintJson(const Cluster& cluster, const Histories& histories) {
  nlohmann::ordered_json document = BeginDocument("spark-reconcile/history/2");
  document["nodes"] = nlohmann::ordered_json::array();
  for (const NodeSpec& node : cluster.spec.nodes) {
    const auto found = histories.nodes.find(node.name);
    if (found == histories.nodes.end()) continue;
    nlohmann::ordered_json generations = nlohmann::ordered_json::array();
    for (const Generation& generation : found->second) {
      auto applied = nlohmann::ordered_json::parse(generation.document, nullptr, false);
      if (!applied.is_object()) applied = nullptr;
      generations.push_back({{"generation", generation.number}, {"applied", std::move(applied)}});
    }
    document["nodes"].push_back({{"name", node.name}, {"generations", std::move(generations)}});
  }
  std::cout << Dump(document);
}

struct HistoryOptions {
  Selection selection = {};
  std::string format = "text";
  int show = -1;
};

int RunHistory(const HistoryOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const Histories histories =
      ReadHistories(SelectNodes(cluster->spec, options.selection.scope.nodes), pool);
  std::cerr << FormatErrors(histories.errors);
  if (options.show >= 0) {
    const auto chosen = ChooseGeneration(histories, options.show);
    if (!chosen) return PrintError(chosen.error());
    std::cout << chosen->info.manifest_text;
  } else if (options.format == "json") {
    PrintJson(*cluster, histories);
  } else {
    PrintText(*cluster, histories, context.ColumnsOnStdout());
  }
  return histories.errors.empty() ? kFine : kNodeUnreadable;
}

}  // namespace

void AddHistory(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("history", "Show what was applied to each node, when and by whom");
  auto options = std::make_shared<HistoryOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection);
  CLI::Option* show =
      command->add_option("--show", options->show, "Print the manifest of this generation")
          ->transform(InRange(0, 1000000));
  command->add_option("--format", options->format, "How to print the list")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->excludes(show);
  command->callback([&context, options] { context.exit_code = RunHistory(*options, context); });
}

}  // namespace reconciler::cli
