#include "plugins/gpudirect/modules.h"

#include <fmt/format.h>

#include <optional>

#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/gpu/gpu_reach.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/packages/coming.h"
#include "plugins/gpudirect/unload_module.sh.h"
#include "reconciler/base/mark.h"

namespace reconciler::plugins::gpudirect {
namespace {

constexpr int kLoadLimitS = 60;

// The command alone, as a plan may show it: without the comments above it and its newline.
constexpr std::string_view FindCommand(std::string_view script) {
  script.remove_suffix(1);
  return script.substr(script.rfind('\n') + 1);
}
constexpr std::string_view kUnloadSh = FindCommand(kUnloadModuleSh);

// What Diff compares.
Observed<std::string> FindLiveState(const NodeFacts& facts, const std::string& module) {
  if (IsModuleThere(facts, module)) return std::string("loaded");
  const Observed<ModuleState> observed = FindModule(facts, module);
  if (const auto* unknown = std::get_if<Unknown>(&observed)) return *unknown;
  return std::string("not loaded");
}

Obstacle FindLoadObstacle(const GpuSection& section, const std::string& module,
                          const NodeFacts& facts) {
  if (IsModuleThere(facts, module)) return {};
  if (module == kPeermemModule && section.mode == GpuMode::kPeermem) {
    const GpuReach reach = JudgePeermemReach(facts, true);
    if (reach.answer == GpuReach::Answer::kNo) {
      return {.code = "gpudirect-not-possible", .why = DescribeWithDriver(reach)};
    }
  }
  if (std::holds_alternative<Absent>(FindModule(facts, module))) {
    return {.code = "gpudirect-no-module",
            .why = fmt::format("this kernel has no module {}", module)};
  }
  if (module == kPeermemModule && IsKnownNo(facts.gpudirect.symbol)) {
    return {.code = "gpudirect-no-peer-symbol", .why = std::string(kNoPeerSymbol)};
  }
  return {};
}

// The manifest permits that the mode does not hold: that is a note of its own.
bool IsPermitted(const GpuSection& section, const std::string& module, const Obstacle& obstacle) {
  return obstacle.code == "gpudirect-not-possible" && !section.required && !section.Lists(module);
}

Obstacle FindUnclear(const std::string& module, const NodeFacts& facts) {
  const Observed<ModuleState> observed = FindModule(facts, module);
  const auto* unknown = std::get_if<Unknown>(&observed);
  if (unknown == nullptr) return {};
  return {.code = "gpudirect-module-unknown",
          .why = fmt::format("cannot determine the state of {}: {}", module, unknown->why)};
}

// Packages of the same apply with modules of the kernel that runs, for one that it has not; empty:
// none has any. Only once they are installed it is known which modules they bring.
std::vector<std::string> ListPackagesFor(const Obstacle& obstacle, const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  if (obstacle.code != "gpudirect-no-module" || host == nullptr || host->kernel.empty()) return {};
  return ListPackagesThatBring(facts, [&](const std::string& name) {
    return name.starts_with("linux-modules-") && name.ends_with("-" + host->kernel);
  });
}

RunCommand Unload(const std::string& module) {
  return {.argv = {"sh", "-c", std::string(kUnloadSh), "sh", module}};
}

Resource MakeLiveResource(const GpuSection& section, const GpuModule& module,
                          const PluginInput& input) {
  const Obstacle obstacle = FindLoadObstacle(section, module.name, input.facts);
  const std::vector<std::string> packages = ListPackagesFor(obstacle, input.facts);
  Resource resource{
      .kind = "module",
      .name = module.name,
      .node = input.node.name,
      .desired = ResourceState("loaded"),
      .observed = AsState(FindLiveState(input.facts, module.name)),
      .apply = {RunCommand{.argv = {"modprobe", "--", module.name}, .time_limit_s = kLoadLimitS}},
      .revert = {Unload(module.name)},
      .blocked = packages.empty() ? obstacle : Obstacle(),
      .left_as_is = IsPermitted(section, module.name, obstacle),
      .where = input.cluster.Mark(module.position)};
  if (!packages.empty()) DeferUntilInstalled("the module", packages, resource);
  return resource;
}

// nullopt: there is none, and nothing for it to say.
std::optional<Resource> MakeBootFile(const GpuSection& section, const PluginInput& input) {
  if (section.Modules().empty()) return std::nullopt;
  std::string body;
  Obstacle unclear;
  Obstacle without;  // why the file would be empty
  std::vector<std::string> packages;
  for (const GpuModule& module : section.Modules()) {
    const Obstacle obstacle = FindLoadObstacle(section, module.name, input.facts);
    if (obstacle.empty()) body += module.name + "\n";
    if (packages.empty()) packages = ListPackagesFor(obstacle, input.facts);
    const bool blocks = !obstacle.empty() && !IsPermitted(section, module.name, obstacle);
    if (blocks && without.empty()) {
      without = {obstacle.code, fmt::format("{}: {}", module.name, obstacle.why)};
    }
    if (unclear.empty()) unclear = FindUnclear(module.name, input.facts);
  }
  const Observed<FileState> observed = FindFile(input.facts, std::string(kModulesFile));
  const bool is_needless = body.empty() && std::holds_alternative<Absent>(observed);
  if (is_needless && packages.empty()) return std::nullopt;
  Resource file{
      .kind = "file",
      .name = std::string(kModulesFile),
      .node = input.node.name,
      .desired = ResourceState(FileState{.content = FormatOwnedFile(input.cluster.name, body)}),
      .observed = AsState(observed),
      // The guard puts it there when that service may have run already.
      .trial = {.path = std::string(kModulesTrial),
                .generator = {"systemctl", "--no-block", "restart",
                              "systemd-modules-load.service"}},
      .blocked = body.empty() && packages.empty() ? without : unclear,
      .left_as_is = body.empty() && without.empty(),
      .where = input.cluster.Mark(section.position)};
  if (is_needless) file.desired = Absent{};  // without the packages
  if (!packages.empty()) DeferUntilInstalled("the list of modules", packages, file);
  BlockUnlessOurs(file, input.cluster.name, input.cluster.former_name);
  return file;
}

}  // namespace

std::vector<Resource> ListModuleResources(const GpuSection& section, const PluginInput& input) {
  std::vector<Resource> resources;
  if (auto file = MakeBootFile(section, input)) resources.push_back(std::move(*file));
  for (const GpuModule& module : section.Modules()) {
    resources.push_back(MakeLiveResource(section, module, input));
  }
  return resources;
}

}  // namespace reconciler::plugins::gpudirect
