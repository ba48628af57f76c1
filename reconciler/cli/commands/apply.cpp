#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "reconciler/apply/new_generation.h"
#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {
namespace {

struct ApplyOptions {
  Selection selection = {};  // `manifest` may name a saved plan
  std::string manifest_of_plan = {};
  ApplyFlags flags = {};
};

// Where the manifest of the plan in `plan_file` is: as the user named it when the plan was made, in
// this folder or in that of the plan; else beside the plan. Where it is nowhere, as it was named.
std::string FindManifestOf(const Plan& plan, const std::string& plan_file) {
  const std::filesystem::path named(plan.manifest);
  const std::filesystem::path folder = std::filesystem::path(plan_file).parent_path();
  for (const auto& path : {named, folder / named, folder / named.filename()}) {
    std::error_code failed;
    if (std::filesystem::is_regular_file(path, failed)) return path.string();
  }
  return plan.manifest;
}

// nullopt: the file is a manifest. A saved plan decides over the manifest and the scope.
Result<std::optional<Plan>> ReadSavedPlan(ApplyOptions& options) {
  const auto text = ReadManifest(options.selection.manifest);
  if (!text) return Fail(text.error());
  auto plan = ParseSavedPlan(*text, options.selection.manifest);
  if (plan && !*plan && !options.manifest_of_plan.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("--manifest goes with a saved plan, found the manifest {}",
                                        options.selection.manifest),
                 .hint = "leave --manifest out"});
  }
  if (!plan || !*plan) return plan;
  const PlanScope& given = options.selection.scope;
  if (!given.nodes.empty() || !given.only.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "--node and --only do not go with a saved plan: it is applied whole",
                 .hint = "give them to `plan --out`"});
  }
  const auto permitted = CheckPermitted(
      **plan, options.selection.manifest,
      {.half_cables = options.flags.allow_half_cables, .overwrite_edited = given.overwrite_edited});
  if (!permitted) return Fail(permitted.error());
  options.selection.manifest = options.manifest_of_plan.empty()
                                   ? FindManifestOf(**plan, options.selection.manifest)
                                   : options.manifest_of_plan;
  options.selection.scope = MakeScope(**plan);
  return plan;
}

int RunApplyCommand(ApplyOptions options, const Context& context) {
  const StdoutToStderr redirected(options.flags.events_file == "-");
  const auto saved = ReadSavedPlan(options);
  if (!saved) return PrintError(saved.error(), kUsageOrManifest);
  if (*saved) {
    if (auto text = ReadTextFile(options.selection.manifest); !text) {
      Error error = std::move(text).error();
      error.hint = "it is the manifest of the saved plan; --manifest names it where it is now";
      return PrintError(error, kUsageOrManifest);
    }
  }
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  return RunApply(*cluster, options.selection.scope, *saved,
                  MakeGenerationInfo(cluster->spec, cluster->text, options.selection.manifest),
                  options.flags, context);
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
