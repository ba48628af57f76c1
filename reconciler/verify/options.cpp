#include "reconciler/verify/options.h"

#include "reconciler/verify/environment.h"
#include "reconciler/verify/report/section.h"

namespace reconciler {
namespace {

using Variables = std::map<std::string, std::string>;

NcclRunOptions MakeNcclRunOptions(const ClusterSpec& cluster, const Fabric& fabric,
                                  const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                  const VerifyChoice& choice) {
  NcclRunOptions nccl{.programs = choice.programs,
                      .keep_program = choice.keep_program,
                      .phase_s = choice.nccl_limit_s,
                      .allow_busy = choice.allow_busy};
  if (const Value* library = cluster.settings.At({"nccl", "library"})) {
    nccl.library = library->ScalarText();
  }
  nccl.environment = [&](const NodeSpec& node) -> Result<Variables> {
    const auto own = facts.nodes.find(node.name);
    if (own == facts.nodes.end()) return Variables{};
    const auto wanted = CollectEnvironment({cluster, fabric, node, own->second, facts}, plugins);
    if (!wanted) return Fail(wanted.error());
    Variables variables;
    for (const EnvVariable& one : *wanted) variables[one.name] = one.value;
    return variables;
  };
  return nccl;
}

}  // namespace

VerifyOptions MakeVerifyOptions(const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts, const std::vector<Plugin>& plugins,
                                const VerifyChoice& choice) {
  const VerifySection section = ReadVerifySection(cluster);
  return {.up_to = section.level,
          .rdma = {.programs = choice.programs,
                   .keep_program = choice.keep_program,
                   .leave_out = section.skip_rdma || choice.skip_rdma},
          .section = section,
          .nccl = MakeNcclRunOptions(cluster, fabric, facts, plugins, choice)};
}

}  // namespace reconciler
