#include "plugins/packages/obstacle.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

// What apt calls the package's own version after its steps; empty: they do not bring it.
std::string FindTarget(const std::string& name, const std::vector<PackageStep>& steps) {
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [&](const PackageStep& one) { return one.name == name; });
  return step == steps.end() ? "" : step->to;
}

// dpkg began and did not end.
bool IsHalfDone(const PackageFact& fact) {
  return !fact.status.empty() && fact.status != "not-installed" && fact.status != "config-files" &&
         !IsInstalled(fact);
}

Obstacle ExplainNoSource(const PackageSpec& package, const PackageFact& fact) {
  const std::string wanted =
      package.at_least.empty() ? std::string("it") : package.at_least + " or later";
  const std::string newest =
      fact.available.empty() ? "" : "; the newest there is " + fact.available.front();
  return {
      .code = "packages-no-source",
      .why = fmt::format("no source of apt on the node has {}{}: apt-get update, or add the source",
                         wanted, newest)};
}

// What apt would do besides, as "libc6 2.36-9 → 2.36-10".
std::vector<std::string> ListOthers(const PackageSpec& package,
                                    const std::vector<PackageStep>& steps,
                                    const std::vector<PackageSpec>& listed) {
  std::vector<std::string> others;
  for (const PackageStep& step : steps) {
    const bool is_listed = std::any_of(listed.begin(), listed.end(), [&](const PackageSpec& one) {
      return one.name == step.name && one.IsMetBy(step.to);
    });
    if (step.to.empty()) {
      others.push_back("remove " + step.name);
    } else if (!step.from.empty() && step.name != package.name && !is_listed) {
      others.push_back(fmt::format("upgrade {} {} → {}", step.name, step.from, step.to));
    }
  }
  return others;
}

// A version that no source has any more cannot be installed again.
std::vector<std::string> ListWithoutWayBack(const std::vector<PackageStep>& steps,
                                            const PackageFacts& facts) {
  std::vector<std::string> names;
  for (const PackageStep& step : steps) {
    if (step.from.empty()) continue;
    const auto known = facts.packages.find(step.name);
    const bool there = known != facts.packages.end() &&
                       std::find(known->second.available.begin(), known->second.available.end(),
                                 step.from) != known->second.available.end();
    if (!there) names.push_back(step.name + " " + step.from);
  }
  return names;
}

}  // namespace

bool IsInstalled(const PackageFact& fact) {
  return fact.status == "installed" || fact.status.starts_with("triggers-");
}

Obstacle FindPackageObstacle(const PackageSpec& package, const PackageFact& fact,
                             const std::vector<PackageStep>& steps,
                             const std::vector<PackageSpec>& listed, const PackageFacts& facts) {
  if (IsHalfDone(fact)) {
    return {.code = "packages-half-done",
            .why = fmt::format("dpkg left it {}: dpkg --configure -a by hand", fact.status)};
  }
  if (fact.held) {
    const std::string at = fact.version.empty() ? "" : " at " + fact.version;
    return {.code = "packages-held",
            .why = fmt::format("held{}: apt-mark unhold {} by hand", at, package.name)};
  }
  const Unknown* refused = FindUnknown(fact.steps);
  if (refused != nullptr && !fact.available.empty()) {
    return {.code = "packages-refused",
            .why = fmt::format("apt would not install it: {}",
                               refused->why.empty() ? "it says no reason" : refused->why)};
  }
  const std::string target = FindTarget(package.name, steps);
  if (refused != nullptr || target.empty() || !package.IsMetBy(target)) {
    return ExplainNoSource(package, fact);
  }
  if (const auto others = ListOthers(package, steps, listed); !others.empty()) {
    return {.code = "packages-beyond-the-list",
            .why = fmt::format("apt would also {}, which `packages` does not list",
                               Join(others, ", "))};
  }
  if (const auto names = ListWithoutWayBack(steps, facts); !names.empty()) {
    return {.code = "packages-no-way-back",
            .why = fmt::format("no source of apt has {} any more, so that a failed apply could not "
                               "bring it back: apt-get install {} by hand",
                               Join(names, ", "), package.name)};
  }
  if (!fact.unreachable.empty()) {
    return {.code = "packages-offline",
            .why = fmt::format("the node cannot reach {}, from which apt would fetch it",
                               Join(fact.unreachable, ", "))};
  }
  return {};
}

}  // namespace reconciler::plugins::packages
