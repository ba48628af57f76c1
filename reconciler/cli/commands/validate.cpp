#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cluster/validation.h"
#include "reconciler/model/json/json.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {
namespace {

struct ValidateOptions {
  Selection selection = {};
  std::string format = "text";
};

void PrintValid(const std::string& manifest, const Cluster& cluster) {
  std::cout << manifest << ": valid · " << cluster.spec.name << " · "
            << FormatPlural(cluster.spec.nodes.size(), "node", "nodes") << " · "
            << cluster.fabric.summary << '\n';
  for (const Diagnostic& diagnostic : cluster.fabric.diagnostics)
    std::cout << FormatDiagnostic(diagnostic);
}

int RunValidate(const ValidateOptions& options) {
  const std::string& manifest = options.selection.manifest;
  const auto text = ReadTextFile(manifest);
  if (!text) return PrintError(text.error(), kUsageOrManifest);
  const auto cluster = BuildCluster(*text, manifest, plugins::GetAll());
  if (options.format == "json") {
    std::cout << Dump(ToJson(manifest, cluster));
  } else if (cluster) {
    PrintValid(manifest, *cluster);
  } else {
    std::cerr << FormatErrors(cluster.error());
  }
  return cluster ? kFine : kUsageOrManifest;
}

}  // namespace

void AddValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Check a manifest; needs no node");
  auto options = std::make_shared<ValidateOptions>();
  AddManifest(*command, options->selection);
  command->add_option("--format", options->format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunValidate(*options); });
}

}  // namespace reconciler::cli
