#include <algorithm>
#include <set>

#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/roofline.h"

namespace reconciler {
namespace {

using SwitchNames = std::set<std::string>;

// Of more switches each alone is held against the others: of leaves and spines that is the
// narrowest place, and all ways to divide them would be too many.
constexpr std::size_t kMostDivided = 12;

bool IsUplink(const Wire& wire) { return wire.a.on_switch && wire.b.on_switch; }

// Those that are cabled to another one.
std::vector<std::string> ListSwitches(const Fabric& fabric) {
  SwitchNames names;
  for (const Wire& wire : fabric.wires) {
    if (IsUplink(wire)) names.insert({wire.a.device, wire.b.device});
  }
  return {names.begin(), names.end()};
}

// One part of each way to divide the switches in two.
std::vector<SwitchNames> ListParts(const std::vector<std::string>& switches) {
  std::vector<SwitchNames> parts;
  if (switches.size() > kMostDivided) {
    for (const std::string& name : switches) parts.push_back({name});
    return parts;
  }
  // The last switch is always in the other part, so that each way comes once.
  for (std::size_t way = 1; way < (std::size_t{1} << switches.size()) / 2; ++way) {
    SwitchNames part;
    for (std::size_t i = 0; i < switches.size(); ++i) {
      if ((way >> i & 1) != 0) part.insert(switches[i]);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

double CountNodes(const Fabric& fabric, const std::vector<NodeName>& nodes,
                  const SwitchNames& part) {
  return static_cast<double>(
      std::count_if(fabric.wires.begin(), fabric.wires.end(), [&](const Wire& wire) {
        return !wire.a.on_switch && wire.b.on_switch && part.contains(wire.b.device) &&
               std::find(nodes.begin(), nodes.end(), wire.a.device) != nodes.end();
      }));
}

// What the cables between that part and the other switches carry, one direction.
double ComputeCrossing(const ClusterSpec& cluster, const Fabric& fabric, const SwitchNames& part) {
  double gbps = 0;
  for (const Wire& wire : fabric.wires) {
    if (!IsUplink(wire) || part.contains(wire.a.device) == part.contains(wire.b.device)) continue;
    gbps += ComputeWirePayload(wire.gbps, cluster.fabric.mtu);
  }
  return gbps;
}

}  // namespace

double ComputeAllToAllPayload(const ClusterSpec& cluster, const Fabric& fabric,
                              const std::vector<NodeName>& order) {
  double gbps = ComputeRingPayload(order, ComputeReach(cluster, fabric));
  const auto all = static_cast<double>(order.size());
  for (const SwitchNames& part : ListParts(ListSwitches(fabric))) {
    const double here = CountNodes(fabric, order, part);
    if (here == 0 || here == all) continue;
    // Each node sends each of the others the same share of what it sends.
    const double crossing = here * (all - here) / (all - 1);
    gbps = std::min(gbps, ComputeCrossing(cluster, fabric, part) / crossing);
  }
  return gbps;
}

}  // namespace reconciler
