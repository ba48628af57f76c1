#include "reconciler/model/find.h"

#include <algorithm>

namespace reconciler {

const RailPort* FindPort(const Segment& segment, const NodeName& node) {
  const auto found = std::find_if(segment.ports.begin(), segment.ports.end(),
                                  [&](const RailPort& port) { return port.node == node; });
  return found == segment.ports.end() ? nullptr : &*found;
}

const RailPort* FindPort(const Fabric& fabric, const NodeName& node, int rail) {
  const auto ports = fabric.ports.find(node);
  if (ports == fabric.ports.end()) return nullptr;
  const auto found = std::find_if(ports->second.begin(), ports->second.end(),
                                  [rail](const RailPort& port) { return port.rail == rail; });
  return found == ports->second.end() ? nullptr : &*found;
}

const PlanNode* FindNode(const Plan& plan, const NodeName& node) {
  const auto found = std::find_if(plan.nodes.begin(), plan.nodes.end(),
                                  [&](const PlanNode& one) { return one.name == node; });
  return found == plan.nodes.end() ? nullptr : &*found;
}

}  // namespace reconciler
