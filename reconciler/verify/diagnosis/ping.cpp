#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/diagnosis/casebook.h"

namespace reconciler {
namespace {

// 0: not known.
int LiveMtu(const Casebook& book, const RailPort& port) {
  const auto node = book.facts.nodes.find(port.node);
  if (node == book.facts.nodes.end()) return 0;
  const auto link = node->second.links.find(port.netdev);
  return link == node->second.links.end() ? 0 : link->second.mtu;
}

bool Explains(const Casebook& book, Symptom fault, const RailPort& port, Symptom ping) {
  if (fault != Symptom::kMtuWrong) return true;
  // A small ping does not care; and a port whose MTU is too large takes all that is sent to it.
  const bool size_matters = ping == Symptom::kJumboLost || ping == Symptom::kTooLongForSender ||
                            ping == Symptom::kSomeLost;
  return size_matters && LiveMtu(book, port) < port.mtu;
}

void ExplainByPorts(Casebook& book) {
  for (std::size_t i = 0; i < book.checks.size(); ++i) {
    const Check& check = book.checks[i];
    if (check.rung != Rung::kPing || !book.IsOpen(i) || !check.rail) continue;
    for (const NodeName& node : {check.from, check.to}) {
      const RailPort* port = FindPort(book.fabric, node, *check.rail);
      const auto faults = book.port_faults.find({node, *check.rail});
      if (port == nullptr || faults == book.port_faults.end()) continue;
      for (const auto& [fault, finding] : faults->second) {
        if (Explains(book, fault, *port, check.symptom)) book.Explain(i, finding);
      }
    }
  }
}

bool IsCable(const Casebook& book, const Pattern& pattern) {
  return std::all_of(book.fabric.segments.begin(), book.fabric.segments.end(),
                     [&pattern](const Segment& segment) {
                       return !pattern.rails.contains(segment.rail) || segment.ports.size() == 2;
                     });
}

struct Words {
  std::string code;
  std::string cause;
  std::string next;
};

std::string BothWaysHint(const NodeName& node) {
  return fmt::format(
      "look for a firewall on {} (`ufw status`, `nft list ruleset`) and for "
      "rp_filter on the rail's ports",
      node);
}

Words OneWayWords(const Pattern& pattern) {
  switch (pattern.scope) {
    case Scope::kInto:
      return {
          "one-way",
          fmt::format("pings to {0} fail while its own come back, and an echo travels both ways: "
                      "{0} itself does not answer what comes in",
                      pattern.nodes[0]),
          BothWaysHint(pattern.nodes[0])};
    case Scope::kOutOf:
      return {
          "one-way",
          fmt::format("pings from {0} fail while those to it come back, and an echo travels both "
                      "ways: {0} does not send them out, or drops the answers",
                      pattern.nodes[0]),
          BothWaysHint(pattern.nodes[0])};
    case Scope::kOneWay:
      return {
          "one-way",
          fmt::format("pings from {0} to {1} fail while those from {1} to {0} come back, and an "
                      "echo travels both ways: {1} does not answer {0}, or {0} drops the answers",
                      pattern.nodes[0], pattern.nodes[1]),
          BothWaysHint(pattern.nodes[1])};
    case Scope::kEverywhere:
    case Scope::kNode:
    case Scope::kPair:
      break;
  }
  return {};
}

Words SilenceWords(const Casebook& book, const Pattern& pattern) {
  const std::string rails = RailsText(pattern.rails);
  switch (pattern.scope) {
    case Scope::kEverywhere:
      return {"rail-dead",
              fmt::format("no node hears another on {}, though every port is up with its address: "
                          "the switch does not forward between their ports (VLAN, isolation)",
                          rails),
              "look at the switch: all ports of a rail in one VLAN, untagged"};
    case Scope::kNode:
      return {"node-cut-off",
              fmt::format("{} hears no peer on {} while the others hear each other: its cable, its "
                          "switch port or VLAN, or a firewall on it",
                          pattern.nodes[0], rails),
              fmt::format("compare the switch port of {0} with one that works; `ip neigh` and the "
                          "firewall on {0}",
                          pattern.nodes[0])};
    case Scope::kPair:
      if (IsCable(book, pattern)) {
        return {
            "no-path",
            fmt::format("{} and {} both have carrier and address on {}, and nothing passes: the "
                        "cable joins other ports than the manifest says, or one of them drops it",
                        pattern.nodes[0], pattern.nodes[1], rails),
            fmt::format("follow the cable, and look at `ip neigh` and the firewall on {} and {}",
                        pattern.nodes[0], pattern.nodes[1])};
      }
      return {"no-path",
              fmt::format("{} and {} reach other nodes on {} but not each other: the way between "
                          "their switch ports, or a firewall rule for one peer",
                          pattern.nodes[0], pattern.nodes[1], rails),
              "look at the links between switches, at port isolation, and at both firewalls"};
    case Scope::kInto:
    case Scope::kOutOf:
    case Scope::kOneWay:
      break;
  }
  return OneWayWords(pattern);
}

Words JumboWords(const Casebook& book, const Pattern& pattern) {
  const std::string rails = RailsText(pattern.rails);
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
      if (IsCable(book, pattern)) {
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
    case Scope::kInto:
    case Scope::kOutOf:
    case Scope::kOneWay:
      break;
  }
  return OneWayWords(pattern);
}

Words LossWords(const Pattern& pattern) {
  return {
      "packet-loss",
      fmt::format("packets get lost on {} although nothing else loads it: a bad cable or "
                  "transceiver, a dirty contact, or a switch port that drops",
                  RailsText(pattern.rails)),
      "run verify again; if it stays, compare `ethtool -S` error counters before and after, and "
      "reseat the cable"};
}

Words SenderWords(const NodeName& node) {
  return {"sender-mtu",
          fmt::format("the kernel of {} refuses the size although its port had the right MTU: the "
                      "MTU has changed since, or a route has a smaller one",
                      node),
          fmt::format("look at `ip link` and `ip route` on {}", node)};
}

Words WordsFor(const Casebook& book, Symptom symptom, const Pattern& pattern) {
  if (symptom == Symptom::kNothingBack) return SilenceWords(book, pattern);
  return symptom == Symptom::kJumboLost ? JumboWords(book, pattern) : LossWords(pattern);
}

void AddMtuEvidence(const Casebook& book, Finding& finding) {
  for (const NodeName& node : finding.nodes) {
    for (const int rail : finding.rails) {
      const RailPort* port = FindPort(book.fabric, node, rail);
      if (port == nullptr || LiveMtu(book, *port) == 0) continue;
      finding.evidence.push_back(
          fmt::format("{}: {} has mtu {}", node, port->netdev, LiveMtu(book, *port)));
    }
  }
}

void ExplainSymptom(Casebook& book, Symptom symptom) {
  for (const Pattern& pattern : FindPathPatterns(book.Arrows(Rung::kPing, symptom))) {
    Words words = WordsFor(book, symptom, pattern);
    Finding finding = book.Draft(std::move(words.code), pattern.nodes, pattern.checks);
    finding.cause = std::move(words.cause);
    finding.next_step = std::move(words.next);
    constexpr std::size_t kFewNodes = 2;  // more lines would say the same of each
    if (symptom == Symptom::kJumboLost && finding.nodes.size() <= kFewNodes) {
      AddMtuEvidence(book, finding);
    }
    const std::size_t id = book.Open(std::move(finding));
    for (const std::size_t i : pattern.checks) book.Explain(i, id);
  }
}

// The sender alone decides: one finding per sender. Jumbo packets to it are lost for the same
// reason.
void ExplainSenders(Casebook& book) {
  const auto groups =
      book.OpenBy(Symptom::kTooLongForSender, [](const Check& check) { return check.from; });
  for (const auto& [node, checks] : groups) {
    Words words = SenderWords(node);
    Finding finding = book.Draft(std::move(words.code), {node}, checks);
    finding.cause = std::move(words.cause);
    finding.next_step = std::move(words.next);
    const std::set<int> rails = finding.rails;
    const std::size_t id = book.Open(std::move(finding));
    for (const std::size_t i : checks) book.Explain(i, id);
    for (std::size_t i = 0; i < book.checks.size(); ++i) {
      const Check& check = book.checks[i];
      const bool lost = check.symptom == Symptom::kJumboLost && check.to == node;
      if (lost && check.rail && rails.contains(*check.rail)) book.Explain(i, id);
    }
  }
}

}  // namespace

void ExplainPings(Casebook& book) {
  ExplainByPorts(book);
  ExplainSenders(book);
  for (const Symptom symptom : {Symptom::kNothingBack, Symptom::kJumboLost, Symptom::kSomeLost}) {
    ExplainSymptom(book, symptom);
  }
}

}  // namespace reconciler
