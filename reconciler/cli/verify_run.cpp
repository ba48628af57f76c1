#include "reconciler/cli/verify_run.h"

#include <filesystem>

#include "plugins/registry.h"
#include "reconciler/cli/progress.h"

namespace reconciler::cli {

std::string FindOwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Report RunLevels(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 VerifyChoice choice, bool shows_progress) {
  choice.programs = FindOwnFolder();
  const VerifyOptions options =
      MakeVerifyOptions(cluster.spec, cluster.fabric, facts, plugins::GetAll(), choice);
  Progress progress("measuring", facts.nodes.size());
  Report report = Verify(cluster.spec, cluster.fabric, facts, pool, options,
                         [&](const NodeName& node, std::string_view) {
                           if (shows_progress) progress.Step(node);
                         });
  progress.Finish();
  return report;
}

}  // namespace reconciler::cli
