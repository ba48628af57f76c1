#include "reconciler/cli/completion.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/context.h"

namespace reconciler::cli {
namespace {

// For the scripts that shells run.
void AddComplete(CLI::App& app) {
  CLI::App* command = app.add_subcommand("__complete", "Print what may stand for the last word");
  auto words = std::make_shared<std::vector<std::string>>();
  command->group("")->add_option("words", *words, "What follows the program's name");
  command->callback([&app, words] {
    for (const std::string& word : ListCompletions(app, *words)) std::cout << word << '\n';
  });
}

}  // namespace

void AddCompletion(CLI::App& app, Context&) {
  CLI::App* command =
      app.add_subcommand("completion", "Print the script by which a shell completes arguments");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Which shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->callback([shell] { std::cout << FindCompletionScript(*shell); });
  AddComplete(app);
}

}  // namespace reconciler::cli
