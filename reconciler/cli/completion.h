#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace reconciler::cli {

// The script by which a shell ("bash", "zsh" or "fish") completes our arguments. It calls
// `spark-reconcile __complete -- WORD…`. Empty: no such shell.
std::string_view FindCompletionScript(std::string_view shell);

// What may stand in place of the last of `words` (all that follow the program's name), without
// regard to what it begins with: commands, options, values of options, nodes of the manifest that
// is among the words (or cluster.yaml). Empty: files.
std::vector<std::string> ListCompletions(const CLI::App& app,
                                         const std::vector<std::string>& words);

}  // namespace reconciler::cli
