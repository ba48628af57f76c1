#include "reconciler/cli/verify_run.h"

#include <filesystem>
#include <iostream>

#include "reconciler/cli/environment.h"
#include "reconciler/cli/progress.h"
#include "reconciler/verify/report/render.h"

namespace reconciler::cli {

namespace {

Value& FindOrAddMember(Value& map, const std::string& key) {
  if (!map.IsMap()) map.data = std::vector<reconciler::Member>();
  auto& members = std::get<std::vector<reconciler::Member>>(map.data);
  for (reconciler::Member& member : members) {
    if (member.key == key) return member.value;
  }
  return members.emplace_back(reconciler::Member{.key = key}).value;
}

}  // namespace

void SetLevel(Cluster& cluster, const std::string& level) {
  if (level.empty()) return;
  FindOrAddMember(FindOrAddMember(cluster.spec.settings, "verify"), "level").data = level;
}

std::string FindOwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

namespace {

NcclRunOptions MakeNcclRunOptions(const Cluster& cluster, const ClusterFacts& facts,
                                  const LevelOptions& choice) {
  NcclRunOptions nccl{.programs = FindOwnFolder(),
                      .keep_program = choice.keep_program,
                      .phase_s = choice.nccl_limit_s,
                      .allow_busy = choice.allow_busy};
  if (const Value* library = cluster.spec.settings.At({"nccl", "library"})) {
    nccl.library = library->ScalarText();
  }
  nccl.environment = [&cluster,
                      &facts](const NodeSpec& node) -> Result<std::map<std::string, std::string>> {
    const auto own = facts.nodes.find(node.name);
    if (own == facts.nodes.end()) return std::map<std::string, std::string>{};
    const auto wanted =
        CollectEnvironment({cluster.spec, cluster.fabric, node, own->second, facts});
    if (!wanted) return Fail(wanted.error());
    std::map<std::string, std::string> variables;
    for (const EnvVariable& one : *wanted) variables[one.name] = one.value;
    return variables;
  };
  return nccl;
}

}  // namespace

Report RunLevels(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 const LevelOptions& choice) {
  const VerifySection section = ReadVerifySection(cluster.spec);
  const VerifyOptions options{.up_to = section.level,
                              .rdma = {.programs = FindOwnFolder(),
                                       .keep_program = choice.keep_program,
                                       .leave_out = section.skip_rdma || choice.skip_rdma},
                              .section = section,
                              .nccl = MakeNcclRunOptions(cluster, facts, choice)};
  Progress progress("measuring", facts.nodes.size());
  Report report = Verify(cluster.spec, cluster.fabric, facts, pool, options,
                         [&](const NodeName& node, std::string_view) { progress.Step(node); });
  progress.Finish();
  return report;
}

int VerifyAfterApply(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool) {
  const Report report = RunLevels(cluster, facts, pool);
  std::cout << RenderReport(report);
  return reconciler::FindExitCode(report);
}

}  // namespace reconciler::cli
