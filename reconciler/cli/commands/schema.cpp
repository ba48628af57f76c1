#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/context.h"
#include "schema/embedded.h"

namespace reconciler::cli {

void AddSchema(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand(
      "schema", "Print a JSON Schema: of the manifest, or of a document that this program writes");
  auto name = std::make_shared<std::string>("cluster");
  command->add_option("name", *name, "Which one")
      ->check(CLI::IsMember({"access", "cabling", "cluster", "comparison", "diagnosis", "discovery",
                             "env", "event", "facts", "history", "host-keys", "plan", "report",
                             "validation", "version"}))
      ->capture_default_str();
  command->callback([name] { std::cout << FindEmbeddedSchema(*name); });
}

}  // namespace reconciler::cli
