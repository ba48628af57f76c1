#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/render.h"

namespace reconciler::cli {
namespace {

struct PlanOptions {
  Selection selection = {};
  std::string format = "text";
  std::string out = {};
  bool detailed_exit_code = false;
  bool brief = false;
};

void Print(const Plan& plan, const PlanOptions& options, const Context& context) {
  if (options.format == "json") {
    std::cout << Dump(ToJson(HideForeignContent(plan)));
  } else if (options.format == "markdown") {
    std::cout << RenderMarkdown(plan);
  } else {
    std::cout << RenderText(plan, {.colour = context.ColourOnStdout(),
                                   .diffs = !options.brief,
                                   .columns = context.ColumnsOnStdout()});
  }
}

int RunPlan(const PlanOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial);
  const ClusterFacts facts = GatherWithProgress(*cluster, options.selection, pool);
  const auto plan =
      MakePlan(cluster->spec, cluster->fabric, facts, plugins::GetAll(), options.selection.scope);
  if (!plan) return PrintError(plan.error(), kUsageOrManifest);
  Print(*plan, options, context);
  if (!options.out.empty()) {
    const auto written = WritePrivateFile(options.out, Dump(ToJson(HideForeignContent(*plan))));
    if (!written) return PrintError(written.error(), kUsageOrManifest);
  }
  if (!facts.unreachable.empty()) return kNodeUnreadable;  // such a plan is not complete
  if (!options.out.empty()) {
    std::cerr << "saved to " << options.out << "; apply it with: spark-reconcile apply "
              << FormatArgument(options.out) << '\n';
  }
  return options.detailed_exit_code && plan->IsPending() ? kPending : kFine;
}

void AddPrinting(CLI::App& command, PlanOptions& options) {
  AddManifest(command, options.selection);
  AddScope(command, options.selection);
  command.add_option("--format", options.format, "How to print it")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  command.add_flag("--overwrite-edited", options.selection.scope.overwrite_edited,
                   "Write files again that were edited since we wrote them");
  command.add_flag("--brief", options.brief, "One line per change, without the files' diffs");
}

}  // namespace

void AddPlan(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("plan", "Show what differs from the manifest and what would be done");
  auto options = std::make_shared<PlanOptions>();
  AddPrinting(*command, *options);
  command->add_flag("--allow-half-cables", options->selection.scope.allow_half_cables,
                    "Plan links although the other end is blocked");
  command->add_option("--out", options->out, "Save the plan, to be carried out by `apply FILE`");
  command->add_flag("--detailed-exitcode", options->detailed_exit_code,
                    "Exit 2 when changes are pending or blocked, or something is warned of");
  command->callback([&context, options] { context.exit_code = RunPlan(*options, context); });
}

void AddDrift(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("drift", "Exit 2 and show what, when a node differs from the manifest");
  auto options = std::make_shared<PlanOptions>();
  options->detailed_exit_code = true;
  AddPrinting(*command, *options);
  command->callback([&context, options] { context.exit_code = RunPlan(*options, context); });
}

}  // namespace reconciler::cli
