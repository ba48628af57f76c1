#include "plugins/common/packages/coming.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace reconciler::plugins {
namespace {

// The packages plugin blocks what would remove others, or upgrade those that are not listed.
bool StaysWithinTheList(const std::string& name, const std::vector<PackageStep>& steps,
                        const PackageFacts& facts) {
  return std::all_of(steps.begin(), steps.end(), [&](const PackageStep& step) {
    const bool is_new = step.from.empty();
    return !step.to.empty() && (is_new || step.name == name || facts.packages.contains(step.name));
  });
}

}  // namespace

std::vector<std::string> ListPackagesThatBring(
    const NodeFacts& facts, const std::function<bool(const std::string& package)>& fits) {
  std::vector<std::string> ids;
  for (const auto& [name, package] : facts.packages.packages) {
    const auto* steps = Known(package.steps);
    if (steps == nullptr || package.held || !package.unreachable.empty()) continue;
    if (!StaysWithinTheList(name, *steps, facts.packages)) continue;
    const bool brings = std::any_of(steps->begin(), steps->end(), [&](const PackageStep& step) {
      return step.from.empty() && !step.to.empty() && fits(step.name);
    });
    if (brings) ids.push_back(fmt::format("{}/package/{}", facts.node, name));
  }
  return ids;
}

void DeferUntilInstalled(std::string_view what, std::vector<std::string> packages,
                         Resource& resource) {
  KnownAfterApply later{fmt::format("{}, once the packages of the manifest are installed", what)};
  if (const auto* state = std::get_if<ResourceState>(&resource.desired)) later.otherwise = *state;
  if (std::holds_alternative<Absent>(resource.desired)) later.otherwise = Absent{};
  if (resource.left_as_is) later.otherwise = KnownAfterApply::LeftAsIs{};
  resource.desired = std::move(later);
  resource.needs = std::move(packages);
  resource.left_as_is = false;
}

}  // namespace reconciler::plugins
