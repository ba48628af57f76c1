#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/transport/first_access.h"
#include "reconciler/transport/ssh/password.h"

namespace reconciler::cli {
namespace {

constexpr std::string_view kHead =
    "# The program runs one command by sudo: a shell that reads its script from its input.\n"
    "# Whoever may run that may do all that root may. So these lines give as much as a rule\n"
    "# for every command, and none that give less are enough to read or change a node. They\n"
    "# name the command, so that nothing else runs as root without a password. What limits a\n"
    "# login is its key: put from=\"ADDRESS\" of the controller before it in authorized_keys,\n"
    "# and let nothing else use the account.\n";

int RunSudoers(const Selection& selection) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  std::map<std::string, std::vector<NodeName>> users;
  std::vector<NodeName> without;
  std::vector<NodeName> root_here;
  for (const NodeSpec* node : SelectNodes(cluster->spec, selection.scope.nodes)) {
    if (node->access.become == Become::kNone) {
      without.push_back(node->name);
      continue;
    }
    if (node->access.transport == TransportKind::kLocal && geteuid() == 0) {
      root_here.push_back(node->name);
      continue;
    }
    const auto user = FindLoginUser(*node);
    if (!user) return PrintError(user.error(), kUsageOrManifest);
    users[*user].push_back(node->name);
  }
  std::cout << fmt::format("# For {}, by `visudo -f`.\n", kSudoersFile) << kHead;
  for (const auto& [user, nodes] : users) {
    std::cout << fmt::format("\n# On {}:\n{}\n", Join(nodes, ", "), FormatShellSudoersRule(user));
  }
  if (!without.empty()) {
    std::cout << fmt::format("\n# No sudo, by `become: none`: {}\n", Join(without, ", "));
  }
  if (!root_here.empty()) {
    std::cout << fmt::format("\n# No sudo, since root runs the program there: {}\n",
                             Join(root_here, ", "));
  }
  return kFine;
}

}  // namespace

CLI::App* AddSudoers(CLI::App& access, const CLI::Option& manifest, Context& context) {
  CLI::App* command = access.add_subcommand(
      "sudoers", "Print the lines of sudoers that the program needs, and what they give");
  auto selection = std::make_shared<Selection>();
  const CLI::Option* own = AddManifest(*command, *selection);
  AddNodes(*command, *selection);
  command->callback([&context, &manifest, own, selection] {
    if (own->count() == 0 && manifest.count() > 0) selection->manifest = manifest.as<std::string>();
    context.exit_code = RunSudoers(*selection);
  });
  return command;
}

}  // namespace reconciler::cli
