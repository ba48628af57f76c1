#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {

void AddValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Check a manifest; needs no node");
  auto selection = std::make_shared<Selection>();
  AddManifest(*command, *selection);
  command->callback([&context, selection] {
    const auto cluster = OpenCluster(*selection);
    if (!cluster) {
      context.exit_code = kUsageOrManifest;
      return;
    }
    std::cout << selection->manifest << ": valid · " << cluster->spec.name << " · "
              << FormatPlural(cluster->spec.nodes.size(), "node", "nodes") << " · "
              << cluster->fabric.summary << '\n';
    for (const Diagnostic& diagnostic : cluster->fabric.diagnostics)
      std::cout << FormatDiagnostic(diagnostic);
  });
}

}  // namespace reconciler::cli
