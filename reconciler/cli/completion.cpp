#include "reconciler/cli/completion.h"

#include <CLI/CLI.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/command_texts.h"
#include "reconciler/cli/completion.bash.h"
#include "reconciler/cli/completion.fish.h"
#include "reconciler/cli/completion.zsh.h"
#include "reconciler/cli/context.h"
#include "reconciler/manifest/load.h"
#include "reconciler/transport/text_file.h"
#include "schema/embedded.h"

namespace reconciler::cli {
namespace {

using Words = std::vector<std::string>;

bool IsManifestName(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

Words ListNodes(const Words& words) {
  std::string manifest = Selection().manifest;
  for (const std::string& word : words) {
    if (IsManifestName(word)) manifest = word;
  }
  Words nodes;
  const auto text = ReadTextFile(manifest);
  if (!text) return nodes;
  const auto spec = LoadClusterSpec(*text, manifest);
  if (!spec) return nodes;
  for (const NodeSpec& node : spec->nodes) nodes.push_back(node.name);
  return nodes;
}

Words ListPlugins() {
  Words names;
  for (const Plugin& plugin : plugins::GetAll()) names.emplace_back(plugin.name);
  return names;
}

Words ListCodes() {
  Words codes;
  for (const std::string_view code : ListEmbeddedDiagnoses()) codes.emplace_back(code);
  return codes;
}

// CLI11 keeps the values that CLI::IsMember takes in the name of the type only: "TEXT:{a,b}".
Words ListMembers(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return Split(type.substr(open + 1, close - open - 1), ',');
}

Words ListCommandNames(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : ListCommands(app)) names.push_back(command->get_name());
  return names;
}

// The command that the words name; what they say to it is passed over.
const CLI::App& FindCommand(const CLI::App& app, const Words& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    for (const CLI::App* command : ListCommands(*found)) {
      if (command->get_name() != word) continue;
      found = command;
      break;
    }
  }
  return *found;
}

const CLI::Option* FindOption(const CLI::App& command, const std::string& word) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      if (word.starts_with('-') && option->check_name(word)) return option;
    }
  }
  return nullptr;
}

Words ListValues(const CLI::Option& option, const Words& words) {
  if (option.check_name("--node") || option.check_name("--exclude")) return ListNodes(words);
  if (option.check_name("--only")) return ListPlugins();
  return ListMembers(option);
}

Words ListOptions(const CLI::App& command) {
  Words names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

Words ListPositional(const CLI::App& app, const CLI::App& command, const Words& words) {
  const std::string& name = command.get_name();
  if (name == "help") return ListCommandNames(app);
  if (name == "explain") return ListCodes();
  if (name == "env" || name == "remove-node") {
    return words.size() == 2 ? ListNodes(words) : Words();
  }
  // Where a manifest may stand too, files come first.
  const bool takes_manifest = command.get_option_no_throw("manifest") != nullptr;
  if (Words commands = ListCommandNames(command);
      !commands.empty() && !(takes_manifest && words.back().empty())) {
    return commands;
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) return ListMembers(*option);
  }
  return {};
}

}  // namespace

std::string_view FindCompletionScript(std::string_view shell) {
  if (shell == "bash") return kCompletionBash;
  if (shell == "zsh") return kCompletionZsh;
  if (shell == "fish") return kCompletionFish;
  return {};
}

std::vector<std::string> ListCompletions(const CLI::App& app,
                                         const std::vector<std::string>& words) {
  if (words.empty()) return ListCommandNames(app);
  const Words before(words.begin(), words.end() - 1);
  const CLI::App& command = FindCommand(app, before);
  if (words.back().starts_with('-')) return ListOptions(command);
  if (!before.empty()) {
    const CLI::Option* option = FindOption(command, before.back());
    if (option != nullptr && option->get_items_expected_max() > 0) {
      return ListValues(*option, before);
    }
  }
  return ListPositional(app, command, words);
}

}  // namespace reconciler::cli
