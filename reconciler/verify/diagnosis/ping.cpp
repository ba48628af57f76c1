#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/model/find.h"
#include "reconciler/verify/diagnosis/diagnosis.h"

namespace reconciler {
namespace {

// 0: not known.
int FindLiveMtu(const Diagnosis& diagnosis, const RailPort& port) {
  const auto node = diagnosis.facts.nodes.find(port.node);
  if (node == diagnosis.facts.nodes.end()) return 0;
  const auto link = node->second.links.find(port.netdev);
  return link == node->second.links.end() ? 0 : link->second.mtu;
}

bool CanExplain(const Diagnosis& diagnosis, Symptom fault, const RailPort& port, Symptom ping) {
  if (fault != Symptom::kMtuWrong) return true;
  // A small ping does not care; and a port whose MTU is too large takes all that is sent to it.
  const bool size_matters = ping == Symptom::kJumboLost || ping == Symptom::kTooLongForSender ||
                            ping == Symptom::kSomeLost;
  return size_matters && FindLiveMtu(diagnosis, port) < port.mtu;
}

void ExplainByPorts(Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
    const Check& check = diagnosis.checks[i];
    if (check.level != VerifyLevel::kPing || !diagnosis.IsOpen(i) || !check.rail) continue;
    for (const NodeName& node : {check.from, check.to}) {
      const RailPort* port = FindPort(diagnosis.fabric, node, *check.rail);
      const auto faults = diagnosis.port_faults.find({node, *check.rail});
      if (port == nullptr || faults == diagnosis.port_faults.end()) continue;
      for (const auto& [fault, finding] : faults->second) {
        if (CanExplain(diagnosis, fault, *port, check.symptom)) diagnosis.Explain(i, finding);
      }
    }
  }
}

bool IsCable(const Diagnosis& diagnosis, const Pattern& pattern) {
  return std::all_of(diagnosis.fabric.segments.begin(), diagnosis.fabric.segments.end(),
                     [&pattern](const Segment& segment) {
                       return !pattern.rails.contains(segment.rail) || segment.ports.size() == 2;
                     });
}

struct Explanation {
  std::string code;
  std::string cause;
  std::string next;
};

std::string FormatBothWaysHint(const NodeName& node) {
  return fmt::format(
      "check for a firewall on {} (`ufw status`, `nft list ruleset`) and for rp_filter on the "
      "rail's ports",
      node);
}

Explanation ExplainOneWay(const Pattern& pattern) {
  switch (pattern.scope) {
    case Scope::kIncoming:
      return {
          "one-way",
          fmt::format("pings to {0} fail while its own come back, and an echo travels both ways: "
                      "{0} itself does not answer what comes in",
                      pattern.nodes[0]),
          FormatBothWaysHint(pattern.nodes[0])};
    case Scope::kOutgoing:
      return {
          "one-way",
          fmt::format("pings from {0} fail while those to it come back, and an echo travels both "
                      "ways: {0} does not send them out, or drops the answers",
                      pattern.nodes[0]),
          FormatBothWaysHint(pattern.nodes[0])};
    case Scope::kOneWay:
      return {
          "one-way",
          fmt::format("pings from {0} to {1} fail while those from {1} to {0} come back, and an "
                      "echo travels both ways: {1} does not answer {0}, or {0} drops the answers",
                      pattern.nodes[0], pattern.nodes[1]),
          FormatBothWaysHint(pattern.nodes[1])};
    case Scope::kEverywhere:
    case Scope::kNode:
    case Scope::kPair:
      break;
  }
  return {};
}

Explanation ExplainSilence(const Diagnosis& diagnosis, const Pattern& pattern) {
  const std::string rails = FormatRails(pattern.rails);
  switch (pattern.scope) {
    case Scope::kEverywhere:
      return {"rail-dead",
              fmt::format("no node hears another on {}, though every port is up with its address: "
                          "the switch does not forward between their ports (VLAN, isolation)",
                          rails),
              "check the switch: all ports of a rail in one VLAN, untagged"};
    case Scope::kNode:
      return {"node-cut-off",
              fmt::format("{} hears no peer on {} while the others hear each other: its cable, its "
                          "switch port or VLAN, or a firewall on it",
                          pattern.nodes[0], rails),
              fmt::format("compare the switch port of {0} with one that works; `ip neigh` and the "
                          "firewall on {0}",
                          pattern.nodes[0])};
    case Scope::kPair:
      if (IsCable(diagnosis, pattern)) {
        return {
            "no-path",
            fmt::format("{} and {} both have carrier and address on {}, and nothing passes: the "
                        "cable joins other ports than in the manifest, or one of them drops it",
                        pattern.nodes[0], pattern.nodes[1], rails),
            fmt::format("run `spark-reconcile cabling`, which names a plug in another cage; then "
                        "check `ip neigh` and the firewall on {} and {}",
                        pattern.nodes[0], pattern.nodes[1])};
      }
      return {"no-path",
              fmt::format("{} and {} reach other nodes on {} but not each other: the way between "
                          "their switch ports, or a firewall rule for one peer",
                          pattern.nodes[0], pattern.nodes[1], rails),
              "check the links between switches, port isolation, and both firewalls"};
    case Scope::kIncoming:
    case Scope::kOutgoing:
    case Scope::kOneWay:
      break;
  }
  return ExplainOneWay(pattern);
}

Explanation ExplainJumboLoss(const Diagnosis& diagnosis, const Pattern& pattern) {
  const std::string rails = FormatRails(pattern.rails);
  constexpr std::string_view kNext =
      "set the switch's L2 MTU (l2mtu, jumbo frames) above the fabric's, on every port of the rail";
  switch (pattern.scope) {
    case Scope::kEverywhere:
      return {
          "path-mtu",
          fmt::format("every port on {} has the right MTU, so the switch's is too small", rails),
          std::string(kNext)};
    case Scope::kNode:
      return {
          "path-mtu",
          fmt::format("both ends have the right MTU, and only packets to and from {} are lost on "
                      "{}: the MTU of its switch port is too small",
                      pattern.nodes[0], rails),
          fmt::format("set the L2 MTU (l2mtu, jumbo frames) of the switch port of {} above the "
                      "fabric's",
                      pattern.nodes[0])};
    case Scope::kPair:
      if (IsCable(diagnosis, pattern)) {
        return {
            "path-mtu",
            fmt::format("{} and {} both have the right MTU on {}: something between them has a "
                        "smaller one (a switch on what should be a cable), or a driver limit",
                        pattern.nodes[0], pattern.nodes[1], rails),
            fmt::format("follow the cable; `ip -d link` on {} and {} shows the largest MTU that "
                        "the driver takes",
                        pattern.nodes[0], pattern.nodes[1])};
      }
      return {
          "path-mtu",
          fmt::format("both ends have the right MTU, so a link between the switch ports of {} and "
                      "{} has a smaller one on {}",
                      pattern.nodes[0], pattern.nodes[1], rails),
          std::string(kNext)};
    case Scope::kIncoming:
    case Scope::kOutgoing:
    case Scope::kOneWay:
      break;
  }
  return ExplainOneWay(pattern);
}

Explanation ExplainLoss(const Pattern& pattern) {
  return {
      "packet-loss",
      fmt::format("packets get lost on {} although nothing else loads it: a bad cable or "
                  "transceiver, a dirty contact, or a switch port that drops",
                  FormatRails(pattern.rails)),
      "run verify again; if it stays, compare `ethtool -S` error counters before and after, and "
      "reseat the cable"};
}

Explanation ExplainSender(const NodeName& node) {
  return {"sender-mtu",
          fmt::format("the kernel of {} refuses the size although its port had the right MTU: the "
                      "MTU has changed since, or a route has a smaller one",
                      node),
          fmt::format("check `ip link` and `ip route` on {}", node)};
}

Explanation ExplainPattern(const Diagnosis& diagnosis, Symptom symptom, const Pattern& pattern) {
  if (symptom == Symptom::kNothingBack) return ExplainSilence(diagnosis, pattern);
  return symptom == Symptom::kJumboLost ? ExplainJumboLoss(diagnosis, pattern)
                                        : ExplainLoss(pattern);
}

void AddMtuEvidence(const Diagnosis& diagnosis, Finding& finding) {
  for (const NodeName& node : finding.nodes) {
    for (const int rail : finding.rails) {
      const RailPort* port = FindPort(diagnosis.fabric, node, rail);
      if (port == nullptr || FindLiveMtu(diagnosis, *port) == 0) continue;
      finding.evidence.push_back(
          fmt::format("{}: {} has mtu {}", node, port->netdev, FindLiveMtu(diagnosis, *port)));
    }
  }
}

void ExplainSymptom(Diagnosis& diagnosis, Symptom symptom) {
  for (const Pattern& pattern :
       FindPathPatterns(diagnosis.ListArrows(VerifyLevel::kPing, symptom))) {
    Explanation words = ExplainPattern(diagnosis, symptom, pattern);
    Finding finding = diagnosis.DraftFinding(std::move(words.code), pattern.nodes, pattern.checks);
    finding.cause = std::move(words.cause);
    finding.next_step = std::move(words.next);
    constexpr std::size_t kFewNodes = 2;  // more lines would say the same of each
    if (symptom == Symptom::kJumboLost && finding.nodes.size() <= kFewNodes) {
      AddMtuEvidence(diagnosis, finding);
    }
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : pattern.checks) diagnosis.Explain(i, id);
  }
}

// The sender alone decides: one finding per sender. Jumbo packets to it are lost for the same
// reason.
void ExplainSenders(Diagnosis& diagnosis) {
  const auto groups = diagnosis.GroupOpenChecks(Symptom::kTooLongForSender,
                                                [](const Check& check) { return check.from; });
  for (const auto& [node, checks] : groups) {
    Explanation words = ExplainSender(node);
    Finding finding = diagnosis.DraftFinding(std::move(words.code), {node}, checks);
    finding.cause = std::move(words.cause);
    finding.next_step = std::move(words.next);
    const std::set<int> rails = finding.rails;
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : checks) diagnosis.Explain(i, id);
    for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
      const Check& check = diagnosis.checks[i];
      const bool lost = check.symptom == Symptom::kJumboLost && check.to == node;
      if (lost && check.rail && rails.contains(*check.rail)) diagnosis.Explain(i, id);
    }
  }
}

}  // namespace

void ExplainPings(Diagnosis& diagnosis) {
  ExplainByPorts(diagnosis);
  ExplainSenders(diagnosis);
  for (const Symptom symptom : {Symptom::kNothingBack, Symptom::kJumboLost, Symptom::kSomeLost}) {
    ExplainSymptom(diagnosis, symptom);
  }
}

}  // namespace reconciler
