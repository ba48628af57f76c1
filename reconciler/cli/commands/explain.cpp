#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/catalogue/explain.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

int RunExplain(const std::string& name, const std::string& format, const Context& context) {
  if (format == "json") {
    auto document = ExplainAsJson(name);
    if (!document) return PrintError(document.error(), kUsageOrManifest);
    std::cout << FormatDocument(std::move(*document));
    return kFine;
  }
  if (!name.empty() && format == "markdown") {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = "--format markdown is the table of all codes, and takes no name"},
                      kUsageOrManifest);
  }
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
  command->add_option("--format", *format, "How to print it; markdown is the table of all codes")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  command->callback(
      [&context, name, format] { context.exit_code = RunExplain(*name, *format, context); });
}

}  // namespace reconciler::cli
