#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/base/result.h"

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace reconciler::cli {

// Puts every command into its group of `spark-reconcile help`, and an example and the exit codes
// below its own help. Precondition: all commands have been added.
void AddCommandTexts(CLI::App& app);

// The commands of the program or of a command, without hidden ones, in the order of their help.
std::vector<const CLI::App*> ListCommands(const CLI::App& app);

// Why `option` is unknown where it is --format, and what a program reads instead; nothing for other
// options.
std::optional<Error> ExplainNoFormat(const CLI::App& command, std::string_view option);

// "unknown command 'aply', did you mean 'apply'?"; `what`: "command", "option" or "argument".
Error MakeUnknownError(const std::string& what, const std::string& word,
                       const std::vector<std::string>& known, std::string hint);

// The command of the program that these words call; none: the program. An error names what is near.
Result<const CLI::App*> FindNamedCommand(const CLI::App& app,
                                         const std::vector<std::string>& words);

// Of help whose lines have at most so many columns, but for examples, which can be copied. 0: as
// long as they are.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter(std::size_t columns);

// As --help prints it, for the program or a command of it.
std::string FormatHelp(const CLI::App& app);

}  // namespace reconciler::cli
