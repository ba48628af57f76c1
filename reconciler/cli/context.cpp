#include "reconciler/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "plugins/registry.h"
#include "reconciler/cli/progress.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/gather/verbs_facts.h"
#include "reconciler/planning/diagnostics.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {

bool Context::ColourOnStdout() const {
  return !no_colour && std::getenv("NO_COLOR") == nullptr && isatty(STDOUT_FILENO) == 1;
}

void AddManifest(CLI::App& command, Selection& selection) {
  command.add_option("manifest", selection.manifest, "The cluster's manifest")
      ->capture_default_str();
}

void AddScope(CLI::App& command, Selection& selection) {
  // One value per flag: the manifest that follows it is not another one.
  command
      .add_option("--node", selection.scope.nodes, "Only this node (may be given several times)")
      ->allow_extra_args(false);
  command
      .add_option("--only", selection.scope.only,
                  "Only this plugin's resources (may be given several times)")
      ->allow_extra_args(false);
}

int PrintError(const Error& error, int exit_code) {
  std::cerr << FormatError(error);
  return exit_code;
}

std::optional<Cluster> OpenCluster(const Selection& selection) {
  const auto text = ReadTextFile(selection.manifest);
  if (!text) {
    std::cerr << FormatError(text.error());
    return std::nullopt;
  }
  return LoadCluster(*text, selection.manifest, selection.scope);
}

std::optional<Cluster> LoadCluster(const std::string& text, const std::string& name,
                                   const PlanScope& scope) {
  auto cluster = BuildCluster(text, name, plugins::GetAll(), scope);
  if (!cluster) {
    std::cerr << FormatErrors(cluster.error());
    return std::nullopt;
  }
  return std::move(*cluster);
}

ClusterFacts GatherWithProgress(const Cluster& cluster, const Selection& selection, NodePool& pool,
                                const Trials& trials) {
  const std::vector<const NodeSpec*> nodes = SelectNodes(cluster.spec, selection.scope.nodes);
  Progress progress("reading nodes", nodes.size());
  ClusterFacts facts = Gather(
      cluster.spec, cluster.fabric, plugins::GetAll(), nodes, pool,
      [&](const NodeName& node) { progress.Step(node); }, trials);
  progress.Finish();
  const auto selected =
      SelectNodesForSparkVerify(cluster.spec, facts, plugins::GetAll(), selection.scope);
  if (!selected.empty()) AddVerbsFacts(facts, selected, pool, FindOwnFolder());
  for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
  return facts;
}

}  // namespace reconciler::cli
