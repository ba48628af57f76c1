#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/cli/context.h"
#include "schema/embedded.h"

namespace reconciler::cli {

void AddSchema(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand(
      "schema", "Print a JSON Schema: of the manifest, or of a document that this program writes");
  std::vector<std::string> names;
  for (const std::string_view one : ListEmbeddedSchemas()) names.emplace_back(one);
  auto name = std::make_shared<std::string>("cluster");
  command->add_option("name", *name, "Which one")
      ->check(CLI::IsMember(std::move(names)))
      ->capture_default_str();
  command->callback([name] { std::cout << FindEmbeddedSchema(*name); });
}

}  // namespace reconciler::cli
