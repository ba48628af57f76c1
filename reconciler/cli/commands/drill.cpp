#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/apply/drill.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/node/lock.h"

namespace reconciler::cli {
namespace {

ExitCode FindDrillCode(const DrillReport& report) {
  if (report.errors.empty()) return kFine;
  const ErrorKind kind = report.errors.front().kind;
  if (kind == ErrorKind::kTransport) return kNodeUnreadable;
  if (report.began) return kMixed;
  return kind == ErrorKind::kLocked ? kLocked : kNodeUnreadable;
}

int RunDrill(const Selection& selection, const GuardTimes& times, const Context& context) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  int code = kFine;
  for (const NodeSpec* node : SelectNodes(cluster->spec, selection.scope.nodes)) {
    std::cerr << fmt::format(
        "{}: a harmless apply whose controller vanishes; it must be reverted in {} s\n", node->name,
        times.revert_after);
    const DrillReport report = Drill(*node, pool, times, FormatLease());
    for (const std::string& line : report.ended) std::cerr << line << '\n';
    std::cerr << FormatErrors(report.errors);
    if (const ExitCode failed = FindDrillCode(report); failed != kFine) {
      code = failed;
      continue;
    }
    std::cout << fmt::format(
        "{}  reverted it {:.1f} s after the last sign of life (limit {} s); as before, byte for "
        "byte: {}\n",
        node->name, report.reverted_after_s, times.revert_after, Join(report.checked, ", "));
  }
  return code;
}

}  // namespace

void AddDrill(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "drill", "Prove on a node that an apply whose controller vanishes is reverted");
  auto selection = std::make_shared<Selection>();
  auto times = std::make_shared<GuardTimes>();
  AddManifest(*command, *selection);
  AddNodes(*command, *selection)->required();
  command
      ->add_option("--revert-after", times->revert_after,
                   "Seconds without a controller after which the node must revert")
      ->check(CLI::Range(5, 3600))
      ->capture_default_str();
  command->callback([&context, selection, times] {
    context.judges_nodes = true;
    context.exit_code = RunDrill(*selection, *times, context);
  });
}

}  // namespace reconciler::cli
