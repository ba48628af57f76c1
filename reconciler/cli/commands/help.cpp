#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/command_texts.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

int RunHelp(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : ListCommands(*found)) {
      names.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      return PrintError(
          MakeUnknownError("command", word, names, "`spark-reconcile help` lists all commands"),
          kUsageOrManifest);
    }
    found = next;
  }
  std::cout << FormatHelp(*found);
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
