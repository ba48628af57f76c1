#include <algorithm>
#include <map>
#include <set>

#include "reconciler/fabric/analysis.h"

namespace reconciler {
namespace {

std::vector<const NodeSpec*> SortById(const ClusterSpec& cluster) {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster.nodes) nodes.push_back(&node);
  std::sort(nodes.begin(), nodes.end(), [](auto* a, auto* b) { return a->id < b->id; });
  return nodes;
}

// Depth first over the switches: a tour of a tree goes over each of its cables once each way.
class SwitchTour {
 public:
  SwitchTour(const ClusterSpec& cluster, const Fabric& fabric) {
    std::map<NodeName, std::string> home;
    for (const Wire& wire : fabric.wires) {
      if (wire.a.on_switch && wire.b.on_switch) {
        next_[wire.a.device].insert(wire.b.device);
        next_[wire.b.device].insert(wire.a.device);
      } else if (wire.b.on_switch) {
        home[wire.a.device] = wire.b.device;
      }
    }
    for (const NodeSpec* node : SortById(cluster)) nodes_[home[node->name]].push_back(node->name);
    for (const NodeSpec* node : SortById(cluster)) Visit(home[node->name]);
  }

  std::vector<NodeName> TakeOrder() { return std::move(order_); }

 private:
  void Visit(const std::string& name) {
    if (!visited_.insert(name).second) return;
    const std::vector<NodeName>& here = nodes_[name];
    order_.insert(order_.end(), here.begin(), here.end());
    for (const std::string& other : next_[name]) Visit(other);
  }

  std::map<std::string, std::set<std::string>> next_;
  std::map<std::string, std::vector<NodeName>> nodes_;
  std::set<std::string> visited_;
  std::vector<NodeName> order_;
};

// Along the cables, from the end of a chain where there is one, else from the lowest id. No node
// has more than two cables.
std::vector<NodeName> WalkCables(const ClusterSpec& cluster, const Fabric& fabric) {
  std::map<NodeName, std::vector<NodeName>> next;
  for (const Wire& wire : fabric.wires) {
    next[wire.a.device].push_back(wire.b.device);
    next[wire.b.device].push_back(wire.a.device);
  }
  std::vector<const NodeSpec*> nodes = SortById(cluster);
  std::stable_partition(nodes.begin(), nodes.end(),
                        [&](auto* node) { return next[node->name].size() == 1; });
  std::vector<NodeName> order;
  std::set<NodeName> visited;
  for (const NodeSpec* node : nodes) {
    const NodeName* at = &node->name;
    while (at != nullptr && visited.insert(*at).second) {
      order.push_back(*at);
      const std::vector<NodeName>& ways = next[*at];
      const auto fresh = std::find_if(
          ways.begin(), ways.end(), [&](const NodeName& name) { return !visited.contains(name); });
      at = fresh != ways.end() ? &*fresh : nullptr;
    }
  }
  return order;
}

}  // namespace

std::vector<NodeName> OrderRing(const ClusterSpec& cluster, const Fabric& fabric) {
  switch (cluster.fabric.topology) {
    case Topology::kSwitch:
    case Topology::kLeafSpine:
      return SwitchTour(cluster, fabric).TakeOrder();
    case Topology::kDirect:
    case Topology::kRing:
    case Topology::kLinks:
      return WalkCables(cluster, fabric);
  }
  return {};
}

}  // namespace reconciler
