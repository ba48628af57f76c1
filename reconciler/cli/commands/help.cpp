#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/command_texts.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

int RunHelp(const CLI::App& app, const std::vector<std::string>& words) {
  const auto found = FindNamedCommand(app, words);
  if (!found) return PrintError(found.error(), kUsageOrManifest);
  std::cout << FormatHelp(**found);
  return kFine;
}

}  // namespace

void AddHelp(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("help", "Show the commands, or one with its options");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "The command; none: all of them");
  command->callback([&app, &context, words] { context.exit_code = RunHelp(app, *words); });
}

}  // namespace reconciler::cli
