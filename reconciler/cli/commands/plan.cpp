#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/drift/drift_junit.h"
#include "reconciler/planning/drift/drift_metrics.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/may_apply.h"
#include "reconciler/planning/text/render.h"

namespace reconciler::cli {
namespace {

struct PlanOptions {
  Selection selection = {};
  std::string format = "text";
  std::string out = {};
  std::string junit = {};       // of drift; empty: none
  std::string prometheus = {};  // likewise
  bool detailed_exit_code = false;
  bool brief = false;
  bool drift_first = false;  // of drift
};

// `document`: the plan as it is saved, to the byte.
void Print(const Plan& plan, const std::string& document, const PlanOptions& options,
           const Context& context) {
  if (options.format == "json") {
    std::cout << document;
  } else if (options.format == "markdown") {
    std::cout << RenderMarkdown(plan);
  } else {
    std::cout << RenderText(plan, {.colour = context.ColourOnStdout(),
                                   .diffs = !options.brief,
                                   .columns = context.ColumnsOnStdout(),
                                   .drift_first = options.drift_first});
  }
}

// The files of `drift`; all are tried, and the first that cannot be written is the error.
Result<void> WriteDriftFiles(const Plan& plan, const PlanOptions& options, int exit_code) {
  Result<void> junit;
  Result<void> metrics;
  if (!options.junit.empty()) junit = WriteResultFile(options.junit, RenderDriftJunit(plan));
  if (!options.prometheus.empty()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    metrics = PublishFile(options.prometheus, FormatDriftMetrics(plan, exit_code, now_s));
  }
  return junit ? metrics : junit;
}

// `refusal`: why an apply refuses the plan that is saved, where that is known. Whatever differs, it
// cannot be applied then.
int FindPlanCode(const Plan& plan, const PlanOptions& options, bool reached_all,
                 const std::string& refusal) {
  if (!reached_all) return kNodeUnreadable;  // such a plan is not complete
  if (!refusal.empty()) return kUsageOrManifest;
  return options.detailed_exit_code && plan.IsPending() ? kPending : kFine;
}

void DescribeSaved(const std::string& file, const ClusterFacts& facts, const std::string& refusal) {
  if (facts.unreachable.empty()) {
    std::cerr << refusal << "saved to " << MakePrintable(file)
              << (refusal.empty() ? "; apply it with: spark-reconcile apply " + FormatArgument(file)
                                  : ", and apply refuses it: see the errors above")
              << '\n';
    return;
  }
  std::vector<std::string> nodes;
  for (const auto& [node, error] : facts.unreachable) nodes.push_back(node);
  std::cerr << "saved to " << MakePrintable(file) << " without " << Join(nodes, ", ")
            << ", which could not be read: plan again before you apply it\n";
}

int RunPlan(const PlanOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto fit = CheckOutputs({{"--out", options.out},
                                 {"--junit", options.junit},
                                 {"--prometheus", options.prometheus, /*replaced=*/true}},
                                {{options.selection.manifest, "manifest"}});
  if (!fit) return PrintError(fit.error(), kUsageOrManifest);
  NodePool pool(context.dial, context.at_once);
  const ClusterFacts facts = GatherWithProgress(*cluster, options.selection, pool, Purpose::kPlan);
  const auto plan =
      MakePlan(cluster->spec, cluster->fabric, facts, plugins::GetAll(), options.selection.scope);
  if (!plan) return PrintError(plan.error(), kUsageOrManifest);
  const std::string document = FormatDocument(ToJson(HideForeignContent(*plan)));
  Print(*plan, document, options, context);
  if (!options.out.empty()) {
    const auto written = WritePrivateFile(options.out, document);
    if (!written) return PrintError(written.error(), kUsageOrManifest);
  }
  const std::string refusal =
      options.out.empty() ? "" : ExplainRefusal(cluster->spec, facts, *plan);
  const int code = FindPlanCode(*plan, options, facts.unreachable.empty(), refusal);
  if (const auto written = WriteDriftFiles(*plan, options, code); !written) {
    return PrintError(written.error(), kUsageOrManifest);
  }
  if (!options.out.empty()) DescribeSaved(options.out, facts, refusal);
  return code;
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
  AddPath(*command, "--out", options->out, "Save the plan, to be carried out by `apply FILE`");
  command->add_flag("--detailed-exitcode", options->detailed_exit_code,
                    "Exit 2 when changes are pending or blocked, or something is warned of");
  command->callback([&context, options] { context.exit_code = RunPlan(*options, context); });
}

void AddDrift(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("drift", "Exit 2 and show what, when a node differs from the manifest");
  auto options = std::make_shared<PlanOptions>();
  options->detailed_exit_code = true;
  options->drift_first = true;
  AddPrinting(*command, *options);
  AddPath(*command, "--junit", options->junit,
          "Write a test case per node to this file, as JUnit XML for CI systems");
  AddPath(*command, "--prometheus", options->prometheus,
          "Write metrics to this file, for the textfile collector of node_exporter");
  command->callback([&context, options] { context.exit_code = RunPlan(*options, context); });
}

}  // namespace reconciler::cli
