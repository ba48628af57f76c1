#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/catalogue/explain.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

int RunExplain(const std::string& name, const std::string& format, const Context& context) {
  if (name.empty()) {
    std::cout << (format == "markdown" ? RenderCatalogue()
                                       : ListExplained(context.ColumnsOnStdout()));
    return kFine;
  }
  const auto text = Explain(name, context.ColumnsOnStdout());
  if (!text) return PrintError(text.error(), kUsageOrManifest);
  std::cout << *text;
  return kFine;
}

}  // namespace

void AddExplain(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say what a code of a plan or a report means, or a key of the manifest");
  auto name = std::make_shared<std::string>();
  auto format = std::make_shared<std::string>("text");
  command->add_option("name", *name,
                      "A code like path-mtu or a key like fabric.mtu; none: all codes");
  command->add_option("--format", *format, "How to print the list of all codes")
      ->check(CLI::IsMember({"text", "markdown"}))
      ->capture_default_str();
  command->callback(
      [&context, name, format] { context.exit_code = RunExplain(*name, *format, context); });
}

}  // namespace reconciler::cli
