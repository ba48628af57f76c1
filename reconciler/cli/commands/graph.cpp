#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/report_output.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/planning/layout.h"
#include "reconciler/verify/report/cable_rates.h"

namespace reconciler::cli {
namespace {

struct GraphOptions {
  Selection selection = {};
  std::string format = "text";
  std::string report = {};  // a path; empty: none
};

// What the report's run measured of the drawing's cables; nullopt: an error was printed.
std::optional<CableRates> ReadRates(const GraphOptions& options, const Cluster& cluster,
                                    const Drawing& drawing) {
  if (options.report.empty()) return CableRates{};
  const auto report = ReadReportFile(options.report);
  if (!report) return std::nullopt;
  if (report->cluster != cluster.spec.name) {
    PrintError({.kind = ErrorKind::kInput,
                .message = MakePrintable(options.report) + ": is of cluster " + report->cluster +
                           ", and the manifest describes " + cluster.spec.name},
               kUsageOrManifest);
    return std::nullopt;
  }
  return FindCableRates(drawing, *report);
}

int RunGraph(const GraphOptions& options, const Context& context) {
  if (!options.report.empty() && options.format == "text") {
    return PrintError({.message = "--report goes with a drawing: it needs --format svg, dot, "
                                  "mermaid or json"},
                      kUsageOrManifest);
  }
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const Drawing drawing = BuildDrawing(cluster->spec, cluster->fabric);
  const auto rates = ReadRates(options, *cluster, drawing);
  if (!rates) return kUsageOrManifest;
  if (options.format == "dot") {
    std::cout << DrawDot(drawing, *rates);
  } else if (options.format == "mermaid") {
    std::cout << DrawMermaid(drawing, *rates);
  } else if (options.format == "json") {
    std::cout << FormatDocument(DrawJson(cluster->spec, cluster->fabric, drawing, *rates));
  } else if (options.format == "svg") {
    std::cout << DrawSvg(drawing, *rates);
  } else {
    std::cout << WrapColumns(DrawFabricText(cluster->spec, cluster->fabric),
                             context.ColumnsOnStdout());
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
      ->check(CLI::IsMember({"text", "dot", "mermaid", "svg", "json"}))
      ->capture_default_str();
  AddPath(*command, "--report", options->report,
          "Colour each cable by what this saved report of `verify` measured of it");
  command->callback([&context, options] { context.exit_code = RunGraph(*options, context); });
}

}  // namespace reconciler::cli
