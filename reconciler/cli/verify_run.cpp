#include "reconciler/cli/verify_run.h"

#include <filesystem>

#include "plugins/registry.h"
#include "reconciler/cli/progress.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/node/node_program.h"

namespace reconciler::cli {

std::string FindProgramFolder() {
  std::error_code error;
  return ChooseProgramFolder(std::filesystem::read_symlink("/proc/self/exe", error).parent_path());
}

Report RunLevels(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool,
                 VerifyChoice choice, bool shows_progress) {
  choice.programs = FindProgramFolder();
  const LocatedCluster located(cluster.spec, cluster.fabric, facts);
  const VerifyOptions options =
      MakeVerifyOptions(located.spec(), located.fabric(), facts, plugins::GetAll(), choice);
  Progress progress("measuring", facts.nodes.size());
  Report report = Verify(located.spec(), located.fabric(), facts, pool, options,
                         [&](const NodeName& node, std::string_view) {
                           if (shows_progress) progress.Step(node);
                         });
  progress.Finish();
  return report;
}

}  // namespace reconciler::cli
