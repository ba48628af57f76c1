#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/fabric/bootstrap.h"
#include "reconciler/fabric/drawing/hostfile.h"

namespace reconciler::cli {
namespace {

struct HostfileOptions {
  Selection selection = {};
  std::string format = "openmpi";
  std::string network = {};  // empty: what the manifest says
};

// nullptr: management addresses.
Result<const Segment*> ChooseRail(const HostfileOptions& options, const Cluster& cluster) {
  const bool is_fabric = options.network.empty() ? ReadBootstrap(cluster.spec) == Bootstrap::kFabric
                                                 : options.network == "fabric";
  if (!is_fabric) return nullptr;
  if (const Segment* rail = FindBootstrapRail(cluster.spec, cluster.fabric)) return rail;
  return Fail({.kind = ErrorKind::kUsage,
               .message = fmt::format("{}: wanted a rail that reaches every node, found none: {}",
                                      cluster.spec.file,
                                      ExplainNoBootstrapRail(cluster.spec, cluster.fabric)),
               .hint = "use --network management"});
}

int RunHostfile(const HostfileOptions& options) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto rail = ChooseRail(options, *cluster);
  if (!rail) return PrintError(rail.error(), kUsageOrManifest);
  if (options.format == "json") {
    std::cout << FormatDocument(HostfileToJson(cluster->spec, cluster->fabric, *rail));
    return kFine;
  }
  const HostfileKind kind = options.format == "mpich"      ? HostfileKind::kMpich
                            : options.format == "torchrun" ? HostfileKind::kTorchrun
                                                           : HostfileKind::kOpenMpi;
  std::cout << FormatHostfile(cluster->spec, cluster->fabric, kind, *rail);
  return kFine;
}

}  // namespace

void AddHostfile(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("hostfile", "Print where ranks run, for MPI or torchrun; needs no node");
  auto options = std::make_shared<HostfileOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--format", options->format, "For which launcher; or json")
      ->check(CLI::IsMember({"openmpi", "mpich", "torchrun", "json"}))
      ->capture_default_str();
  command
      ->add_option("--network", options->network,
                   "Whose addresses: management or fabric, the first rail that reaches every node "
                   "(default: the manifest's nccl.bootstrap)")
      ->check(CLI::IsMember({"management", "fabric"}));
  command->callback([&context, options] { context.exit_code = RunHostfile(*options); });
}

}  // namespace reconciler::cli
