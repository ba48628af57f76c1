#include "reconciler/verify/options.h"

#include <algorithm>

#include "reconciler/fabric/rdma_schedule.h"
#include "reconciler/model/environment.h"
#include "reconciler/verify/environment.h"
#include "reconciler/verify/report/section.h"

namespace reconciler {
namespace {

using Variables = std::map<std::string, std::string>;

// What programs on the node should find in their environment; nothing where its facts are missing.
Result<Environment> FindEnvironment(const ClusterSpec& cluster, const Fabric& fabric,
                                    const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                    const NodeSpec& node) {
  const auto own = facts.nodes.find(node.name);
  if (own == facts.nodes.end()) return Environment{};
  return CollectEnvironment({cluster, fabric, node, own->second, facts}, plugins);
}

NcclRunOptions MakeNcclRunOptions(const ClusterSpec& cluster, const Fabric& fabric,
                                  const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                  const VerifyChoice& choice) {
  NcclRunOptions nccl{.programs = choice.programs,
                      .keep_program = choice.keep_program,
                      .phase_s = choice.nccl_limit_s,
                      .allow_busy = choice.allow_busy};
  // Of a package it is the one that the loader finds.
  for (const NodeSpec& node : cluster.nodes) {
    const Member* section = cluster.FindSection(node.name, "nccl");
    const Value* library = section != nullptr ? section->value.Find("library") : nullptr;
    if (library == nullptr || !library->ScalarText().starts_with('/')) continue;
    nccl.libraries[node.name] = library->ScalarText();
  }
  nccl.environment = [&](const NodeSpec& node) -> Result<Variables> {
    const auto wanted = FindEnvironment(cluster, fabric, facts, plugins, node);
    if (!wanted) return Fail(wanted.error());
    Variables variables;
    for (const EnvVariable& one : *wanted) variables[one.name] = one.value;
    return variables;
  };
  return nccl;
}

// With level auto, which most applies end with, all sending takes about six seconds whatever the
// number of nodes. 150 ms are some 1.8 GB on a rail.
int ComputeWriteTime(const ClusterSpec& cluster, const Fabric& fabric) {
  constexpr std::size_t kSendingMs = 6'000;
  constexpr std::size_t kLeastMs = 150;
  constexpr std::size_t kMostMs = 1'000;
  std::size_t transfers = 0;  // one after the other
  for (const std::vector<NodePair>& round : Schedule(ListPairs(cluster, fabric))) {
    std::size_t longest = 0;
    for (const NodePair& pair : round) longest = std::max(longest, 2 * (pair.rails.size() + 1));
    transfers += longest;
  }
  return static_cast<int>(
      std::clamp(kSendingMs / std::max<std::size_t>(transfers, 1), kLeastMs, kMostMs));
}

}  // namespace

VerifyOptions MakeVerifyOptions(const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                const VerifyChoice& choice) {
  const VerifySection section = ReadVerifySection(cluster);
  VerifyOptions options = {.up_to = section.level,
                           .automatic = section.automatic,
                           .rdma = {.programs = choice.programs,
                                    .keep_program = choice.keep_program,
                                    .leave_out = section.skip_rdma || choice.skip_rdma},
                           .section = section,
                           .nccl = MakeNcclRunOptions(cluster, fabric, facts, plugins, choice)};
  options.image_flags = [&](const NodeSpec& node) -> Result<std::string> {
    const auto environment = FindEnvironment(cluster, fabric, facts, plugins, node);
    if (!environment) return Fail(environment.error());
    return FormatDockerFlags(*environment);
  };
  if (section.automatic) options.rdma.milliseconds = ComputeWriteTime(cluster, fabric);
  options.nccl.brief = section.automatic;
  return options;
}

}  // namespace reconciler
