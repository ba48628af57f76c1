#include "plugins/packages/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plugins/common/ownership/state.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/packages/install.h"
#include "plugins/packages/obstacle.h"
#include "plugins/packages/reads.h"
#include "plugins/packages/section.h"
#include "plugins/packages/tools.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const std::vector<PackageSpec> packages = ReadPackages(cluster, node.name);
  std::vector<Read> reads;
  if (!packages.empty()) {
    reads.push_back(MakePackagesProbe(packages));
    reads.push_back(MakeGpuContainerProbe());
  }
  if (!ReadMinimums(cluster).empty()) reads.push_back(MakeToolsProbe());
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  StorePackages(reply, facts);
  StoreTools(reply, facts);
  StoreGpuContainers(reply, facts);
}

std::string DescribeDesired(const PackageSpec& package) {
  return package.at_least.empty() ? "installed" : package.at_least + " or later";
}

Observed<std::string> DescribeObserved(const PackageSpec& package, const NodeFacts& facts) {
  const Observed<bool> apt = Answer(facts.packages.apt);
  if (const auto* unknown = std::get_if<Unknown>(&apt)) return *unknown;
  if (Known(apt) == nullptr || !*Known(apt)) return Unsupported{"the node has no apt"};
  const auto found = facts.packages.packages.find(package.name);
  if (found == facts.packages.packages.end()) return Unknown{"dpkg said nothing about it"};
  const PackageFact& fact = found->second;
  if (!IsInstalled(fact)) return Absent{};
  if (package.IsMetBy(fact.version)) return DescribeDesired(package);
  return fact.version;
}

// One node's packages in the manifest's order. What apt would bring for the sake of several belongs
// to the change of the first.
class Planner {
 public:
  explicit Planner(const PluginInput& input)
      : input_(input), listed_(ReadPackages(input.cluster, input.node.name)) {}

  std::vector<Resource> Run() {
    std::vector<Resource> resources;
    for (const PackageSpec& package : listed_) resources.push_back(MakeResource(package));
    return resources;
  }

 private:
  Resource MakeResource(const PackageSpec& package) {
    Resource resource{.kind = "package",
                      .name = package.name,
                      .node = input_.node.name,
                      .desired = ResourceState(DescribeDesired(package)),
                      .observed = AsState(DescribeObserved(package, input_.facts)),
                      .where = input_.cluster.Mark(package.position)};
    const auto fact = input_.facts.packages.packages.find(package.name);
    if (fact == input_.facts.packages.packages.end()) return resource;
    if (IsInstalled(fact->second) && package.IsMetBy(fact->second.version)) return resource;
    const std::vector<PackageStep> steps = ListOwnSteps(package, fact->second);
    resource.blocked =
        FindPackageObstacle(package, fact->second, steps, listed_, input_.facts.packages);
    if (!resource.blocked.empty()) return resource;
    SetActions(package, fact->second, steps, resource);
    return resource;
  }

  // The package itself is always among them, so that a plan shows it where it is required.
  std::vector<PackageStep> ListOwnSteps(const PackageSpec& package, const PackageFact& fact) const {
    std::vector<PackageStep> steps;
    const auto* all = Known(fact.steps);
    if (all == nullptr) return steps;
    for (const PackageStep& step : *all) {
      const auto claim = claims_.find(step.name);
      if (step.name == package.name || claim == claims_.end()) steps.push_back(step);
    }
    return steps;
  }

  void SetActions(const PackageSpec& package, const PackageFact& fact,
                  const std::vector<PackageStep>& steps, Resource& resource) {
    Installation own{.name = package.name};
    for (const PackageStep& step : steps) {
      (step.from.empty() ? own.installed : own.upgraded).push_back(step);
    }
    resource.apply = ListInstallActions(own);
    resource.label = FormatLabel(package, fact, own);
    resource.interrupts = ListCutOffByReload(input_.facts);
    if (!own.upgraded.empty()) resource.impact = Impact::kServiceRestart;
    // An earlier change brought it along: they can only be reverted together.
    const auto claim = claims_.find(package.name);
    const Installation& reverted = claim == claims_.end() ? own : claim->second;
    resource.revert = ListRevertActions(reverted);
    resource.prune_commands = MakePrune(own);
    for (const PackageStep& step : steps) claims_.try_emplace(step.name, own);
  }

  static std::string FormatLabel(const PackageSpec& package, const PackageFact& fact,
                                 const Installation& own) {
    std::vector<std::string> others;
    std::string version;
    for (const auto* steps : {&own.installed, &own.upgraded}) {
      for (const PackageStep& step : *steps) {
        if (step.name == package.name) {
          version = step.to;
        } else if (step.from.empty()) {
          others.push_back(step.name + " " + step.to);
        } else {
          others.push_back(fmt::format("{} {} → {}", step.name, step.from, step.to));
        }
      }
    }
    const std::string before = IsInstalled(fact) ? fact.version + " → " : "";
    const std::string with = others.empty() ? "" : ", with " + Join(others, ", ");
    return before + version + with;
  }

  const PluginInput& input_;
  std::vector<PackageSpec> listed_;
  std::map<std::string, Installation> claims_ = {};  // by package: the change that brings it
};

std::vector<Resource> Resources(const PluginInput& input) { return Planner(input).Run(); }

// What the manifest lists by now stays, whoever it came along with.
Ownership CheckPrune(const PluginInput& input, Change& change) {
  std::set<std::string> listed;
  if (!input.uninstall) {
    for (const PackageSpec& package : ReadPackages(input.cluster, input.node.name)) {
      listed.insert(package.name);
    }
  }
  change.detail = input.uninstall ? "uninstall: " : "no longer in the manifest: ";
  RenewPrune(listed, change);
  return Ownership::kOurs;
}

}  // namespace

Plugin Get() {
  return {.name = "packages",
          .after = {},
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = CheckPackages,
          .diagnose = DiagnoseTools};
}

}  // namespace reconciler::plugins::packages
