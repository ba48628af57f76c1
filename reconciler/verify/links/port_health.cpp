#include "reconciler/verify/links/port_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

std::pair<std::string, int> DescribeLinkKind(const ClusterSpec& cluster, const RailPort& port,
                                             const LinkFact& link) {
  const NodeSpec* node = cluster.FindNode(port.node);
  return {node != nullptr ? node->hardware : std::string(), link.speed_mbps};
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

// ethtool's names: "RS", "BaseR", "Off", and on some drivers several of them.
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
  const std::string_view wanted = FormatEthtoolFec(FindFec(cluster, port));
  if (wanted.empty()) return check;
  check.expected = fmt::format("FEC {} on {}", wanted, port.netdev);
  if (std::find(fec.begin(), fec.end(), wanted) == fec.end()) {
    check.outcome = Outcome::kFail;
    check.symptom = Symptom::kFecWrong;
  }
  return check;
}

std::string FormatLanes(int lanes) {
  return fmt::format("{} {}", lanes, lanes == 1 ? "lane" : "lanes");
}

Check MakeLanesCheck(const RailPort& port, int lanes, const int* usual, int mbps) {
  Check check = MakeCheck(port, "lanes", FormatLanes(lanes));
  if (usual == nullptr) return check;
  check.expected = fmt::format("{} on {}, as most ports of {} Mb/s have", FormatLanes(*usual),
                               port.netdev, mbps);
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

}  // namespace

UsualLanes FindUsualLanes(const ClusterSpec& cluster, const Fabric& fabric,
                          const ClusterFacts& facts) {
  std::map<std::pair<std::string, int>, std::map<int, std::size_t>> counts;
  for (const auto& [node, ports] : fabric.ports) {
    const auto known = facts.nodes.find(node);
    if (known == facts.nodes.end()) continue;
    for (const RailPort& port : ports) {
      const LinkFact* link = FindLinkWithCarrier(known->second, port);
      const PortFacts reported = FindPortFacts(known->second, port);
      const int* lanes = Known(reported.lanes);
      if (link != nullptr && lanes != nullptr)
        ++counts[DescribeLinkKind(cluster, port, *link)][*lanes];
    }
  }
  UsualLanes usual;
  for (const auto& [kind, of_kind] : counts) {
    std::size_t total = 0;
    for (const auto& [lanes, count] : of_kind) total += count;
    for (const auto& [lanes, count] : of_kind) {
      if (count * 2 > total) usual[kind] = lanes;
    }
  }
  return usual;
}

void JudgeEthtool(const ClusterSpec& cluster, const UsualLanes& usual, const RailPort& port,
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
      const auto most = usual.find(DescribeLinkKind(cluster, port, *link));
      checks.push_back(MakeLanesCheck(port, *lanes, most == usual.end() ? nullptr : &most->second,
                                      link->speed_mbps));
    }
  }
  if (const std::vector<std::string>* fec = Known(reported.fec)) {
    checks.push_back(link == nullptr ? MakeSkippedCheck(port, "fec")
                                     : MakeFecCheck(cluster, port, *fec));
  }
}

}  // namespace reconciler
