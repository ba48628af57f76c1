#include "reconciler/cli/context.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/progress.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/gather/verbs_facts.h"
#include "reconciler/manifest/load.h"
#include "reconciler/planning/diagnostics.h"
#include "reconciler/transport/posix.h"
#include "reconciler/verify/report/section.h"
#include "reconciler/yaml/source_text.h"

namespace reconciler::cli {

bool Context::ColourOnStdout() const {
  return !no_colour && std::getenv("NO_COLOR") == nullptr && isatty(STDOUT_FILENO) == 1;
}

void AddManifest(CLI::App& command, Selection& selection) {
  command.add_option("manifest", selection.manifest, "The cluster's manifest")
      ->capture_default_str();
}

void AddScope(CLI::App& command, Selection& selection) {
  // One value per flag: the manifest that follows it is not another one.
  command
      .add_option("--node", selection.scope.nodes, "Only this node (may be given several times)")
      ->allow_extra_args(false);
  command
      .add_option("--only", selection.scope.only,
                  "Only this plugin's resources (may be given several times)")
      ->allow_extra_args(false);
}

Result<std::string> ReadTextFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file fails the stream too, but no call.
  if (!file || (!(text << file.rdbuf()) && errno != 0)) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: cannot be read: {}", path, std::strerror(errno))});
  }
  return text.str();
}

Result<void> WritePrivateFile(const std::string& path, const std::string& text) {
  const auto fail = [&path] {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: cannot be written: {}", path, std::strerror(errno))});
  };
  constexpr mode_t kOwnerOnly = 0600;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return fail();
  // A device or a pipe keeps its mode.
  struct stat found {};
  const bool narrowed =
      fstat(file, &found) == 0 &&
      (!S_ISREG(found.st_mode) || (fchmod(file, kOwnerOnly) == 0 && ftruncate(file, 0) == 0));
  bool written = narrowed;
  for (std::size_t at = 0; written && at < text.size();) {
    const ssize_t count = write(file, text.data() + at, text.size() - at);
    written = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  const int reason = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return {};
  if (!written) errno = reason;
  return fail();
}

Result<void> WriteNewFile(const std::string& path, const std::string& text) {
  const auto make_error = [&path] {
    return Error{.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
  };
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.Open()) {
    Error error = make_error();
    if (errno == EEXIST) error.hint = "name another file, or '-' to print the manifest";
    return Fail(std::move(error));
  }
  const ssize_t written = write(file.Get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  if (written >= 0) errno = ENOSPC;
  Error error = make_error();
  unlink(path.c_str());
  return Fail(std::move(error));
}

int PrintError(const Error& error, int exit_code) {
  std::cerr << FormatError(error);
  return exit_code;
}

std::optional<Cluster> OpenCluster(const Selection& selection) {
  const auto text = ReadTextFile(selection.manifest);
  if (!text) {
    std::cerr << FormatError(text.error());
    return std::nullopt;
  }
  return LoadCluster(*text, selection.manifest, selection.scope);
}

std::optional<Cluster> LoadCluster(const std::string& text, const std::string& name,
                                   const PlanScope& scope) {
  auto spec = LoadClusterSpec(text, name);
  if (!spec) {
    std::cerr << FormatErrors(spec.error());
    return std::nullopt;
  }
  auto fabric = ExpandFabric(*spec);
  if (!fabric) {
    std::cerr << FormatErrors(fabric.error());
    return std::nullopt;
  }
  Errors errors;
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.check == nullptr) continue;
    for (Error& error : plugin.check(*spec, *fabric)) errors.push_back(std::move(error));
  }
  for (Error& error : CheckVerifySection(*spec, *fabric)) errors.push_back(std::move(error));
  if (!errors.empty()) {
    const SourceText source(text);
    for (Error& error : errors) source.Attach(error);
    std::cerr << FormatErrors(errors);
    return std::nullopt;
  }
  if (const auto known = CheckScope(*spec, plugins::GetAll(), scope); !known) {
    std::cerr << FormatError(known.error());
    return std::nullopt;
  }
  return Cluster{std::move(*spec), std::move(*fabric), text};
}

ClusterFacts GatherWithProgress(const Cluster& cluster, const Selection& selection, NodePool& pool,
                                const Trials& trials) {
  const std::vector<const NodeSpec*> nodes = SelectNodes(cluster.spec, selection.scope.nodes);
  Progress progress("reading nodes", nodes.size());
  ClusterFacts facts = Gather(
      cluster.spec, cluster.fabric, plugins::GetAll(), nodes, pool,
      [&](const NodeName& node) { progress.Step(node); }, trials);
  progress.Finish();
  const auto selected =
      SelectNodesForSparkVerify(cluster.spec, facts, plugins::GetAll(), selection.scope);
  if (!selected.empty()) AddVerbsFacts(facts, selected, pool, FindOwnFolder());
  for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
  return facts;
}

}  // namespace reconciler::cli
