#include "reconciler/verify/containers/loaded_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/verify/containers/nccl_versions.h"

namespace reconciler {
namespace {

Check MakeWarning(const NodeName& node, Symptom symptom, std::string expected,
                  std::string measured) {
  return {.level = VerifyLevel::kFacts,
          .what = "container-nccl",
          .from = node,
          .outcome = Outcome::kWarn,
          .symptom = symptom,
          .expected = std::move(expected),
          .measured = std::move(measured)};
}

struct Old {
  std::string expected = {};
  std::vector<std::string> libraries = {};
};

void CheckAge(const Fabric& fabric, const NodeFacts& facts,
              const std::vector<LoadedNccl>& libraries, std::vector<Check>& checks) {
  std::map<std::string, Old> old;  // by container
  for (const LoadedNccl& one : libraries) {
    std::string wanted = FindWantedNccl(
        fabric, facts, {.version = one.version, .pairs_by_subnet = one.pairs_by_subnet});
    if (wanted.empty()) continue;
    Old& own = old[one.container];
    own.expected = std::move(wanted);
    own.libraries.push_back(fmt::format("NCCL {} ({})", one.version, one.path));
  }
  for (const auto& [container, own] : old) {
    Check check =
        MakeWarning(facts.node, Symptom::kContainerNcclOld, own.expected,
                    fmt::format("container {}: {}", container, Join(own.libraries, ", ")));
    check.subject = container;
    checks.push_back(std::move(check));
  }
}

bool HaveCommon(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& one) { return b.contains(one); });
}

// Several jobs may run at the same time, so that nodes with a version in common are fine.
bool AnyTwoDiffer(const std::vector<std::set<std::string>>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      if (!HaveCommon(nodes[i], nodes[j])) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Check> CheckLoadedNccl(const ClusterSpec& cluster, const Fabric& fabric,
                                   const ClusterFacts& facts) {
  std::vector<Check> checks;
  NodesByNccl by_version;
  std::vector<std::set<std::string>> by_node;
  NodeName first;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end()) continue;
    const auto* libraries = Known(found->second.health.loaded_nccl);
    if (libraries == nullptr || libraries->empty()) continue;
    CheckAge(fabric, found->second, *libraries, checks);
    std::set<std::string> versions;
    for (const LoadedNccl& one : *libraries) versions.insert(one.version);
    for (const std::string& version : versions) by_version[version].push_back(node.name);
    by_node.push_back(std::move(versions));
    if (first.empty()) first = node.name;
  }
  if (AnyTwoDiffer(by_node)) {
    checks.push_back(MakeWarning(first, Symptom::kContainerNcclDiffers,
                                 "one NCCL in the containers of all nodes",
                                 FormatNodesByNccl(by_version)));
  }
  return checks;
}

}  // namespace reconciler
