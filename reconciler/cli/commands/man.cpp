#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "reconciler/cli/build_info.h"
#include "reconciler/cli/command_texts.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/man_page.h"

namespace reconciler::cli {

void AddMan(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("man", "Print the manual page, or that of one command, for `man -l -`");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "The command; none: the program with all of them");
  command->callback([&app, &context, words] {
    const auto found = FindNamedCommand(app, *words);
    if (!found) {
      context.exit_code = PrintError(found.error(), kUsageOrManifest);
      return;
    }
    std::cout << FormatManPage(**found, SPARK_VERSION, kBuildDate);
  });
}

}  // namespace reconciler::cli
