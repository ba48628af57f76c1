#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/fabric/drawing/hostfile.h"

namespace reconciler::cli {
namespace {

struct HostfileOptions {
  Selection selection = {};
  std::string format = "openmpi";
};

int RunHostfile(const HostfileOptions& options) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const HostfileKind kind = options.format == "mpich"      ? HostfileKind::kMpich
                            : options.format == "torchrun" ? HostfileKind::kTorchrun
                                                           : HostfileKind::kOpenMpi;
  std::cout << FormatHostfile(cluster->spec, cluster->fabric, kind);
  return kFine;
}

}  // namespace

void AddHostfile(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("hostfile", "Print where ranks run, for MPI or torchrun; needs no node");
  auto options = std::make_shared<HostfileOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--format", options->format, "For which launcher")
      ->check(CLI::IsMember({"openmpi", "mpich", "torchrun"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunHostfile(*options); });
}

}  // namespace reconciler::cli
