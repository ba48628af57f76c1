#include "plugins/nccl/build/tools.h"

#include <algorithm>

namespace reconciler::plugins::nccl {
namespace {

// By the names of Debian, of Ubuntu and of NVIDIA's repository.
bool Has(std::string_view package, std::string_view tool) {
  if (tool != "nvcc") return package == tool;
  return package == "nvidia-cuda-toolkit" || package.starts_with("cuda-nvcc");
}

bool Brings(const PackageFact& package, const std::string& tool) {
  const auto* steps = Known(package.steps);
  return steps != nullptr && package.unreachable.empty() &&
         std::any_of(steps->begin(), steps->end(), [&](const PackageStep& step) {
           return step.from.empty() && !step.to.empty() && Has(step.name, tool);
         });
}

}  // namespace

std::optional<std::vector<std::string>> FindPackagesWith(const std::vector<std::string>& tools,
                                                         const PackageFacts& facts) {
  std::vector<std::string> packages;
  for (const std::string& tool : tools) {
    const auto found = std::find_if(facts.packages.begin(), facts.packages.end(),
                                    [&](const auto& one) { return Brings(one.second, tool); });
    if (found == facts.packages.end()) return std::nullopt;
    if (std::find(packages.begin(), packages.end(), found->first) == packages.end()) {
      packages.push_back(found->first);
    }
  }
  return packages;
}

}  // namespace reconciler::plugins::nccl
