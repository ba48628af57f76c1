#include "plugins/common/systemctl/gpu_containers.h"

#include <algorithm>
#include <string_view>
#include <vector>

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
  return {.id = kGpuContainers,
          .argv = {"sh", "-c", std::string(kGpuContainersSh), "sh", "/sys/fs/cgroup", "/proc"}};
}

void StoreGpuContainers(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kGpuContainers);
  if (found == reply.commands.end()) return;
  for (const std::string& line : SplitLines(found->second.out)) {
    if (!line.ends_with(kScope) || line.find('/') != std::string::npos) continue;
    facts.units.states[MakePrintable(line)] = {
        .load = "loaded", .unit_file = "transient", .active = "active"};
  }
}

std::string ListCutOffByReload(const NodeFacts& facts) {
  std::vector<std::string> containers;
  for (const auto& [name, state] : facts.units.states) {
    if (name.ends_with(kScope)) containers.push_back(ShortenScope(name));
  }
  if (containers.empty()) return {};
  return "the GPU access of " + Join(containers, ", ") +
         ": a container may lose its GPU when systemd reloads its units";
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
