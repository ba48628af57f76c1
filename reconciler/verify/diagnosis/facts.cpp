#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/model/find.h"
#include "reconciler/verify/diagnosis/diagnosis.h"
#include "reconciler/verify/links/probes.h"

namespace reconciler {
namespace {

struct PortText {
  Symptom symptom;
  std::string_view cause;
  std::string_view next;  // {}: the node
};

// Worst first: a port that is set down has no carrier either.
constexpr PortText kPortTexts[] = {
    {Symptom::kPortMissing,
     "the port is not there: ports without a cable can be powered down and vanish (hot-plug power "
     "saving), or the manifest names the wrong cage",
     "check `ip link` on {} with the cable plugged in and the node's cage in the manifest"},
    {Symptom::kPortElsewhere,
     "the port is not the one that the hardware profile takes it for, so that another cage's cable "
     "is meant",
     "describe the ports of {} in hardware of the manifest"},
    {Symptom::kLinkDown, "the port is set down on the node, so it cannot have carrier",
     "run `spark-reconcile plan`: apply sets the port of {} up"},
    {Symptom::kNoCarrier, "",
     "reseat the cable of {} at both ends; if it stays, try another cable"},
    {Symptom::kAddressMissing, "the rail's address is not on the port",
     "run `spark-reconcile plan`: apply gives the ports of {} their addresses"},
    {Symptom::kMtuWrong, "the port's MTU is not the fabric's",
     "run `spark-reconcile plan`: apply sets the MTU of {}"},
    {Symptom::kSpeedLow,
     "the port runs slower than its cable can: the other end's rate or FEC is set or negotiated "
     "otherwise, or the cable is made for less",
     "compare `ethtool` on {} with the port at the other end; `spark-reconcile graph` says what a "
     "switch must have"},
    {Symptom::kFecWrong,
     "the port's FEC is not that of the switch in the manifest: links with different FEC do not "
     "come up or lose packets",
     "compare `ethtool --show-fec` on {} with the switch's port; `spark-reconcile graph` says what "
     "the switch must have"},
    {Symptom::kErrorsGrew,
     "the port counted bad or dropped frames, or lost its link, while verify ran: its cable or a "
     "plug, another FEC at the other end, or frames that come faster than the node takes them",
     "reseat the cable of {} at both ends and run verify again; if it stays, try another cable"},
    {Symptom::kLanesDiffer,
     "the port has another number of lanes than the other ports of its cable: the port at the "
     "other "
     "end is split or set otherwise, or a lane of the cable is broken",
     "compare `ethtool` on both ends of the cable of {} and reseat it; `spark-reconcile graph` "
     "says "
     "how a switch's ports must be set"},
};

const Segment* FindSegment(const Fabric& fabric, int rail) {
  for (const Segment& segment : fabric.segments) {
    if (segment.rail == rail) return &segment;
  }
  return nullptr;
}

std::optional<std::size_t> FindFault(const Diagnosis& diagnosis, const NodeName& node, int rail,
                                     Symptom symptom) {
  const auto found = diagnosis.port_faults.find({node, rail});
  if (found == diagnosis.port_faults.end()) return std::nullopt;
  for (const auto& [fault, finding] : found->second) {
    if (fault == symptom) return finding;
  }
  return std::nullopt;
}

// Carrier is a matter of both ends. The nodes to name: all on the segment when none has carrier.
std::vector<NodeName> ListWithoutCarrier(const Diagnosis& diagnosis, const Check& check) {
  const Segment* segment = FindSegment(diagnosis.fabric, check.rail.value_or(-1));
  if (segment == nullptr) return {check.from};
  std::vector<NodeName> dark;
  for (const RailPort& port : segment->ports) {
    const bool is_dark =
        std::any_of(diagnosis.checks.begin(), diagnosis.checks.end(), [&port](const Check& other) {
          return other.symptom == Symptom::kNoCarrier && other.from == port.node &&
                 other.rail == port.rail;
        });
    if (is_dark) dark.push_back(port.node);
  }
  return dark.size() == segment->ports.size() ? dark : std::vector<NodeName>{check.from};
}

// The other end of a cable between two nodes is set down or missing: that is why there is no
// carrier.
std::optional<std::size_t> FindFaultAtOtherEnd(const Diagnosis& diagnosis, const Check& check) {
  const RailPort* port = FindOtherEnd(diagnosis.fabric, check.from, check.rail.value_or(-1));
  if (port == nullptr) return std::nullopt;
  for (const Symptom symptom : {Symptom::kPortMissing, Symptom::kLinkDown}) {
    if (const auto finding = FindFault(diagnosis, port->node, port->rail, symptom)) return finding;
  }
  return std::nullopt;
}

// networkd takes a port's addresses away when its carrier goes, and restores them with it.
std::optional<std::size_t> ExplainNoAddress(const Diagnosis& diagnosis, const Check& check) {
  const RailPort* port = FindPort(diagnosis.fabric, check.from, check.rail.value_or(-1));
  const auto node = diagnosis.facts.nodes.find(check.from);
  if (port == nullptr || node == diagnosis.facts.nodes.end()) return std::nullopt;
  const auto link = node->second.links.find(port->netdev);
  const bool bare = link != node->second.links.end() && link->second.ipv4.empty();
  if (!bare || !check.evidence.empty()) return std::nullopt;  // evidence: it is on another port
  for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
    const Check& other = diagnosis.checks[i];
    const bool dark = other.symptom == Symptom::kNoCarrier || other.symptom == Symptom::kLinkDown;
    if (dark && other.from == check.from && other.rail == check.rail)
      return diagnosis.FindExplanation(i);
  }
  return std::nullopt;
}

std::string ExplainCarrier(const std::vector<NodeName>& nodes) {
  if (nodes.size() == 1) {
    return fmt::format("no signal at {}: its cable, or the port at the other end is off",
                       nodes.front());
  }
  return nodes.size() == 2 ? "neither end sees a signal: the cable is out or broken"
                           : "no node on the rail sees a signal: the switch is off";
}

// A slow port answers, and so does one with a name of another's.
bool SilencesPort(Symptom symptom) {
  return symptom != Symptom::kSpeedLow && symptom != Symptom::kFecWrong &&
         symptom != Symptom::kLanesDiffer && symptom != Symptom::kErrorsGrew &&
         symptom != Symptom::kPortElsewhere;
}

void ExplainPorts(Diagnosis& diagnosis, const PortText& text) {
  std::map<std::vector<NodeName>, std::vector<std::size_t>> groups;
  std::vector<std::vector<NodeName>> order;  // of first appearance: node order of the manifest
  for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
    const Check& check = diagnosis.checks[i];
    if (check.level != VerifyLevel::kFacts || check.symptom != text.symptom || !diagnosis.IsOpen(i))
      continue;
    std::vector<NodeName> nodes = {check.from};
    if (text.symptom == Symptom::kNoCarrier) {
      if (const auto finding = FindFaultAtOtherEnd(diagnosis, check)) {
        diagnosis.Explain(i, *finding);
        continue;
      }
      nodes = ListWithoutCarrier(diagnosis, check);
    }
    if (text.symptom == Symptom::kAddressMissing) {
      if (const auto finding = ExplainNoAddress(diagnosis, check)) {
        diagnosis.Explain(i, *finding);
        continue;
      }
    }
    if (!groups.contains(nodes)) order.push_back(nodes);
    groups[nodes].push_back(i);
  }
  for (const std::vector<NodeName>& nodes : order) {
    Finding finding =
        diagnosis.DraftFinding(std::string(ToString(text.symptom)), nodes, groups[nodes]);
    finding.cause = text.cause.empty() ? ExplainCarrier(nodes) : std::string(text.cause);
    finding.next_step = fmt::format(fmt::runtime(text.next), Join(nodes, ", "));
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : groups[nodes]) {
      const Check& check = diagnosis.checks[i];
      diagnosis.Explain(i, id);
      if (!SilencesPort(text.symptom)) continue;
      diagnosis.port_faults[{check.from, check.rail.value_or(0)}].emplace_back(text.symptom, id);
    }
  }
}

void ExplainMemlock(Diagnosis& diagnosis) {
  const auto groups = diagnosis.GroupOpenChecks(
      Symptom::kMemlockLow, [](const Check& check) { return check.what + check.measured; });
  for (const auto& [key, checks] : groups) {
    std::vector<NodeName> nodes;
    for (const std::size_t i : checks) nodes.push_back(diagnosis.checks[i].from);
    Finding finding = diagnosis.DraftFinding("memlock-low", nodes, checks);
    const bool service = diagnosis.checks[checks.front()].what == "memlock-service";
    finding.cause = fmt::format(
        "{} may lock too little memory: RDMA cannot register its buffers, and NCCL fails or falls "
        "back to sockets",
        service ? "a service" : "a login session");
    finding.next_step = fmt::format(
        "run `spark-reconcile plan`; a limit that is set already counts from the next {} on",
        service ? "start of a service" : "login");
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : checks) diagnosis.Explain(i, id);
  }
}

void ExplainDifferences(Diagnosis& diagnosis) {
  const auto groups = diagnosis.GroupOpenChecks(
      Symptom::kVersionsDiffer, [](const Check& check) { return check.subject + check.measured; });
  for (const auto& [key, checks] : groups) {
    const Check& check = diagnosis.checks[checks.front()];
    Finding finding = diagnosis.DraftFinding("versions-differ", {check.from}, checks);
    finding.cause = fmt::format(
        "the {} is not the same everywhere: an update was not installed on all nodes or boards",
        check.subject);
    finding.next_step = "install the same updates on all nodes and restart them";
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : checks) diagnosis.Explain(i, id);
  }
}

}  // namespace

void ExplainByFacts(Diagnosis& diagnosis) {
  for (const PortText& text : kPortTexts) ExplainPorts(diagnosis, text);
  ExplainDifferences(diagnosis);
  ExplainMemlock(diagnosis);
}

}  // namespace reconciler
