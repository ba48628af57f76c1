#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/flow.h"
#include "reconciler/fabric/planes.h"
#include "reconciler/fabric/roofline.h"

namespace reconciler {
namespace {

// Flows are counted in Mb/s: the solver wants whole numbers.
std::int64_t ToMbps(double gbps) { return std::llround(gbps * 1000); }

std::string NamePlugEnd(const PlugEnd& end) {
  return end.on_switch ? "switch " + end.device : "cage " + end.device + "." + end.port;
}

class Reach {
 public:
  Reach(const ClusterSpec& cluster, const Fabric& fabric) : cluster_(cluster) {
    for (const Wire& wire : fabric.wires) {
      if (wire.a.on_switch && wire.b.on_switch) {
        uplinks_.push_back(&wire);
      } else {
        own_wires_[wire.a.device].push_back(&wire);
        if (!wire.b.on_switch) own_wires_[wire.b.device].push_back(&wire);
      }
    }
    for (const NodeSpec& node : cluster.nodes) {
      std::vector<const RailPort*>& ports = ports_[node.name];
      const auto found = fabric.ports.find(node.name);
      if (found == fabric.ports.end()) continue;
      for (const RailPort& port : found->second) ports.push_back(&port);
    }
  }

  PairReach ComputePairReach(const NodeSpec& a, const NodeSpec& b) {
    PairReach reach{.a = a.name, .b = b.name};
    for (const RailPort* port : ports_[a.name]) {
      const auto& others = ports_[b.name];
      const bool both = std::any_of(others.begin(), others.end(), [&](const RailPort* other) {
        return other->rail == port->rail;
      });
      if (both) reach.rails.push_back(port->rail);
    }
    if (reach.rails.empty()) return reach;
    const std::string kind = DescribeKind(a, reach.rails) + "|" + DescribeKind(b, reach.rails);
    auto known = known_.find(kind);
    if (known == known_.end())
      known = known_.emplace(kind, ComputePayload(a, b, reach.rails)).first;
    reach.gbps = known->second;
    return reach;
  }

 private:
  static bool Holds(const std::vector<int>& rails, int rail) {
    return std::find(rails.begin(), rails.end(), rail) != rails.end();
  }

  // Pairs whose ends are of the same kind have the same roofline, so that it is worked out once.
  std::string DescribeKind(const NodeSpec& node, const std::vector<int>& rails) {
    std::string kind = node.hardware;
    for (const RailPort* port : ports_[node.name]) {
      if (!Holds(rails, port->rail)) continue;
      kind += ' ' + std::to_string(port->rail) + port->cage + std::to_string(port->twin);
    }
    for (const Wire* wire : own_wires_[node.name]) {
      const PlugEnd& far = wire->a.device == node.name ? wire->b : wire->a;
      kind += ' ' + std::to_string(wire->gbps) + (far.on_switch ? far.device : "cable");
    }
    return kind;
  }

  // From the node through its PCIe devices and functions to its cages.
  void AddNode(const NodeSpec& node, const std::vector<int>& rails, FlowNetwork& net) {
    const Hardware* hardware = cluster_.FindHardware(node);
    if (hardware == nullptr) return;
    const std::int64_t pcie = ToMbps(ComputePciePayload(*hardware));
    const std::size_t self = net.FindOrAddPoint("node " + node.name);
    std::set<std::string> devices;
    for (const RailPort* port : ports_[node.name]) {
      const Cage* cage = hardware->FindCage(port->cage);
      if (cage == nullptr || !Holds(rails, port->rail)) continue;
      const std::string device = cage->twins[static_cast<std::size_t>(port->twin)].PciDevice();
      const std::size_t slot = net.FindOrAddPoint("pci " + node.name + " " + device);
      if (devices.insert(device).second) net.Join(self, slot, pcie);
      net.Join(slot, net.FindOrAddPoint("cage " + node.name + "." + port->cage), pcie);
    }
  }

  void AddWire(const Wire& wire, FlowNetwork& net) {
    net.Join(net.FindOrAddPoint(NamePlugEnd(wire.a)), net.FindOrAddPoint(NamePlugEnd(wire.b)),
             ToMbps(ComputeWirePayload(wire.gbps, cluster_.fabric.mtu)));
  }

  double ComputePayload(const NodeSpec& a, const NodeSpec& b, const std::vector<int>& rails) {
    FlowNetwork net;
    std::set<const Wire*> wires(uplinks_.begin(), uplinks_.end());
    for (const NodeSpec* node : {&a, &b}) {
      AddNode(*node, rails, net);
      wires.insert(own_wires_[node->name].begin(), own_wires_[node->name].end());
    }
    for (const Wire* wire : wires) AddWire(*wire, net);
    const auto flow = net.ComputeMaxFlow(net.FindOrAddPoint("node " + a.name),
                                         net.FindOrAddPoint("node " + b.name));
    return static_cast<double>(flow) / 1000;
  }

  const ClusterSpec& cluster_;
  std::vector<const Wire*> uplinks_;
  std::map<NodeName, std::vector<const Wire*>> own_wires_;
  std::map<NodeName, std::vector<const RailPort*>> ports_;
  std::map<std::string, double> known_;
};

// What a node can send at once on the switches' plane.
double ComputeSwitchedRate(const ClusterSpec& cluster, const NodeSpec& node, int gbps) {
  const Hardware* hardware = cluster.FindHardware(node);
  const Cage* cage = FindCage(cluster, node, node.cage);
  if (hardware == nullptr || cage == nullptr) return 0;
  std::set<std::string> devices;
  for (const Twin& twin : cage->twins) devices.insert(twin.PciDevice());
  return std::min(ComputeWirePayload(gbps, cluster.fabric.mtu),
                  ComputePciePayload(*hardware) * static_cast<double>(devices.size()));
}

}  // namespace

std::vector<PairReach> ComputeReach(const ClusterSpec& cluster, const Fabric& fabric) {
  Reach reach(cluster, fabric);
  std::vector<PairReach> pairs;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    for (std::size_t k = i + 1; k < cluster.nodes.size(); ++k) {
      pairs.push_back(reach.ComputePairReach(cluster.nodes[i], cluster.nodes[k]));
    }
  }
  return pairs;
}

std::vector<SwitchLoad> ComputeSwitchLoads(const ClusterSpec& cluster, const Fabric& fabric) {
  std::vector<SwitchLoad> loads;
  if (cluster.switches.size() < 2) return loads;
  std::map<std::string, double> rates;  // of all nodes on a switch together
  double all = 0;
  for (const Wire& wire : fabric.wires) {
    if (wire.a.on_switch || !wire.b.on_switch) continue;
    const NodeSpec* node = cluster.FindNode(wire.a.device);
    const double rate = node != nullptr ? ComputeSwitchedRate(cluster, *node, wire.gbps) : 0;
    rates[wire.b.device] += rate;
    all += rate;
  }
  for (const SwitchSpec& one : cluster.switches) {
    if (!rates.contains(one.name)) continue;
    SwitchLoad load{.name = one.name,
                    .wanted_gbps = std::min(rates[one.name], all - rates[one.name])};
    FlowNetwork net;
    const std::size_t everyone_else = net.FindOrAddPoint("everyone else");
    for (const Wire& wire : fabric.wires) {
      if (!wire.a.on_switch || !wire.b.on_switch) continue;
      net.Join(net.FindOrAddPoint(wire.a.device + "."), net.FindOrAddPoint(wire.b.device + "."),
               ToMbps(ComputeWirePayload(wire.gbps, cluster.fabric.mtu)));
    }
    for (const auto& [name, rate] : rates) {
      if (name != one.name) net.Join(net.FindOrAddPoint(name + "."), everyone_else, ToMbps(rate));
    }
    const std::size_t source = net.FindOrAddPoint("its nodes");
    net.Join(source, net.FindOrAddPoint(one.name + "."), ToMbps(rates[one.name]));
    load.carried_gbps = static_cast<double>(net.ComputeMaxFlow(source, everyone_else)) / 1000;
    if (load.wanted_gbps > 0) loads.push_back(load);
  }
  return loads;
}

double ComputeRingPayload(const std::vector<NodeName>& order, const std::vector<PairReach>& reach) {
  std::map<std::pair<NodeName, NodeName>, double> between;
  for (const PairReach& pair : reach) {
    between[{pair.a, pair.b}] = between[{pair.b, pair.a}] = pair.gbps;
  }
  if (order.size() < 2) return 0;
  double slowest = between[{order.back(), order.front()}];
  for (std::size_t i = 1; i < order.size(); ++i) {
    slowest = std::min(slowest, between[{order[i - 1], order[i]}]);
  }
  return slowest;
}

}  // namespace reconciler
