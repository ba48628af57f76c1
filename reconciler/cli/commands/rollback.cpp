#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "reconciler/apply/history.h"
#include "reconciler/apply/new_generation.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"

namespace reconciler::cli {
namespace {

struct RollbackOptions {
  Selection selection = {};
  int to = -1;  // -1: the one before the newest
  ApplyFlags flags = {};
};

// Back to what was before the first apply is what uninstall does.
int RollBackToNothing(const Cluster& cluster, const RollbackOptions& options,
                      const Context& context, EventLog& log) {
  GenerationInfo info = MakeGenerationInfo(cluster.spec, cluster.text, options.selection.manifest);
  info.rolled_back_to = 0;
  return RunApply(cluster, {.uninstall = true}, std::nullopt, info, options.flags, context, log);
}

int RunRollback(const RollbackOptions& options, const Context& context, EventLog& log) {
  const auto current = OpenCluster(options.selection);
  if (!current) return kUsageOrManifest;
  if (options.to == 0) return RollBackToNothing(*current, options, context, log);
  NodePool pool(context.dial, context.at_once);
  const Histories read = ReadHistories(SelectNodes(current->spec, {}), pool);
  std::cerr << FormatErrors(read.errors);
  const auto chosen = ChooseForRollback(read, options.to);
  if (!chosen) return PrintError(chosen.error());
  std::cout << "rolling back to " << DescribeRollback(read, *chosen) << std::flush;
  const std::string name =
      fmt::format("generation {} of {}", chosen->number, chosen->info.manifest);
  auto cluster = LoadCluster(chosen->info.manifest_text, name, {});
  if (!cluster) return kUsageOrManifest;
  if (const auto used = UseAccessOf(current->spec, cluster->spec); !used) {
    return PrintError(used.error(), kUsageOrManifest);
  }
  ReverseMoves(current->spec, cluster->spec);
  GenerationInfo info =
      MakeGenerationInfo(cluster->spec, cluster->text, options.selection.manifest);
  info.commit = chosen->info.commit;  // of the text that is applied, not of the file as it is now
  info.dirty = chosen->info.dirty;
  info.rolled_back_to = chosen->number;
  const int code = RunApply(*cluster, {}, std::nullopt, info, options.flags, context, log);
  if (code == kFine && current->spec.digest != cluster->spec.digest) {
    std::cout << fmt::format(
        "rolled back to generation {}; {} still differs: its next apply returns to it (history "
        "--show {} prints the text)\n",
        chosen->number, options.selection.manifest, chosen->number);
  }
  return code;
}

}  // namespace

void AddRollback(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "rollback", "Apply the manifest of an earlier generation, as stored on the nodes");
  auto options = std::make_shared<RollbackOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--to", options->to, "Its number; left out: the one before the newest")
      ->transform(InRange(0, 1000000));
  options->flags.has_node = false;
  AddApplyFlags(*command, options->flags);
  command->add_flag("--allow-node-removal", options->flags.allow_node_removal,
                    "Go on although nodes that were applied to are not in that manifest");
  command->callback([&context, options] {
    context.judges_nodes = true;
    context.exit_code =
        RunWithEvents(options->flags, {{options->selection.manifest, "manifest"}},
                      [&](EventLog& log) { return RunRollback(*options, context, log); });
  });
}

}  // namespace reconciler::cli
