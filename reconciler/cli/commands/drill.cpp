#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reconciler/apply/drill_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/node/lock.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

struct DrillOptions {
  Selection selection = {};
  GuardTimes times = {};
  std::string format = "text";
};

ExitCode FindDrillCode(const DrillReport& report) {
  if (report.errors.empty()) return kFine;
  const ErrorKind kind = report.errors.front().kind;
  if (kind == ErrorKind::kTransport) return kNodeUnreadable;
  if (report.began) return kMixed;
  return kind == ErrorKind::kLocked ? kLocked : kNodeUnreadable;
}

int RunDrill(const DrillOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const int limit_s = options.times.revert_after;
  std::vector<std::pair<NodeName, DrillReport>> drills;
  int code = kFine;
  for (const NodeSpec* node : SelectNodes(cluster->spec, options.selection.scope.nodes)) {
    const std::string announced =
        fmt::format("{}: a harmless apply whose controller vanishes; it must be reverted in {} s\n",
                    node->name, limit_s);
    std::cerr << WrapLines(announced, context.ColumnsOnStderr());
    DrillReport report = Drill(*node, pool, options.times, FormatLease());
    for (const std::string& line : report.ended) std::cerr << line << '\n';
    std::cerr << FormatErrors(report.errors);
    const ExitCode found = FindDrillCode(report);
    if (found != kFine) {
      if (code == kFine || found == kMixed) code = found;  // a revert that failed counts most
    } else if (options.format == "text") {
      std::cout << FormatDrill(node->name, report, limit_s, context.ColumnsOnStdout())
                << std::flush;
    }
    drills.emplace_back(node->name, std::move(report));
  }
  if (options.format == "json") std::cout << FormatDocument(DrillsToJson(drills, limit_s));
  return code;
}

}  // namespace

void AddDrill(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "drill", "Prove on a node that an apply whose controller vanishes is reverted");
  auto options = std::make_shared<DrillOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection)->required();
  command
      ->add_option("--revert-after", options->times.revert_after,
                   "Seconds without a controller after which the node must revert")
      ->transform(InRange(5, 3600))
      ->capture_default_str();
  command->add_option("--format", options->format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&context, options] {
    context.judges_nodes = true;
    context.exit_code = RunDrill(*options, context);
  });
}

}  // namespace reconciler::cli
