#include "reconciler/verify/links/auto_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// Findings about what a node has not, or is using; see docs/verification.md. What is there and
// broken is a finding on any level.
bool HasNotBegun(const Finding& finding, bool names_library) {
  if (names_library && finding.code == "no-libnccl") return false;
  static constexpr std::string_view kCodes[] = {
      "no-program-for-machine", "no-libibverbs", "gpu-busy", "no-libnccl",
      "memory-short",           "no-libcuda",    "no-gpu"};
  return finding.outcome == Outcome::kCouldNotMeasure &&
         std::find(std::begin(kCodes), std::end(kCodes), finding.code) != std::end(kCodes);
}

// "" where every node has one, or may have: what is unknown is tried, and is a finding then.
std::string ExplainNoDevice(const ClusterSpec& cluster, const Fabric& fabric,
                            const ClusterFacts& facts) {
  std::vector<std::string> without;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end() || !fabric.ports.contains(node.name)) continue;
    const Observed<int> count = Answer(found->second.rdma.hcas);
    if (std::holds_alternative<Unknown>(count)) continue;
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

void AcceptNotBegun(Report& report, VerifyLevel level, bool names_library) {
  const auto taken =
      std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return finding.level == level && HasNotBegun(finding, names_library);
      });
  if (taken == report.findings.end()) return;
  // Beside other findings the level has begun, and the reader must see all of them.
  const bool is_all =
      std::all_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return finding.level != level || finding.outcome == Outcome::kWarn ||
               HasNotBegun(finding, names_library);
      });
  if (!is_all) return;
  const std::string why = taken->measured.empty()
                              ? taken->cause
                              : fmt::format("{} ({})", taken->cause, taken->measured);
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.level == level && HasNotBegun(finding, names_library);
  });
  for (Check& check : report.checks) {
    if (check.level != level || check.outcome != Outcome::kCouldNotMeasure) continue;
    check.outcome = Outcome::kSkipped;
    if (check.why.empty()) check.why = why;
  }
  report.not_measured = NotMeasured{.level = level, .why = why};
}

}  // namespace reconciler
