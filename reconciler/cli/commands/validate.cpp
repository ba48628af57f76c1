#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cluster/validation.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {
namespace {

struct ValidateOptions {
  Selection selection = {};
  std::string format = "text";
};

constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kReset = "\033[0m";

void PrintValid(const std::string& manifest, const Cluster& cluster, bool colour) {
  std::cout << MakePrintable(manifest) << ": " << (colour ? kGreen : "") << "valid"
            << (colour ? kReset : "") << " · " << cluster.spec.name << " · "
            << FormatPlural(cluster.spec.nodes.size(), "node", "nodes") << " · "
            << cluster.fabric.summary << '\n';
  for (const Diagnostic& diagnostic : cluster.fabric.diagnostics) {
    std::cout << FormatDiagnostic(diagnostic, PlaceForm::kColumn);
  }
}

// What is wrong in red; below it the source and the hint as they are.
void PrintInvalid(const Errors& errors, bool colour) {
  for (const std::string& line : SplitLines(FormatErrors(errors))) {
    const bool red = colour && !line.starts_with(' ');
    std::cerr << (red ? kRed : "") << line << (red ? kReset : "") << '\n';
  }
}

int RunValidate(const ValidateOptions& options, const Context& context) {
  const bool is_stdin = options.selection.manifest == "-";
  const std::string manifest = is_stdin ? "stdin" : options.selection.manifest;
  const auto text = is_stdin ? ReadTextFile("/dev/stdin", kMostManifest) : ReadManifest(manifest);
  if (!text) return PrintError(text.error(), kUsageOrManifest);
  const auto cluster = BuildCluster(*text, manifest, plugins::GetAll());
  if (options.format == "json") {
    std::cout << FormatDocument(ToJson(manifest, cluster));
  } else if (cluster) {
    PrintValid(manifest, *cluster, context.ColourOnStdout());
  } else {
    PrintInvalid(cluster.error(), context.ColourOnStderr());
  }
  return cluster ? kFine : kUsageOrManifest;
}

}  // namespace

void AddValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Check a manifest; needs no node");
  auto options = std::make_shared<ValidateOptions>();
  AddPath(*command, "manifest", options->selection.manifest, "The cluster's manifest; - is stdin")
      ->capture_default_str();
  command->add_option("--format", options->format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunValidate(*options, context); });
}

}  // namespace reconciler::cli
