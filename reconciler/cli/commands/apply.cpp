#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/registry.h"
#include "reconciler/apply/new_generation.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/plan_maker.h"
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

struct GivenFile {
  std::string text = {};
  std::optional<Plan> saved = std::nullopt;  // nullopt: the file is a manifest
};

// Once, since it may be a pipe. A saved plan decides over the manifest and the scope.
Result<GivenFile> ReadGivenFile(ApplyOptions& options) {
  auto text = ReadManifest(options.selection.manifest, kMostText);
  if (!text) return Fail(text.error());
  const std::string name = MakePrintable(options.selection.manifest);
  auto plan = ParseSavedPlan(*text, name);
  if (!plan) return Fail(plan.error());
  if (!*plan && !options.manifest_of_plan.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "--manifest goes with a saved plan, found the manifest " + name,
                 .hint = "leave --manifest out"});
  }
  if (!*plan) return GivenFile{std::move(*text)};
  const PlanScope& given = options.selection.scope;
  if (!given.nodes.empty() || !given.only.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "--node and --only do not go with a saved plan: it is applied whole",
                 .hint = "give them to `plan --out`"});
  }
  const auto permitted = CheckPermitted(
      **plan, name,
      {.half_cables = options.flags.allow_half_cables, .overwrite_edited = given.overwrite_edited});
  if (!permitted) return Fail(permitted.error());
  options.selection.manifest = options.manifest_of_plan.empty()
                                   ? FindManifestOf(**plan, options.selection.manifest)
                                   : options.manifest_of_plan;
  options.selection.scope = MakeScope(**plan);
  return GivenFile{std::move(*text), std::move(*plan)};
}

// Whether the plan in the file, where it is one, is of the manifest as it is now. Prints why not.
int CheckGiven(const GivenFile& given, const ApplyOptions& options, const ClusterSpec& cluster) {
  if (!given.saved) return kFine;
  if (const auto same = CheckSameManifest(*given.saved, cluster); !same) {
    return PrintError(same.error(), kStalePlan);
  }
  const auto known = CheckScope(cluster, plugins::GetAll(), options.selection.scope);
  return known ? kFine : PrintError(known.error(), kUsageOrManifest);
}

int RunApplyOf(const GivenFile& given, const ApplyOptions& options, const Context& context,
               EventLog& log) {
  const std::string& manifest = options.selection.manifest;
  const auto text =
      given.saved ? ReadTextFile(manifest, kMostManifest) : Result<std::string>(given.text);
  if (!text) {
    Error error = text.error();
    error.hint = "it is the manifest of the saved plan; --manifest names it where it is now";
    return PrintError(error, kUsageOrManifest);
  }
  // A node of a saved plan that has left the manifest since is no mistake of the command line.
  const PlanScope scope = given.saved ? PlanScope{} : options.selection.scope;
  const auto cluster = LoadCluster(*text, manifest, scope);
  if (!cluster) return kUsageOrManifest;
  if (const int code = CheckGiven(given, options, cluster->spec); code != kFine) return code;
  return RunApply(*cluster, options.selection.scope, given.saved,
                  MakeGenerationInfo(cluster->spec, cluster->text, manifest), options.flags,
                  context, log);
}

int RunApplyCommand(ApplyOptions options, const Context& context) {
  const std::string file = options.selection.manifest;
  const auto given = ReadGivenFile(options);
  const bool is_plan = given && given->saved;
  const std::vector<InputFile> inputs = {{file, is_plan ? "saved plan" : "manifest"},
                                         {options.selection.manifest, "manifest"},
                                         {options.manifest_of_plan, "manifest"}};
  return RunWithEvents(options.flags, inputs, [&](EventLog& log) {
    return given ? RunApplyOf(*given, options, context, log)
                 : PrintError(given.error(), kUsageOrManifest);
  });
}

}  // namespace

void AddApply(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("apply", "Make the nodes match the manifest, and prove that they do");
  auto options = std::make_shared<ApplyOptions>();
  AddPath(*command, "file", options->selection.manifest,
          "A manifest, or a plan saved by `plan --out`")
      ->capture_default_str();
  AddScope(*command, options->selection);
  AddPath(*command, "--manifest", options->manifest_of_plan,
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
