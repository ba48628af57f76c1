#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/manifest/starter.h"

namespace reconciler::cli {
namespace {

struct InitOptions {
  std::string path = "cluster.yaml";
  std::string topology = "direct";
  std::optional<std::size_t> nodes = std::nullopt;
  std::vector<std::string> addresses = {};
  std::string user = "nvidia";
};

Starter MakeStarter(const InitOptions& options) {
  Starter starter{.addresses = options.addresses, .user = options.user};
  std::size_t usual = 2;
  if (options.topology == "ring") {
    starter.topology = Topology::kRing;
    usual = 3;
  } else if (options.topology == "switch") {
    starter.topology = Topology::kSwitch;
    usual = 4;
  }
  starter.nodes =
      options.nodes.value_or(options.addresses.empty() ? usual : options.addresses.size());
  return starter;
}

int RunInit(const InitOptions& options) {
  const Starter starter = MakeStarter(options);
  if (const std::string why = ExplainBadStarter(starter); !why.empty()) {
    std::cerr << fmt::format("--topology {}: {}\n", options.topology, why);
    return kUsageOrManifest;
  }
  const std::string text = FormatStarter(starter);
  // Addresses and the user's name may be anything.
  if (!LoadGenerated(text, "the given options")) return kUsageOrManifest;
  if (options.path == "-") {
    std::cout << text;
    return kFine;
  }
  if (const auto written = WriteNewFile(options.path, text); !written) {
    return PrintError(written.error(), kUsageOrManifest);
  }
  std::cout << fmt::format(
      "{3} is written: {1} nodes. {2} the nodes' names, management addresses and subnets, "
      "then:\n"
      "  spark-reconcile validate {0}\n"
      "  spark-reconcile trust {0}\n"
      "  spark-reconcile access {0}\n"
      "  spark-reconcile plan {0}\n",
      FormatArgument(options.path), starter.nodes, options.addresses.empty() ? "Put in" : "Check",
      MakePrintable(options.path));
  return kFine;
}

}  // namespace

void AddInit(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("init", "Write a manifest with comments to start from; needs no node");
  auto options = std::make_shared<InitOptions>();
  AddPath(*command, "manifest", options->path, "The file to write, '-' to print it")
      ->capture_default_str();
  command->add_option("--topology", options->topology, "How the nodes are cabled")
      ->check(CLI::IsMember({"direct", "ring", "switch"}))
      ->capture_default_str();
  command
      ->add_option("--nodes", options->nodes,
                   "How many; else what the topology needs, 4 on a switch")
      ->transform(InRange<std::size_t>(2, kMostStarterNodes));
  command
      ->add_option("--address", options->addresses,
                   "A node's management address (once per node, in their order)")
      ->allow_extra_args(false);
  command->add_option("--user", options->user, "Who logs in")->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunInit(*options); });
}

}  // namespace reconciler::cli
