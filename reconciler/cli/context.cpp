#include "reconciler/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

#include "plugins/registry.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/progress.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/gather/verbs_facts.h"
#include "reconciler/planning/diagnostics.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {

bool Context::ColourOnStdout() const {
  return FindTerminalTraits(STDOUT_FILENO, no_colour).colours;
}

bool Context::ColourOnStderr() const {
  return FindTerminalTraits(STDERR_FILENO, no_colour).colours;
}

std::size_t Context::ColumnsOnStdout() const {
  return FindTerminalTraits(STDOUT_FILENO, no_colour).columns;
}

std::size_t Context::ColumnsOnStderr() const {
  return FindTerminalTraits(STDERR_FILENO, no_colour).columns;
}

CLI::Option* AddPath(CLI::App& command, const std::string& name, std::string& path,
                     const std::string& text) {
  const auto check = [](const std::string& value) {
    return value.empty() ? std::string("wanted the path of a file, found nothing") : std::string();
  };
  return command.add_option(name, path, text)->check(check);
}

CLI::Option* AddManifest(CLI::App& command, Selection& selection) {
  return AddPath(command, "manifest", selection.manifest, "The cluster's manifest")
      ->capture_default_str();
}

CLI::Option* AddNodes(CLI::App& command, Selection& selection) {
  // One value per flag: the manifest that follows it is not another one.
  CLI::Option* node =
      command
          .add_option_function<std::vector<std::string>>(
              "--node",
              [&selection](const std::vector<std::string>& names) {
                for (const std::string& name : names) selection.scope.nodes.push_back(name);
              },
              "Only this node, or those that match 'spark-[1-4]' (may be given several times)")
          ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--exclude",
          [&selection](const std::vector<std::string>& names) {
            for (const std::string& name : names) selection.scope.nodes.push_back("!" + name);
          },
          "Not this node, or those that match (may be given several times)")
      ->allow_extra_args(false);
  return node;
}

void AddScope(CLI::App& command, Selection& selection) {
  AddNodes(command, selection);
  command
      .add_option("--only", selection.scope.only,
                  "Only this plugin's resources (may be given several times)")
      ->allow_extra_args(false);
}

int PrintError(const Error& error, int exit_code) {
  std::cerr << FormatError(error);
  return exit_code;
}

int PrintError(const Error& error) {
  return PrintError(error,
                    error.kind == ErrorKind::kTransport ? kNodeUnreadable : kUsageOrManifest);
}

Result<std::string> ReadManifest(const std::string& path, std::size_t most) {
  auto text = ReadTextFile(path, most);
  if (text || path != Selection().manifest) return text;
  Error error = text.error();
  error.hint =
      "`spark-reconcile discover HOST HOST` writes a manifest of nodes as they are, "
      "`spark-reconcile init` one to fill in";
  return Fail(std::move(error));
}

std::optional<Cluster> OpenCluster(const Selection& selection) {
  const auto text = ReadManifest(selection.manifest);
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

namespace {

// Without " at FILE:LINE:COLUMN" and ", first at …" of a text that is in no file.
std::string RemovePlaces(std::string message, const std::string& file) {
  for (const std::string& start : {", first at " + file + ":", " at " + file + ":"}) {
    for (std::size_t at = 0; (at = message.find(start, at)) != std::string::npos;) {
      const std::size_t end = message.find_first_not_of("0123456789:", at + start.size());
      message.erase(at, std::min(end, message.size()) - at);
    }
  }
  return message;
}

}  // namespace

std::optional<Cluster> LoadGenerated(const std::string& text, const std::string& source) {
  auto cluster = BuildCluster(text, source, plugins::GetAll(), {});
  if (cluster) return std::move(*cluster);
  for (Error& error : cluster.error()) {
    error.where.reset();
    error.source_line.clear();
    error.message = RemovePlaces(std::move(error.message), source);
    std::cerr << FormatError(AddContext(std::move(error), source));
  }
  return std::nullopt;
}

ClusterFacts GatherQuietly(const Cluster& cluster, const Selection& selection, NodePool& pool,
                           Purpose purpose, const Trials& trials,
                           const std::function<void(const NodeName&)>& on_node) {
  const std::vector<const NodeSpec*> nodes = SelectNodes(cluster.spec, selection.scope.nodes);
  ClusterFacts facts = Gather(
      cluster.spec, cluster.fabric, plugins::GetAll(), nodes, pool,
      [&](const NodeName& node) {
        if (on_node) on_node(node);
      },
      trials, purpose);
  const auto selected =
      SelectNodesForSparkVerify(cluster.spec, facts, plugins::GetAll(), selection.scope);
  if (!selected.empty()) AddVerbsFacts(facts, selected, pool, FindProgramFolder());
  return facts;
}

ClusterFacts GatherWithProgress(const Cluster& cluster, const Selection& selection, NodePool& pool,
                                Purpose purpose, const Trials& trials) {
  Progress progress("reading nodes", SelectNodes(cluster.spec, selection.scope.nodes).size());
  ClusterFacts facts = GatherQuietly(cluster, selection, pool, purpose, trials,
                                     [&](const NodeName& node) { progress.Step(node); });
  progress.Finish();
  for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
  return facts;
}

}  // namespace reconciler::cli
