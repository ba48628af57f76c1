#include "plugins/common/systemctl/gpu_containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/common/systemctl/gpu_containers.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

constexpr const char* kGpuContainers = "systemctl.gpu_containers";
constexpr std::string_view kScope = ".scope";
constexpr std::size_t kShownName = 24;  // bytes; the rest is a container's id of 64 digits

std::string ShortenScope(std::string_view name) {
  name.remove_suffix(kScope.size());
  return MakePrintable(name.substr(0, kShownName));
}

}  // namespace

RunProbe MakeGpuContainerProbe() {
  return MakeInPlaceProbe(kGpuContainers, kGpuContainersSh, {"/sys/fs/cgroup", "/proc"});
}

void StoreGpuContainers(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kGpuContainers);
  if (found == reply.commands.end()) return;
  const CommandReply& listed = found->second;
  if (listed.exit_code != 0) {
    facts.units.gpu_containers = ExplainFailure(listed, "find");
    return;
  }
  std::set<std::string> scopes;
  for (const std::string& line : SplitLines(listed.out)) {
    if (line.ends_with(kScope) && line.find('/') == std::string::npos) {
      scopes.insert(MakePrintable(line));
    }
  }
  facts.units.gpu_containers = std::vector<std::string>(scopes.begin(), scopes.end());
}

std::string ListCutOffByReload(const NodeFacts& facts) {
  constexpr const char* kWhy = "a container may lose its GPU when systemd reloads its units";
  if (const Unknown* unknown = FindUnknown(facts.units.gpu_containers)) {
    return fmt::format("the GPU access of containers, which could not be listed ({}): {}",
                       unknown->why, kWhy);
  }
  const std::vector<std::string>* scopes = Known(facts.units.gpu_containers);
  if (scopes == nullptr || scopes->empty()) return {};
  std::vector<std::string> containers;
  for (const std::string& scope : *scopes) containers.push_back(ShortenScope(scope));
  return fmt::format("the GPU access of {}: {}", Join(containers, ", "), kWhy);
}

void NameCutOffByReload(const NodeFacts& facts, Change& change) {
  const auto reloads = [](const RunCommand& one) {
    return one.argv == std::vector<std::string>{"systemctl", "daemon-reload"};
  };
  const bool any =
      std::any_of(change.triggers.begin(), change.triggers.end(), reloads) ||
      std::any_of(change.actions.begin(), change.actions.end(), [&](const Action& action) {
        const auto* command = std::get_if<RunCommand>(&action);
        return command != nullptr && reloads(*command);
      });
  if (any) change.interrupts = ListCutOffByReload(facts);
}

}  // namespace reconciler::plugins
