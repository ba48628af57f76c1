#include "reconciler/cli/apply/cabling_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/observe/observe_cabling.h"

namespace reconciler::cli {

bool StopForCabling(const Cluster& cluster, const PlanScope& scope,
                    const std::vector<const NodeSpec*>& nodes, NodePool& pool, bool allow_wrong) {
  const std::vector<std::string>& only = scope.only;
  if (!only.empty() && std::find(only.begin(), only.end(), "netplan") == only.end()) return false;
  const CablingReport report =
      JudgeCabling(cluster.spec, ObserveCabling(cluster.spec, nodes, pool));
  for (const CableVerdict& verdict : report.cables) {
    if (verdict.state != CableState::kUnknown) continue;
    std::cerr << fmt::format("cabling not known: {}: {}\n", DescribeCable(verdict.cable),
                             verdict.detail);
  }
  if (report.wrong.empty()) return false;
  std::cerr << (allow_wrong ? "the cabling is not the manifest's:\n"
                            : "nothing was changed, because the cabling is not the manifest's:\n");
  for (const std::string& line : report.wrong) std::cerr << "  " << line << '\n';
  if (!allow_wrong) {
    std::cerr << "  hint: move the cables (left and right are seen from the back), correct the "
                 "manifest, or give --allow-wrong-cables\n";
  }
  return !allow_wrong;
}

std::vector<std::string> FindWrongCables(const Cluster& cluster,
                                         const std::vector<const NodeSpec*>& nodes,
                                         NodePool& pool) {
  return JudgeCabling(cluster.spec, ObserveCabling(cluster.spec, nodes, pool)).wrong;
}

}  // namespace reconciler::cli
