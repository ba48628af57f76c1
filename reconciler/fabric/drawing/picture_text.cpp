#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/fabric/roofline.h"
#include "reconciler/fabric/switch_advice.h"

namespace reconciler {
namespace {

using Row = std::vector<std::string>;

std::string FormatEnd(const PlugEnd& end) {
  if (end.device.empty()) return "the switch";
  return end.port.empty() ? end.device : end.device + " " + end.port;
}

std::string FormatRate(double gbps) {
  return fmt::format("{:.1f} Gb/s, {:.1f} GB/s bus bandwidth", gbps, ComputeBusBandwidth(gbps));
}

std::string FormatNodes(const ClusterSpec& cluster, const Fabric& fabric) {
  std::map<std::pair<NodeName, std::string>, Row> cables;  // node and cage
  for (const Wire& wire : fabric.wires) {
    const std::string rate = fmt::format("{} Gb/s", wire.gbps);
    if (!wire.a.on_switch) {
      cables[{wire.a.device, wire.a.port}] = {"to " + FormatEnd(wire.b), rate};
    }
    if (!wire.b.on_switch) {
      cables[{wire.b.device, wire.b.port}] = {"to " + FormatEnd(wire.a), rate};
    }
  }
  std::vector<Row> rows;
  for (const NodeSpec& node : cluster.nodes) {
    std::string name = node.name;
    std::string cage;
    const auto ports = fabric.ports.find(node.name);
    if (ports == fabric.ports.end()) {
      rows.push_back({name, "no cable"});
      continue;
    }
    for (const RailPort& port : ports->second) {
      Row row = {name,
                 port.cage == cage ? "" : port.cage,
                 FormatRailName(port.rail),
                 FormatPortAddress(port),
                 port.netdev,
                 port.hca};
      if (port.cage != cage) {
        for (const std::string& cell : cables[{node.name, port.cage}]) row.push_back(cell);
      }
      name.clear();
      cage = port.cage;
      rows.push_back(std::move(row));
    }
  }
  return "nodes\n" + FormatTable(rows, "  ");
}

std::string FormatSwitches(const ClusterSpec& cluster, const Fabric& fabric) {
  if (cluster.switches.empty()) return {};
  std::string text = "switches\n";
  for (const SwitchSpec& one : cluster.switches) {
    text += "  " + one.name + (one.model.empty() ? "" : " · " + MakePrintable(one.model)) +
            (one.address.empty() ? "" : " · " + one.address) + '\n';
    std::vector<Row> rows;
    for (const Wire& wire : fabric.wires) {
      const std::string rate = fmt::format("{} Gb/s", wire.gbps);
      const bool ours_a = wire.a.on_switch && wire.a.device == one.name;
      const bool ours_b = wire.b.on_switch && wire.b.device == one.name && !wire.b.port.empty();
      if (ours_a) rows.push_back({wire.a.port, rate, FormatEnd(wire.b)});
      if (ours_b) rows.push_back({wire.b.port, rate, FormatEnd(wire.a)});
    }
    text += FormatTable(rows, "    ");
  }
  return text;
}

std::string FormatCommonRails(const std::vector<int>& rails) {
  std::vector<std::string> names;
  for (const int rail : rails) names.push_back(FormatRailName(rail));
  return names.empty() ? "no common rail" : Join(names, " ");
}

// Pairs with the same rails and roofline in one line.
std::string FormatReach(const std::vector<PairReach>& reach) {
  std::map<std::string, std::vector<const PairReach*>> groups;
  std::vector<std::string> order;
  for (const PairReach& pair : reach) {
    const std::string key =
        fmt::format("{} {}", FormatCommonRails(pair.rails), std::lround(pair.gbps));
    if (!groups.contains(key)) order.push_back(key);
    groups[key].push_back(&pair);
  }
  constexpr std::size_t kNamed = 6;  // pairs that are listed one by one
  std::vector<Row> rows;
  for (const std::string& key : order) {
    const auto& pairs = groups[key];
    std::vector<std::string> names;
    for (const PairReach* pair : pairs) names.push_back(pair->a + "–" + pair->b);
    const std::string who = pairs.size() == reach.size() && pairs.size() > 1 ? "every pair"
                            : names.size() <= kNamed                         ? Join(names, " ")
                                                     : fmt::format("{} pairs", names.size());
    Row row = {FormatCommonRails(pairs.front()->rails), who};
    if (!pairs.front()->rails.empty()) row.insert(row.begin() + 1, FormatRate(pairs.front()->gbps));
    rows.push_back(std::move(row));
  }
  return "highest rate of each pair\n" + FormatTable(rows, "  ");
}

std::string FormatTogether(const ClusterSpec& cluster, const Fabric& fabric,
                           const std::vector<PairReach>& reach) {
  const std::vector<NodeName> order = OrderRing(cluster, fabric);
  const double ring = ComputeRingPayload(order, reach);
  std::string text = "highest rate of all together\n  ring order: " + Join(order, " ") + '\n';
  text += ring > 0 ? "  ring collectives: " + FormatRate(ring) + '\n'
                   : "  ring collectives: none, two neighbours have no common rail\n";
  for (const SwitchLoad& load : ComputeSwitchLoads(cluster, fabric)) {
    text += fmt::format("  {} to the other switches: {:.0f} of {:.0f} Gb/s, {}\n", load.name,
                        load.carried_gbps, load.wanted_gbps,
                        load.Oversubscribed() ? fmt::format("oversubscribed {:.1f}:1", load.Ratio())
                                              : std::string("not oversubscribed"));
  }
  return text;
}

std::string FormatWeakPoints(const ClusterSpec& cluster, const Fabric& fabric) {
  std::vector<Row> rows;
  bool own_cables = false;
  for (const WeakPoint& point : FindWeakPoints(cluster, fabric)) {
    if (point.own_cable) {
      own_cables = true;
      continue;
    }
    const bool all = point.cut_off.size() == cluster.nodes.size() && point.cut_off.size() > 2;
    const bool pair = point.cut_off.size() == 2 &&
                      (point.what.starts_with("cable ") || cluster.nodes.size() == 2);
    rows.push_back({point.what + ":", all    ? "every node"
                                      : pair ? Join(point.cut_off, " from ")
                                             : Join(point.cut_off, " ") + " from the others"});
  }
  std::string text = "what one failure cuts off\n" + FormatTable(rows, "  ");
  if (own_cables) text += "  a node's own cable: that node\n";
  return rows.empty() && !own_cables ? "no single failure cuts a node off\n" : text;
}

std::string FormatAdvice(const ClusterSpec& cluster) {
  std::string text;
  for (const SwitchSpec& one : cluster.switches) {
    const std::vector<std::string> commands = ListSwitchCommands(cluster, one);
    if (commands.empty()) continue;
    text += fmt::format("advice: {} on {} as commands; nothing is sent to it\n",
                        one.os == SwitchOs::kRouterOs ? "RouterOS" : "NVUE", one.name);
    for (const std::string& line : commands) text += "  " + line + '\n';
  }
  return text;
}

}  // namespace

std::string DrawFabricText(const ClusterSpec& cluster, const Fabric& fabric) {
  const std::vector<PairReach> reach = ComputeReach(cluster, fabric);
  std::string text = fmt::format("{} · {} · {} · mtu {}\n", cluster.name,
                                 FormatPlural(cluster.nodes.size(), "node", "nodes"),
                                 fabric.summary, cluster.fabric.mtu);
  text += FormatNodes(cluster, fabric) + FormatSwitches(cluster, fabric) + FormatReach(reach) +
          FormatTogether(cluster, fabric, reach) + FormatWeakPoints(cluster, fabric);
  for (const Diagnostic& diagnostic : fabric.diagnostics) text += FormatDiagnostic(diagnostic);
  return text + FormatAdvice(cluster);
}

}  // namespace reconciler
