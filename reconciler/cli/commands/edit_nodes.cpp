#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "reconciler/base/text.h"
#include "reconciler/base/unified_diff.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/manifest/edit_nodes.h"

namespace reconciler::cli {
namespace {

struct EditOptions {
  Selection selection = {};
  NewNode node = {};
  bool yes = false;
};

// Shows what would change; whether the result is a valid manifest.
bool ShowEdit(const Cluster& cluster, const EditedManifest& edited, const std::string& path) {
  if (!LoadCluster(edited.text, path, {})) {
    std::cerr << fmt::format(
        "{} was not changed: with this edit alone it would have the errors above\n"
        "  hint: make the edit by hand, with what else belongs to it\n",
        MakePrintable(path));
    return false;
  }
  std::cout << MakeUnifiedDiff(cluster.text, edited.text);
  for (const std::string& remark : edited.remarks) std::cout << "note: " << remark << '\n';
  if (!edited.cables.empty()) {
    std::cout << "cables (p0 is the left cage, p1 the right one, seen from the back):\n";
  }
  for (const std::string& cable : edited.cables) std::cout << "  " << cable << '\n';
  std::cout << std::flush;
  return true;
}

int RunAddNode(const EditOptions& options) {
  const std::string& path = options.selection.manifest;
  const FolderLock lock(path);
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto edited = AddNode(cluster->text, cluster->spec, options.node);
  if (!edited) return PrintError(edited.error(), kUsageOrManifest);
  if (!ShowEdit(*cluster, *edited, path)) return kUsageOrManifest;
  const auto replaced = ReplaceUnchanged(path, cluster->text, edited->text);
  if (!replaced) return PrintError(replaced.error(), kUsageOrManifest);
  std::cout << fmt::format(
      "next: spark-reconcile trust {0}, access {0}, plan {0}; then apply {0}\n",
      FormatArgument(path));
  return kFine;
}

int RunRemoveNode(const EditOptions& options) {
  const std::string& path = options.selection.manifest;
  std::optional<FolderLock> lock;
  if (options.yes) lock.emplace(path);  // not while a question waits
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const NodeName& name = options.node.name;
  const auto edited = RemoveNode(cluster->text, cluster->spec, name);
  if (!edited) return PrintError(edited.error(), kUsageOrManifest);
  if (!ShowEdit(*cluster, *edited, path)) return kUsageOrManifest;
  const std::string uninstall =
      fmt::format("spark-reconcile uninstall {} --node {}", FormatArgument(path), name);
  std::cout
      << fmt::format(
             "note: {0} keeps what was applied to it, unless `{1}` ran before: afterwards {2} "
             "does not name it\n",
             name, uninstall, MakePrintable(path))
      << std::flush;
  if (!Confirm(fmt::format("Take {} out of {}?", name, MakePrintable(path)), options.yes,
               "run `" + uninstall + "`, then give --yes")) {
    return kUsageOrManifest;
  }
  if (!lock) lock.emplace(path);
  const auto replaced = ReplaceUnchanged(path, cluster->text, edited->text);
  if (!replaced) return PrintError(replaced.error(), kUsageOrManifest);
  std::cout << fmt::format("next: spark-reconcile plan {0}; then apply {0} --allow-node-removal\n",
                           FormatArgument(path));
  return kFine;
}

}  // namespace

void AddAddNode(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("add-node", "Write one more node into the manifest");
  auto options = std::make_shared<EditOptions>();
  command->add_option("name", options->node.name, "The new node's name")->required();
  command->add_option("address", options->node.address, "Its management address")->required();
  AddManifest(*command, options->selection);
  command->add_flag("--switch", options->node.to_switch,
                    "A switch takes the place of the cables between nodes");
  command->callback([&context, options] { context.exit_code = RunAddNode(*options); });
}

void AddRemoveNode(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("remove-node", "Take a node out of the manifest");
  auto options = std::make_shared<EditOptions>();
  command->add_option("name", options->node.name, "The node's name")->required();
  AddManifest(*command, options->selection);
  command->add_flag("--yes,-y", options->yes, "Without a question");
  command->callback([&context, options] { context.exit_code = RunRemoveNode(*options); });
}

}  // namespace reconciler::cli
