#include "reconciler/cli/verify_run.h"

#include <iostream>

#include "reconciler/cli/progress.h"
#include "reconciler/verify/render.h"

namespace reconciler::cli {

Report RunLadder(const Cluster& cluster, const ClusterFacts& facts, NodePool& pool) {
  Progress progress("measuring", facts.nodes.size());
  Report report = Verify(cluster.spec, cluster.fabric, facts, pool, {},
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
