#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/access/revoke_sudo.h"
#include "reconciler/apply/new_generation.h"
#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

struct UninstallOptions {
  Selection selection = {};
  ApplyFlags flags = {};
  bool access = false;
};

int PrintSudoersResults(const std::vector<SudoersResult>& results) {
  int code = kFine;
  for (const auto& [node, removal] : results) {
    if (!removal) {
      std::cerr << FormatErrors({removal.error()});
      code = kNodeUnreadable;
    } else if (*removal == SudoersRemoval::kRemoved) {
      std::cout << fmt::format("{}: removed {}\n", node, kSudoersFile) << std::flush;
    } else if (*removal == SudoersRemoval::kKept) {
      std::cout << fmt::format("{}: kept {}, which `access --fix --sudoers` did not write\n", node,
                               kSudoersFile)
                << std::flush;
    }
  }
  return code;
}

int RunUninstall(const UninstallOptions& options, const Context& context, EventLog& log) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  PlanScope scope = options.selection.scope;
  scope.uninstall = true;
  const int code =
      RunApply(*cluster, scope, std::nullopt,
               MakeGenerationInfo(cluster->spec, cluster->text, options.selection.manifest),
               options.flags, context, log);
  if (!options.access) return code;
  if (code != kFine) {
    std::cerr << fmt::format(
        "note: {} stays on the nodes until an uninstall ends with exit code 0\n", kSudoersFile);
    return code;
  }
  return PrintSudoersResults(
      RevokeSudoOnAll(SelectNodes(cluster->spec, scope.nodes), context.dial));
}

}  // namespace

void AddUninstall(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("uninstall", "Prune everything that was applied, and name what stays");
  auto options = std::make_shared<UninstallOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection);
  command->add_flag("--access", options->access,
                    "Also remove the drop-in of sudoers that `access --fix --sudoers` wrote");
  AddApplyFlags(*command, options->flags);
  command->get_option("--no-verify")->group("");  // taken, but an uninstall verifies nothing
  command->callback([&context, options] {
    context.judges_nodes = true;
    context.exit_code =
        RunWithEvents(options->flags, {{options->selection.manifest, "manifest"}},
                      [&](EventLog& log) { return RunUninstall(*options, context, log); });
  });
}

}  // namespace reconciler::cli
