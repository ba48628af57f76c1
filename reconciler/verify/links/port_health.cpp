#include "reconciler/verify/links/port_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// What ethtool reports of a port; nothing where it was not run.
PortFacts FindPortFacts(const NodeFacts& facts, const RailPort& port) {
  const auto found = facts.network.ports.find(port.netdev);
  return found != facts.network.ports.end() ? found->second : PortFacts{};
}

// nullptr: without carrier a port has neither a speed nor lanes.
const LinkFact* FindLinkWithCarrier(const NodeFacts& facts, const RailPort& port) {
  const auto link = facts.links.find(port.netdev);
  return link != facts.links.end() && link->second.carrier ? &link->second : nullptr;
}

// As the switch says that this port's cage hangs on; a cable between nodes is no switch's.
Fec FindFec(const ClusterSpec& cluster, const RailPort& rail) {
  const NodeSpec* node = cluster.FindNode(rail.node);
  for (const SwitchSpec& one : cluster.switches) {
    for (const SwitchPort& port : one.ports) {
      const std::string& cage =
          port.peer.cage.empty() && node != nullptr ? node->cage : port.peer.cage;
      if (port.peer.node == rail.node && (cage.empty() || cage == rail.cage)) return one.fec;
    }
  }
  return Fec::kAuto;  // nothing requires another
}

// The manifest's name for it, of what drivers call it: mlx5 says "RS" for every Reed-Solomon code,
// others "RS544" or "RS(544,514)", and "LLRS" is one with shorter blocks. kAuto: "Auto", "None"
// (which means that the driver cannot report it) and words that are not known decide nothing.
// https://www.kernel.org/doc/html/latest/networking/ethtool-netlink.html#fec-get
Fec ParseEthtoolFec(std::string_view word) {
  const std::string name = ToLower(std::string(word));
  if (name == "off") return Fec::kOff;
  if (name == "baser" || name == "base-r" || name.starts_with("fc")) return Fec::kFc;
  return name.starts_with("rs") || name.starts_with("llrs") ? Fec::kRs : Fec::kAuto;
}

std::string_view FormatEthtoolFec(Fec fec) {
  switch (fec) {
    case Fec::kAuto:
      return "";
    case Fec::kRs:
      return "RS";
    case Fec::kFc:
      return "BaseR";
    case Fec::kOff:
      return "Off";
  }
  return {};
}

Check MakeCheck(const RailPort& port, std::string what, std::string measured) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = port.node,
          .rail = port.rail,
          .measured = std::move(measured)};
}

Check MakeSkippedCheck(const RailPort& port, std::string what) {
  Check check = MakeCheck(port, std::move(what), "");
  check.outcome = Outcome::kSkipped;
  check.why = "no carrier";
  return check;
}

Check MakeFecCheck(const ClusterSpec& cluster, const RailPort& port,
                   const std::vector<std::string>& fec) {
  Check check = MakeCheck(port, "fec", "FEC " + MakePrintable(Join(fec, " ")));
  const Fec wanted = FindFec(cluster, port);
  if (wanted == Fec::kAuto) return check;
  std::set<Fec> active;
  for (const std::string& word : fec) active.insert(ParseEthtoolFec(word));
  active.erase(Fec::kAuto);
  if (active.empty()) return check;
  check.expected = fmt::format("FEC {} on {}", FormatEthtoolFec(wanted), port.netdev);
  if (!active.contains(wanted)) {
    check.outcome = Outcome::kFail;
    check.symptom = Symptom::kFecWrong;
  }
  return check;
}

std::string FormatLanes(int lanes) {
  return fmt::format("{} {}", lanes, lanes == 1 ? "lane" : "lanes");
}

Check MakeLanesCheck(const RailPort& port, int lanes, const int* usual) {
  Check check = MakeCheck(port, "lanes", FormatLanes(lanes));
  if (usual == nullptr) return check;
  check.expected = fmt::format("{} on {}, as its cable has", FormatLanes(*usual), port.netdev);
  if (lanes != *usual) {
    check.outcome = Outcome::kWarn;
    check.symptom = Symptom::kLanesDiffer;
  }
  return check;
}

// "0 rx_crc_errors_phy, 3 link_down_events_phy"
std::string FormatErrors(const PortFacts& reported) {
  std::vector<std::string> errors;
  if (const auto* count = Known(reported.rx_crc_errors)) {
    errors.push_back(fmt::format("{} rx_crc_errors_phy", *count));
  }
  if (const auto* count = Known(reported.link_down_events)) {
    errors.push_back(fmt::format("{} link_down_events_phy", *count));
  }
  return Join(errors, ", ");
}

// A number per cable, of each cage of a node that it is in.
using CableNumbers = std::map<std::pair<NodeName, std::string>, int>;

CableNumbers NumberCables(const Fabric& fabric) {
  CableNumbers numbers;
  int last = 0;
  for (const Wire& wire : fabric.wires) {
    ++last;
    for (const PlugEnd* end : {&wire.a, &wire.b}) {
      if (!end->on_switch) numbers[{end->device, end->port}] = last;
    }
  }
  for (const auto& [node, ports] : fabric.ports) {
    for (const RailPort& port : ports) {
      if (numbers.try_emplace({node, port.cage}, last + 1).second) ++last;
    }
  }
  return numbers;
}

}  // namespace

CableLanes FindCableLanes(const Fabric& fabric, const ClusterFacts& facts) {
  CableLanes cables;
  const CableNumbers numbers = NumberCables(fabric);
  std::map<int, std::map<int, std::size_t>> counts;  // ports by lanes, by cable
  for (const auto& [node, ports] : fabric.ports) {
    const auto known = facts.nodes.find(node);
    if (known == facts.nodes.end()) continue;
    for (const RailPort& port : ports) {
      const LinkFact* link = FindLinkWithCarrier(known->second, port);
      const PortFacts reported = FindPortFacts(known->second, port);
      const int* lanes = Known(reported.lanes);
      if (link != nullptr && lanes != nullptr) ++counts[numbers.at({node, port.cage})][*lanes];
    }
  }
  for (const auto& [end, number] : numbers) {
    std::size_t most = 0;
    for (const auto& [lanes, count] : counts[number]) {
      if (count < most) continue;  // of two that are equally frequent, more lanes: one lost some
      most = count;
      cables[end] = lanes;
    }
  }
  return cables;
}

void JudgeEthtool(const ClusterSpec& cluster, const CableLanes& cables, const RailPort& port,
                  const NodeFacts& facts, std::vector<Check>& checks) {
  const PortFacts reported = FindPortFacts(facts, port);
  if (const std::string errors = FormatErrors(reported); !errors.empty()) {
    checks[5].evidence.push_back(
        MakePrintable(fmt::format("{}: {} since the driver was loaded", port.netdev, errors)));
  }
  const LinkFact* link = FindLinkWithCarrier(facts, port);
  if (const int* lanes = Known(reported.lanes)) {
    if (link == nullptr) {
      checks.push_back(MakeSkippedCheck(port, "lanes"));
    } else {
      const auto most = cables.find({port.node, port.cage});
      checks.push_back(
          MakeLanesCheck(port, *lanes, most == cables.end() ? nullptr : &most->second));
    }
  }
  if (const std::vector<std::string>* fec = Known(reported.fec)) {
    checks.push_back(link == nullptr ? MakeSkippedCheck(port, "fec")
                                     : MakeFecCheck(cluster, port, *fec));
  }
}

}  // namespace reconciler
