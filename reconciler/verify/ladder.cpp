#include "reconciler/verify/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"
#include "reconciler/verify/diagnose.h"
#include "reconciler/verify/probes.h"
#include "reconciler/verify/reply.h"
#include "reconciler/verify/script.h"
#include "reconciler/verify/static_facts.h"

namespace reconciler {
namespace {

std::string OneLine(const Error& error) {
  std::string text;
  for (const std::string& circle : error.context) text += circle + ": ";
  return Printable(text + error.message);
}

struct Measured {
  std::vector<Check> checks = {};
  std::string unreachable = {};  // not empty: why
};

Measured Measure(const NodeSpec& node, const NodeProbes& probes, NodePool& pool) {
  const std::string nonce = MakeNonce();
  const auto reply = pool.Run(node, VerifyScript(probes, nonce), VerifyLimit(probes));
  if (reply) return {.checks = ReadReply(probes, *reply, nonce)};
  const std::string why = OneLine(reply.error());
  return {.checks = NotMeasured(probes, Symptom::kNodeUnreachable, why), .unreachable = why};
}

// A silent peer that we cannot reach either proves nothing about the rail between them, and a cable
// whose other end is switched off has no carrier.
void ForgiveSilence(std::vector<Check>& checks, const Fabric& fabric,
                    const std::map<NodeName, std::string>& unreachable) {
  for (Check& check : checks) {
    if (check.outcome != Outcome::kFail) continue;
    NodeName peer = check.to;
    if (check.symptom == Symptom::kNoCarrier) {
      const RailPort* end = OtherEnd(fabric, check.from, check.rail.value_or(-1));
      if (end != nullptr) peer = end->node;
    }
    if (!unreachable.contains(peer)) continue;
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kNodeUnreachable;
    check.why = fmt::format("{} could not be reached", peer);
  }
}

// By rung, then node order of the manifest; what the probes told of the ports joins the facts.
void SortChecks(const ClusterSpec& cluster, std::vector<Check>& checks) {
  std::stable_sort(checks.begin(), checks.end(),
                   [](const Check& a, const Check& b) { return a.rung < b.rung; });
  std::map<NodeName, std::size_t> order;
  for (const NodeSpec& node : cluster.nodes) order.try_emplace(node.name, order.size());
  const auto end = std::partition_point(
      checks.begin(), checks.end(), [](const Check& check) { return check.rung == Rung::kFacts; });
  std::stable_sort(checks.begin(), end, [&order](const Check& a, const Check& b) {
    return order.at(a.from) < order.at(b.from);
  });
}

}  // namespace

Report Verify(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
              NodePool& pool, const VerifyOptions& options, const VerifyProgress& progress) {
  Report report{.cluster = cluster.name, .level = options.up_to};
  for (const auto& [node, error] : facts.unreachable) report.unreachable[node] = OneLine(error);
  report.checks = CheckFacts(cluster, fabric, facts);

  std::map<NodeName, NodeProbes> probes;
  std::map<NodeName, Measured> measured;  // every key is made here: threads only fill in values
  std::vector<const NodeSpec*> asked;
  for (const NodeSpec& node : cluster.nodes) {
    const NodeProbes& own = probes[node.name] = ProbesOf(cluster, fabric, node, options.up_to);
    Measured& slot = measured[node.name];
    if (own.pings.empty() && own.logins.empty()) continue;
    if (report.unreachable.contains(node.name)) {
      slot.checks = NotMeasured(own, Symptom::kNodeUnreachable,
                                fmt::format("{} could not be reached", node.name));
    } else {
      asked.push_back(&node);
    }
  }
  std::mutex mutex;
  ForEachNode(asked, [&](const NodeSpec& node) {
    const NodeProbes& own = probes.at(node.name);
    measured.at(node.name) = Measure(node, own, pool);
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(node.name, measured.at(node.name).unreachable.empty() ? "measured" : "gave no answer");
  });

  for (const NodeSpec& node : cluster.nodes) {
    Measured& own = measured.at(node.name);
    if (!own.unreachable.empty()) report.unreachable[node.name] = own.unreachable;
    std::move(own.checks.begin(), own.checks.end(), std::back_inserter(report.checks));
  }
  SortChecks(cluster, report.checks);
  ForgiveSilence(report.checks, fabric, report.unreachable);
  report.findings = Diagnose(cluster, fabric, facts, report.checks, report.unreachable);
  return report;
}

}  // namespace reconciler
