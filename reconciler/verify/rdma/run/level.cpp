#include "reconciler/verify/rdma/run/level.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/fabric/found/found_addresses.h"
#include "reconciler/verify/finding/join.h"
#include "reconciler/verify/links/device_facts.h"

namespace reconciler {
namespace {

// What a check of a port's RDMA device found, as text for the checks that it prevents.
std::string_view FindDeviceFault(const Check& check) {
  if (check.level != VerifyLevel::kFacts || check.outcome == Outcome::kPass) return {};
  if (check.symptom == Symptom::kHcaMissing) return "there is no RDMA device";
  if (check.symptom == Symptom::kHcaDown) return "the RDMA port is down";
  if (check.symptom == Symptom::kGidMissing) return "the GID is missing";
  if (check.symptom == Symptom::kGidTwice) return "the GID is there twice";
  return {};
}

// A rail whose device is at fault, or on which full-size packets do not pass, has its finding. What
// is only a warning, such as another port that answers for an address, shows its cost here.
std::string ExplainNotWritten(const Report& report, const NodeName& from, const NodeName& to,
                              const RailPort& port) {
  for (const NodeName& node : {from, to}) {
    if (report.unreachable.contains(node)) return fmt::format("{} could not be reached", node);
  }
  for (const Check& check : report.checks) {
    const std::string_view fault = FindDeviceFault(check);
    if (!fault.empty() && check.rail == port.rail && (check.from == from || check.from == to)) {
      return fmt::format("on {} of {} {}", FormatRailName(port.rail), check.from, fault);
    }
    const bool between =
        (check.from == from && check.to == to) || (check.from == to && check.to == from);
    if (between && check.level == VerifyLevel::kPing && check.rail == port.rail &&
        check.outcome != Outcome::kPass && check.outcome != Outcome::kWarn) {
      return fmt::format("pings between {} and {} did not pass on {}", check.from, check.to,
                         FormatRailName(port.rail));
    }
  }
  return {};
}

// The devices' real names, where the kernel gave them others.
Fabric ApplyFoundNames(Fabric fabric, const ClusterFacts& facts) {
  for (Segment& segment : fabric.segments) {
    for (RailPort& port : segment.ports) {
      const auto node = facts.nodes.find(port.node);
      if (node == facts.nodes.end()) continue;
      const auto* hca = FindHca(node->second, port.netdev);
      if (hca != nullptr) port.hca = hca->first;
    }
  }
  return fabric;
}

std::string ExplainUnaddressed(const Fabric& fabric, int rail) {
  for (const Segment& segment : fabric.segments) {
    if (segment.rail != rail) continue;
    if (const RailPort* port = FindWithoutAddress(segment)) return ExplainNoAddress(*port);
  }
  return {};
}

// What the node's HCAs say, each thing once.
std::string JoinField(const NodeFacts& facts, std::string HcaFact::*field) {
  std::set<std::string> texts;
  for (const auto& [name, hca] : facts.hcas) {
    if (!(hca.*field).empty()) texts.insert(MakePrintable(hca.*field));
  }
  return Join({texts.begin(), texts.end()}, ", ");
}

std::string FormatKernel(const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  return host != nullptr ? MakePrintable(host->kernel) : "";
}

// "firmware differs: spark-1 28.45.4028, spark-2 28.43.2026"
void AddDifferences(Finding& finding, const ClusterFacts& facts) {
  if (finding.nodes.size() != 2) return;
  const auto one = facts.nodes.find(finding.nodes[0]);
  const auto other = facts.nodes.find(finding.nodes[1]);
  if (one == facts.nodes.end() || other == facts.nodes.end()) return;
  const auto add = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a == b || a.empty() || b.empty()) return;
    finding.evidence.push_back(
        fmt::format("{} differs: {} {}, {} {}", what, finding.nodes[0], a, finding.nodes[1], b));
  };
  add("firmware", JoinField(one->second, &HcaFact::firmware),
      JoinField(other->second, &HcaFact::firmware));
  add("board", JoinField(one->second, &HcaFact::board_id),
      JoinField(other->second, &HcaFact::board_id));
  add("kernel", FormatKernel(one->second), FormatKernel(other->second));
}

}  // namespace

void AddRdmaFindings(Report& report, RdmaJudgement judged, const ClusterFacts& facts) {
  std::move(judged.checks.begin(), judged.checks.end(), std::back_inserter(report.checks));
  for (Finding& finding : judged.findings) {
    const std::size_t before = report.findings.size();
    const std::size_t index = JoinFinding(std::move(finding), report.findings);
    if (index == before) AddDifferences(report.findings[index], facts);
  }
}

std::set<NodeName> RunRdmaLevel(Report& report, const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts, NodePool& pool,
                                const RdmaOptions& options) {
  const auto skip = [&](const NodeName& from, const NodeName& to, const RailPort& port) {
    if (options.leave_out) return std::string("left out, as requested");
    const std::string why = ExplainNotWritten(report, from, to, port);
    return why.empty() ? ExplainUnaddressed(fabric, port.rail) : why;
  };
  RdmaJudgement judged =
      JudgeRdma(RunRdma(cluster, ApplyFoundNames(fabric, facts), pool, options, skip));
  std::set<NodeName> uncounted = std::move(judged.uncounted);
  AddRdmaFindings(report, std::move(judged), facts);
  return uncounted;
}

}  // namespace reconciler
