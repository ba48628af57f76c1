#include <CLI/CLI.hpp>
#include <memory>

#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

struct UninstallOptions {
  Selection selection = {};
  ApplyFlags flags = {};
};

int RunUninstall(const UninstallOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  PlanScope scope = options.selection.scope;
  scope.uninstall = true;
  return RunApply(*cluster, scope, std::nullopt,
                  MakeGenerationInfo(*cluster, options.selection.manifest), options.flags, context);
}

}  // namespace

void AddUninstall(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "uninstall", "Prune everything that was applied, and leave nothing on the nodes");
  auto options = std::make_shared<UninstallOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--node", options->selection.scope.nodes, "Only this node")
      ->allow_extra_args(false);
  AddApplyFlags(*command, options->flags);
  command->callback([&context, options] {
    context.judges_nodes = true;
    context.exit_code = RunUninstall(*options, context);
  });
}

}  // namespace reconciler::cli
