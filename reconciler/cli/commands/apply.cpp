#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/model/json/json.h"

namespace reconciler::cli {
namespace {

struct ApplyOptions {
  Selection selection = {};  // `manifest` may name a saved plan
  std::string manifest_of_plan = {};
  ApplyFlags flags = {};
};

// A saved plan and the scope that it was made for.
Result<std::optional<Plan>> ReadSavedPlan(ApplyOptions& options) {
  const auto text = ReadTextFile(options.selection.manifest);
  if (!text) return Fail(text.error());
  if (!text->starts_with('{')) return std::nullopt;  // a manifest
  auto plan = ParsePlan(*text);
  if (!plan) return Fail(AddContext(std::move(plan).error(), options.selection.manifest));
  if (plan->id != ComputePlanDigest(*plan)) {
    return Fail(
        {.kind = ErrorKind::kInput,
         .message = options.selection.manifest +
                    ": was edited after it was made: its id is not the digest of its content",
         .hint = "make a new plan with `plan --out`"});
  }
  options.selection.manifest =
      options.manifest_of_plan.empty() ? plan->manifest : options.manifest_of_plan;
  if (!options.selection.scope.nodes.empty() || !options.selection.scope.only.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "--node and --only do not go with a saved plan: it is applied whole",
                 .hint = "give them to `plan --out`"});
  }
  for (const PlanNode& node : plan->nodes) options.selection.scope.nodes.push_back(node.name);
  options.selection.scope.only = plan->only;
  options.selection.scope.overwrite_edited = plan->overwrite_edited;
  options.selection.scope.allow_half_cables = plan->allow_half_cables;
  options.selection.scope.uninstall = plan->uninstall;
  return std::move(*plan);
}

int RunApplyCommand(ApplyOptions options, const Context& context) {
  const auto saved = ReadSavedPlan(options);
  if (!saved) return PrintError(saved.error(), kUsageOrManifest);
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  return RunApply(*cluster, options.selection.scope, *saved,
                  MakeGenerationInfo(*cluster, options.selection.manifest), options.flags, context);
}

}  // namespace

void AddApply(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("apply", "Make the nodes match the manifest, and prove that they do");
  auto options = std::make_shared<ApplyOptions>();
  command
      ->add_option("file", options->selection.manifest,
                   "A manifest, or a plan saved by `plan --out`")
      ->capture_default_str();
  AddScope(*command, options->selection);
  command->add_option("--manifest", options->manifest_of_plan,
                      "Where the manifest of a saved plan is now");
  AddApplyFlags(*command, options->flags);
  command->add_flag("--overwrite-edited", options->selection.scope.overwrite_edited,
                    "Write files again that were edited since we wrote them");
  command->add_flag("--allow-node-removal", options->flags.allow_node_removal,
                    "Go on although nodes that were applied to are no longer in the manifest");
  command->callback([&context, options] {
    context.judges_nodes = true;
    context.exit_code = RunApplyCommand(*options, context);
  });
}

}  // namespace reconciler::cli
