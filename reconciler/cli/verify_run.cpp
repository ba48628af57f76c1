#include "reconciler/cli/verify_run.h"

#include <filesystem>
#include <iostream>

#include "reconciler/cli/progress.h"
#include "reconciler/verify/render.h"

namespace reconciler::cli {

namespace {

std::string LevelOf(const Cluster& cluster, const LadderChoice& choice) {
  if (!choice.level.empty()) return choice.level;
  const Value* level = cluster.spec.settings.At({"verify", "level"});
  const std::string* text = level != nullptr ? level->AsString() : nullptr;
  return text != nullptr ? *text : "link";
}

// spark-verify lies beside this program.
std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

Report RunLadder(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 const LadderChoice& choice) {
  const bool rdma = LevelOf(cluster, choice) == "rdma";
  const VerifyOptions options{
      .up_to = rdma ? Rung::kRdma : Rung::kSsh,
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
