#include "reconciler/verify/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/fabric/found/found_addresses.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/containers/loaded_nccl.h"
#include "reconciler/verify/diagnosis/diagnose.h"
#include "reconciler/verify/finding/join.h"
#include "reconciler/verify/links/auto_level.h"
#include "reconciler/verify/links/known_bad.h"
#include "reconciler/verify/links/node_differences.h"
#include "reconciler/verify/links/node_health.h"
#include "reconciler/verify/links/port_use.h"
#include "reconciler/verify/links/probes.h"
#include "reconciler/verify/links/reported_facts.h"
#include "reconciler/verify/links/run/reply.h"
#include "reconciler/verify/links/run/script.h"
#include "reconciler/verify/links/static_facts.h"
#include "reconciler/verify/rdma/run/level.h"

namespace reconciler {
namespace {

std::string FormatOneLine(const Error& error) {
  std::string text;
  for (const std::string& circle : error.context) text += circle + ": ";
  return MakePrintable(text + error.message);
}

struct Measured {
  std::vector<Check> checks = {};
  std::string unreachable = {};  // not empty: why
};

Measured MakeNotMeasured(const NodeProbes& probes, const Error& error) {
  const std::string why = FormatOneLine(error);
  return {.checks = MakeNotMeasuredChecks(probes, Symptom::kNodeUnreachable, why),
          .unreachable = why};
}

Measured Measure(const NodeSpec& node, const NodeProbes& probes, NodePool& pool) {
  const std::string nonce = MakeNonce();
  const auto reply = pool.Run(node, BuildVerifyScript(probes, nonce), ComputeVerifyLimit(probes));
  if (reply) return {.checks = ReadReply(probes, *reply, nonce)};
  return MakeNotMeasured(probes, reply.error());
}

// A silent peer that we cannot reach either proves nothing about the rail between them, and a cable
// whose other end is switched off has no carrier; networkd takes a port's addresses away with it.
void SkipSilentPeers(std::vector<Check>& checks, const Fabric& fabric,
                     const std::map<NodeName, std::string>& unreachable) {
  std::set<std::pair<NodeName, std::optional<int>>> dark;
  for (const Check& check : checks) {
    if (check.symptom == Symptom::kNoCarrier) dark.emplace(check.from, check.rail);
  }
  for (Check& check : checks) {
    if (check.outcome != Outcome::kFail) continue;
    NodeName peer = check.to;
    if (check.symptom == Symptom::kNoCarrier || check.symptom == Symptom::kAddressMissing) {
      if (!dark.contains({check.from, check.rail})) continue;
      const RailPort* end = FindOtherEnd(fabric, check.from, check.rail.value_or(-1));
      if (end != nullptr) peer = end->node;
    }
    if (!unreachable.contains(peer)) continue;
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kNodeUnreachable;
    check.why = fmt::format("{} could not be reached", peer);
  }
}

// By level, then node order of the manifest; what the probes reported of the ports is added to the
// facts.
void SortChecks(const ClusterSpec& cluster, std::vector<Check>& checks) {
  std::stable_sort(checks.begin(), checks.end(),
                   [](const Check& a, const Check& b) { return a.level < b.level; });
  std::map<NodeName, std::size_t> order;
  for (const NodeSpec& node : cluster.nodes) order.try_emplace(node.name, order.size());
  const auto end = std::partition_point(checks.begin(), checks.end(), [](const Check& check) {
    return check.level == VerifyLevel::kFacts;
  });
  std::stable_sort(checks.begin(), end, [&order](const Check& a, const Check& b) {
    return order.at(a.from) < order.at(b.from);
  });
}

// One node that is missing would keep all others waiting, and a rail on which pings fail has its
// finding already.
std::string ExplainNoCollective(const Report& report, const ClusterSpec& cluster,
                                const Fabric& fabric) {
  constexpr std::size_t kMost = 64;  // ranks that spark-verify takes
  if (cluster.nodes.size() < 2) return "one node has no peer";
  if (cluster.nodes.size() > kMost) return fmt::format("a run takes at most {} nodes", kMost);
  if (!report.unreachable.empty()) {
    return fmt::format("{} could not be reached", report.unreachable.begin()->first);
  }
  for (const Check& check : report.checks) {
    const bool lost = check.level == VerifyLevel::kPing && !check.to.empty() &&
                      check.outcome != Outcome::kPass && check.outcome != Outcome::kWarn &&
                      check.outcome != Outcome::kSkipped;
    if (lost) return fmt::format("pings between {} and {} fail", check.from, check.to);
  }
  for (const Segment& segment : fabric.segments) {
    if (const RailPort* port = FindWithoutAddress(segment)) return ExplainNoAddress(*port);
  }
  return {};
}

bool HasDegradedHca(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const Finding& finding) { return finding.code == "hca-degraded"; });
}

void RunNcclLevel(Report& report, const ClusterSpec& cluster, const Fabric& fabric,
                  const ClusterFacts& facts, NodePool& pool, const VerifyOptions& options,
                  const std::set<NodeName>& uncounted) {
  const std::string why = ExplainNoCollective(report, cluster, fabric);
  if (!why.empty()) {
    report.checks.push_back({.level = VerifyLevel::kNccl,
                             .what = "nccl-run",
                             .from = cluster.nodes.front().name,
                             .outcome = Outcome::kSkipped,
                             .why = why});
    return;
  }
  NcclRunOptions run = options.nccl;
  run.hca_is_degraded = HasDegradedHca(report);
  run.uncounted = uncounted;
  NcclJudgement judged = MeasureNccl(cluster, fabric, facts, pool, options.section, run);
  report.nccl = std::move(judged.summary);
  std::move(judged.checks.begin(), judged.checks.end(), std::back_inserter(report.checks));
  for (Finding& finding : judged.findings) JoinFinding(std::move(finding), report.findings);
}

}  // namespace

Report Verify(const ClusterSpec& cluster, const Fabric& planned, const ClusterFacts& facts,
              NodePool& pool, const VerifyOptions& options, const VerifyProgress& progress) {
  const Fabric fabric = ApplyFoundAddresses(planned, facts);
  AutoLevel reachable{.level = options.up_to};
  if (options.automatic) reachable = FindAutoLevel(cluster, fabric, facts);
  const VerifyLevel up_to = std::min(options.up_to, reachable.level);
  Report report{.cluster = cluster.name, .level = up_to};
  report.facts = ListReportedFacts(fabric, facts);
  report.fabric = BuildDrawing(cluster, fabric);
  if (!reachable.why.empty()) report.not_measured = {VerifyLevel::kRdma, reachable.why};
  for (const auto& [node, error] : facts.unreachable)
    report.unreachable[node] = FormatOneLine(error);
  report.checks =
      CheckFacts(cluster, fabric, facts, options.rdma.leave_out ? VerifyLevel::kSsh : up_to);
  for (const std::vector<Check>& warnings :
       {CheckDifferences(cluster, facts), CheckKnownBad(cluster, facts),
        CheckPortUse(cluster, fabric, facts), CheckNodeHealth(cluster, fabric, facts, up_to),
        CheckLoadedNccl(cluster, fabric, facts)}) {
    report.checks.insert(report.checks.end(), warnings.begin(), warnings.end());
  }

  std::map<NodeName, NodeProbes> probes;
  std::map<NodeName, Measured> measured;  // every key is made here: threads only fill in values
  std::vector<const NodeSpec*> queried;
  for (const NodeSpec& node : cluster.nodes) {
    const NodeProbes& own = probes[node.name] = ListProbes(cluster, fabric, node, up_to, facts);
    Measured& slot = measured[node.name];
    if (own.pings.empty() && own.logins.empty() && own.paths.empty()) continue;
    if (report.unreachable.contains(node.name)) {
      slot.checks = MakeNotMeasuredChecks(own, Symptom::kNodeUnreachable,
                                          fmt::format("{} could not be reached", node.name));
    } else {
      queried.push_back(&node);
    }
  }
  std::mutex mutex;
  const NodeErrors thrown = ForEachNode(queried, pool.at_once(), [&](const NodeSpec& node) {
    const NodeProbes& own = probes.at(node.name);
    measured.at(node.name) = Measure(node, own, pool);
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(node.name, measured.at(node.name).unreachable.empty() ? "measured" : "gave no answer");
  });
  for (const auto& [name, error] : thrown) {
    measured.at(name) = MakeNotMeasured(probes.at(name), error);
  }

  for (const NodeSpec& node : cluster.nodes) {
    Measured& own = measured.at(node.name);
    if (!own.unreachable.empty()) report.unreachable[node.name] = own.unreachable;
    std::move(own.checks.begin(), own.checks.end(), std::back_inserter(report.checks));
  }
  if (up_to >= VerifyLevel::kPing) {
    std::vector<Check> images =
        MeasureImages(cluster, fabric, facts, pool, options.image_flags, report.unreachable);
    std::move(images.begin(), images.end(), std::back_inserter(report.checks));
  }
  SortChecks(cluster, report.checks);
  SkipSilentPeers(report.checks, fabric, report.unreachable);
  report.findings = Diagnose(cluster, fabric, facts, report.checks, report.unreachable);
  const bool names_library = !options.nccl.libraries.empty();
  std::set<NodeName> uncounted;
  if (up_to >= VerifyLevel::kRdma) {
    uncounted = RunRdmaLevel(report, cluster, fabric, facts, pool, options.rdma);
    if (options.automatic) AcceptNotBegun(report, VerifyLevel::kRdma, names_library);
  }
  if (up_to >= VerifyLevel::kNccl && !report.not_measured) {
    RunNcclLevel(report, cluster, fabric, facts, pool, options, uncounted);
    if (options.automatic) AcceptNotBegun(report, VerifyLevel::kNccl, names_library);
  }
  if (report.not_measured) {
    report.level =
        report.not_measured->level == VerifyLevel::kNccl ? VerifyLevel::kRdma : VerifyLevel::kSsh;
  }
  return report;
}

}  // namespace reconciler
