#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <tuple>

#include "reconciler/base/unified_diff.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/manifest/edit_nodes.h"
#include "reconciler/transport/posix.h"

namespace reconciler::cli {
namespace {

struct EditOptions {
  Selection selection = {};
  NewNode node = {};
  bool yes = false;
};

Error MakeWriteError(const std::string& path) {
  return {.kind = ErrorKind::kUsage,
          .message = fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A file beside it, then a rename: the manifest is the old one or the new one, never half of it.
// A link stays a link; the file keeps its mode, and its owner where that is allowed.
Result<void> ReplaceFile(const std::string& path, const std::string& text) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr),
                                                           &std::free);
  struct stat was {};
  if (target == nullptr || stat(target.get(), &was) != 0) return Fail(MakeWriteError(path));
  std::string beside = std::string(target.get()) + ".XXXXXX";
  const UniqueFd file(mkostemp(beside.data(), O_CLOEXEC));
  if (!file.Open()) return Fail(MakeWriteError(path));
  std::ignore = fchown(file.Get(), was.st_uid, was.st_gid);
  const bool replaced = WriteAll(file.Get(), text) &&
                        fchmod(file.Get(), was.st_mode & 07777) == 0 && fsync(file.Get()) == 0 &&
                        rename(beside.c_str(), target.get()) == 0;
  if (replaced) return {};
  Error error = MakeWriteError(path);
  unlink(beside.c_str());
  return Fail(std::move(error));
}

// Shows what would change; whether the result is a valid manifest.
bool ShowEdit(const Cluster& cluster, const EditedManifest& edited, const std::string& path) {
  if (!LoadCluster(edited.text, path, {})) {
    std::cerr << fmt::format(
        "{} was not changed: with this edit alone it would have the errors above\n"
        "  hint: make the edit by hand, with what else belongs to it\n",
        path);
    return false;
  }
  std::cout << MakeUnifiedDiff(cluster.text, edited.text);
  for (const std::string& remark : edited.remarks) std::cout << "note: " << remark << '\n';
  std::cout << std::flush;
  return true;
}

int RunAddNode(const EditOptions& options) {
  const std::string& path = options.selection.manifest;
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto edited = AddNode(cluster->text, cluster->spec, options.node);
  if (!edited) return PrintError(edited.error(), kUsageOrManifest);
  if (!ShowEdit(*cluster, *edited, path)) return kUsageOrManifest;
  if (const auto replaced = ReplaceFile(path, edited->text); !replaced) {
    return PrintError(replaced.error(), kUsageOrManifest);
  }
  std::cout << fmt::format(
      "next: spark-reconcile trust {0}, access {0}, plan {0}; then apply {0}\n", path);
  return kFine;
}

int RunRemoveNode(const EditOptions& options) {
  const std::string& path = options.selection.manifest;
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const NodeName& name = options.node.name;
  const auto edited = RemoveNode(cluster->text, cluster->spec, name);
  if (!edited) return PrintError(edited.error(), kUsageOrManifest);
  if (!ShowEdit(*cluster, *edited, path)) return kUsageOrManifest;
  const std::string uninstall = fmt::format("spark-reconcile uninstall {} --node {}", path, name);
  if (!Confirm(
          fmt::format("{0} keeps what was applied to it, unless `{1}` ran before. Take {0} out "
                      "of {2}?",
                      name, uninstall, path),
          options.yes, "run `" + uninstall + "`, then give --yes")) {
    return kUsageOrManifest;
  }
  if (const auto replaced = ReplaceFile(path, edited->text); !replaced) {
    return PrintError(replaced.error(), kUsageOrManifest);
  }
  std::cout << fmt::format("next: spark-reconcile plan {0}; then apply {0}\n", path);
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
                    "A switch takes the place of the cable between two nodes");
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
