#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/fabric/drawing/container_flags.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/model/json/json.h"
#include "reconciler/verify/environment.h"

namespace reconciler::cli {
namespace {

struct EnvOptions {
  Selection selection = {};
  std::string node = {};
  std::string format = "sh";
};

std::string FormatJson(const NodeName& node, const Environment& environment) {
  nlohmann::ordered_json variables = nlohmann::ordered_json::array();
  for (const auto& [name, value, why] : environment) {
    variables.push_back({{"name", name}, {"value", value}, {"why", why}});
  }
  nlohmann::ordered_json document = BeginDocument("spark-reconcile/env/1");
  document["node"] = node;
  document["variables"] = std::move(variables);
  return Dump(document);
}

std::string FormatEnvironment(const EnvOptions& options, const Environment& environment) {
  if (options.format == "json") return FormatJson(options.node, environment);
  if (options.format == "docker") return FormatDockerFlags(environment);
  if (options.format == "compose") return FormatCompose(environment);
  if (options.format == "podman") return FormatPodmanFlags(environment);
  if (options.format == "enroot") return FormatEnrootFlags(environment);
  if (options.format == "systemd") return FormatEnvironmentFile(environment);
  return FormatShell(environment);
}

// A node for which no plugin sets any variable has no use for this command.
Result<Environment> FindSomeEnvironment(const PluginInput& input) {
  auto all = CollectEnvironment(input, plugins::GetAll());
  if (all && all->empty()) {
    return Fail(
        {.kind = ErrorKind::kUsage,
         .message = input.cluster.file + ": wanted a section that sets variables, found none",
         .hint = "write 'nccl: {}' for what the fabric decides"});
  }
  return all;
}

int RunEnv(EnvOptions options, const Context& context) {
  options.selection.scope.nodes = {options.node};  // an unknown name is refused with a hint
  std::error_code unread;
  if (!std::filesystem::exists(options.selection.manifest, unread) &&
      std::filesystem::is_regular_file(options.node, unread)) {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = fmt::format("wanted the name of a node, found the file '{}'",
                                              MakePrintable(options.node)),
                       .hint = "the node comes before the manifest: env spark-1 cluster.yaml"},
                      kUsageOrManifest);
  }
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  if (cluster->spec.FindNode(options.node) == nullptr) {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = fmt::format("wanted the name of one node, found '{}'",
                                              MakePrintable(options.node))},
                      kUsageOrManifest);
  }
  // All ranks must agree, so that the other nodes have a say.
  options.selection.scope.nodes.clear();
  NodePool pool(context.dial, context.at_once);
  const ClusterFacts facts = GatherWithProgress(*cluster, options.selection, pool, Purpose::kPlan);
  const auto own = facts.nodes.find(options.node);
  if (own == facts.nodes.end()) return kNodeUnreadable;
  const LocatedCluster located(cluster->spec, cluster->fabric, facts);
  const auto environment =
      FindSomeEnvironment({located.spec(), located.fabric(), *located.spec().FindNode(options.node),
                           own->second, facts});
  if (!environment) {
    const bool usage = environment.error().kind == ErrorKind::kUsage;
    return PrintError(environment.error(), usage ? kUsageOrManifest : kNodeUnreadable);
  }
  std::cout << FormatEnvironment(options, *environment);
  return kFine;
}

}  // namespace

void AddEnv(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("env", "Print the variables that programs on a node need");
  auto options = std::make_shared<EnvOptions>();
  command->add_option("node", options->node, "The node")->required();
  AddManifest(*command, options->selection);
  command
      ->add_option("--format", options->format,
                   "sh (to be sourced), docker, podman, enroot (flags for `docker run` and so on), "
                   "compose (a file for docker compose), systemd (an EnvironmentFile, also for "
                   "--env-file), json")
      ->check(CLI::IsMember({"sh", "docker", "compose", "podman", "enroot", "systemd", "json"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunEnv(*options, context); });
}

}  // namespace reconciler::cli
