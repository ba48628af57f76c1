#include "reconciler/verify/links/auto_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// Findings about what a run needs before it begins; see docs/verification.md.
bool HasNotBegun(const Finding& finding) {
  static constexpr std::string_view kCodes[] = {"no-program", "no-libibverbs", "gpu-busy",
                                                "not-ready",  "no-libnccl",    "memory-short",
                                                "old-nccl",   "no-libcuda"};
  return finding.outcome == Outcome::kCouldNotMeasure &&
         std::find(std::begin(kCodes), std::end(kCodes), finding.code) != std::end(kCodes);
}

// "" where every node has one, or may have: what is unknown is measured.
std::string ExplainNoDevice(const ClusterSpec& cluster, const Fabric& fabric,
                            const ClusterFacts& facts) {
  std::vector<std::string> without;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end() || !fabric.ports.contains(node.name)) continue;
    const Observed<int> count = Answer(found->second.rdma.hcas);
    if (const auto* unknown = std::get_if<Unknown>(&count)) {
      return fmt::format("the RDMA devices of {} could not be read: {}", node.name, unknown->why);
    }
    if (found->second.hcas.empty()) without.push_back(node.name);
  }
  return without.empty() ? "" : "no RDMA device on " + Join(without, ", ");
}

std::string ExplainInUse(const ClusterSpec& cluster, const Fabric& fabric,
                         const ClusterFacts& facts) {
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    const auto ports = fabric.ports.find(node.name);
    if (found == facts.nodes.end() || ports == fabric.ports.end()) continue;
    const auto* users = Known(found->second.rdma.users);
    if (users == nullptr) continue;
    for (const RdmaUser& user : *users) {
      const bool is_ours =
          std::any_of(ports->second.begin(), ports->second.end(),
                      [&](const RailPort& port) { return port.netdev == user.netdev; });
      if (!is_ours) continue;
      return fmt::format("{}{} holds an RDMA connection on {} of {}",
                         user.program.empty() ? "a program" : user.program,
                         user.pid > 0 ? fmt::format(" (process {})", user.pid) : "", user.netdev,
                         node.name);
    }
  }
  return {};
}

}  // namespace

AutoLevel FindAutoLevel(const ClusterSpec& cluster, const Fabric& fabric,
                        const ClusterFacts& facts) {
  if (cluster.nodes.size() < 2) return {VerifyLevel::kSsh, "one node has no peer"};
  std::string why = ExplainNoDevice(cluster, fabric, facts);
  if (why.empty()) why = ExplainInUse(cluster, fabric, facts);
  return {why.empty() ? VerifyLevel::kNccl : VerifyLevel::kSsh, std::move(why)};
}

void AcceptNotBegun(Report& report, VerifyLevel level) {
  const auto taken = std::find_if(
      report.findings.begin(), report.findings.end(),
      [&](const Finding& finding) { return finding.level == level && HasNotBegun(finding); });
  if (taken == report.findings.end()) return;
  const std::string why = taken->measured.empty()
                              ? taken->cause
                              : fmt::format("{} ({})", taken->cause, taken->measured);
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.level == level && HasNotBegun(finding);
  });
  for (Check& check : report.checks) {
    if (check.level != level || check.outcome != Outcome::kCouldNotMeasure) continue;
    check.outcome = Outcome::kSkipped;
    if (check.why.empty()) check.why = why;
  }
  report.not_measured = NotMeasured{.level = level, .why = why};
}

}  // namespace reconciler
