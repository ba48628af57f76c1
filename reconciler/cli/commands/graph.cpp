#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/fabric/drawing/picture.h"

namespace reconciler::cli {
namespace {

struct GraphOptions {
  Selection selection = {};
  std::string format = "text";
};

int RunGraph(const GraphOptions& options) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const Drawing drawing = BuildDrawing(cluster->spec, cluster->fabric);
  if (options.format == "dot") {
    std::cout << DrawDot(drawing);
  } else if (options.format == "mermaid") {
    std::cout << DrawMermaid(drawing);
  } else if (options.format == "svg") {
    std::cout << DrawSvg(drawing);
  } else {
    std::cout << DrawFabricText(cluster->spec, cluster->fabric);
  }
  return kFine;
}

}  // namespace

void AddGraph(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "graph", "Show the fabric: cables, switches, addresses, and what they can carry");
  auto options = std::make_shared<GraphOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--format", options->format, "How to print it")
      ->check(CLI::IsMember({"text", "dot", "mermaid", "svg"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunGraph(*options); });
}

}  // namespace reconciler::cli
