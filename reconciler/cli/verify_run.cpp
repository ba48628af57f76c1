#include "reconciler/cli/verify_run.h"

#include <filesystem>
#include <iostream>

#include "reconciler/cli/progress.h"
#include "reconciler/verify/render.h"

namespace reconciler::cli {

namespace {

// The rung that a level ends with. The levels are the schema's.
Rung RungOf(const Cluster& cluster) {
  const Value* level = cluster.spec.settings.At({"verify", "level"});
  const std::string* text = level != nullptr ? level->AsString() : nullptr;
  return text != nullptr && *text == "rdma" ? Rung::kRdma : Rung::kSsh;
}

Value& Member(Value& map, const std::string& key) {
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
  Member(Member(cluster.spec.settings, "verify"), "level").data = level;
}

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Report RunLadder(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 const LadderChoice& choice) {
  const VerifyOptions options{
      .up_to = RungOf(cluster),
      .rdma = {.programs = OwnFolder(), .keep_program = choice.keep_program}};
  Progress progress("measuring", facts.nodes.size());
  Report report = Verify(cluster.spec, cluster.fabric, facts, pool, options,
                         [&](const NodeName& node, std::string_view) { progress.Step(node); });
  progress.Finish();
  return report;
}

int VerifyAfterApply(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool) {
  if (cluster.spec.settings.Find("verify") == nullptr) return 0;
  const Report report = RunLadder(cluster, facts, pool);
  std::cout << RenderReport(report);
  return reconciler::ExitCode(report);
}

}  // namespace reconciler::cli
